"""Encoding of pictures anew: sizes, animations, transparency, and what is refused."""

from __future__ import annotations

import zlib
from io import BytesIO

import pytest
from PIL import Image

from crawler.web.pictures.render import PictureError, icon_links, manifest_link, render


def encoded(
    size: tuple[int, int], kind: str = "PNG", mode: str = "RGB", colour: object = "teal", **options: object
) -> bytes:
    out = BytesIO()
    Image.new(mode, size, colour).save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def opened(body: bytes) -> Image.Image:
    image = Image.open(BytesIO(body))
    image.load()
    assert image.format == "WEBP"
    return image


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "ICO"])
def test_every_format_becomes_webp_in_three_sizes(kind: str) -> None:
    made = render(encoded((240, 120), kind))
    assert opened(made.thumbnail).size == (176, 152)
    assert max(opened(made.icon).size) <= 64
    assert max(opened(made.full).size) == (64 if kind == "ICO" else 240)


def test_a_wide_picture_is_made_smaller_and_a_small_one_stays() -> None:
    assert opened(render(encoded((3200, 800))).full).size == (1600, 400)
    assert opened(render(encoded((3, 5))).full).size == (3, 5)


def test_transparent_parts_stay_transparent() -> None:
    assert opened(render(encoded((20, 20), mode="RGBA", colour=(0, 0, 0, 0))).full).mode == "RGBA"


def test_metadata_is_left_out_and_the_camera_is_held_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn
    exif[0x010F] = "Maker of cameras"
    full = render(encoded((40, 20), "JPEG", exif=exif)).full
    assert opened(full).size == (20, 40)
    assert b"Maker" not in full


def test_a_small_animation_moves() -> None:
    frames = [Image.new("RGB", (30, 30), colour) for colour in ("red", "green", "blue")]
    out = BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=50)
    assert getattr(opened(render(out.getvalue()).full), "n_frames", 1) == 3


def test_a_huge_jpeg_is_decoded_at_a_fraction() -> None:
    assert opened(render(encoded((9000, 6000), "JPEG")).full).size[0] <= 1600


def test_a_huge_png_is_refused_before_it_is_decoded() -> None:
    head = encoded((10, 10))
    large = head[:16] + (60_000).to_bytes(4, "big") + (60_000).to_bytes(4, "big") + head[24:29]
    large += zlib.crc32(large[12:29]).to_bytes(4, "big") + head[33:]
    with pytest.raises(PictureError, match="too-large"):
        render(large)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\0" * 1000, b"<html><body>no</body></html>", b"<svg><script>x</script></svg>",
        b"%PDF-1.7", b"GIF89a",
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 90, b"RIFF\xff\xff\xff\xffWEBPVP8 ",
        b"\xff\xd8\xff\xe0" + b"\0" * 50,
    ],
    ids=range(9),
)  # fmt: skip
def test_other_documents_are_refused_by_a_name(body: bytes) -> None:
    with pytest.raises(PictureError) as refused:
        render(body)
    assert refused.value.kind in {"unsupported-type", "malformed", "too-large"}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_damaged_picture_is_shown_as_far_as_it_goes_or_refused(kind: str) -> None:
    body = encoded((300, 300), kind, colour="red")
    for end in (len(body) // 2, len(body) - 3):
        try:
            opened(render(body[:end]).full)
        except PictureError as error:
            assert error.kind in {"unsupported-type", "malformed"}


def test_icons_that_a_page_names() -> None:
    page = b"""<html><head><link rel="stylesheet" href="/a.css"><link rel="shortcut icon" href="/f.ico">
    <link rel=icon sizes=64x64 href=/64.png><link rel="apple-touch-icon" href='touch.png'>
    <link rel="icon" type="image/svg+xml" href="/i.svg"><link rel="mask-icon" href="/m.svg"></head>"""
    assert icon_links(page, "https://a.example/b/") == [
        "https://a.example/64.png", "https://a.example/b/touch.png", "https://a.example/f.ico",
    ]  # fmt: skip
    assert icon_links(b"<link rel=icon href='http://[x'>" * 9, "https://a.example/") == []


def test_icons_that_need_not_be_made_larger_come_first() -> None:
    page = b"<link rel=icon sizes=48x48 href=/48.png><link rel=icon sizes=512x512 href=/512.png>"
    assert icon_links(page, "https://a.example/") == ["https://a.example/512.png", "https://a.example/48.png"]


def test_icons_of_a_manifest() -> None:
    page = b"<link rel='manifest' href='app/site.webmanifest'>"
    assert manifest_link(page, "https://a.example/") == "https://a.example/app/site.webmanifest"
    assert manifest_link(b"<link rel=icon href=/a.ico>", "https://a.example/") == ""
    manifest = b"""{"icons": [{"src": "i/32.png", "sizes": "32x32"},
        {"src": "/72.png", "sizes": "72x72 96x96"},
        {"src": "/any.svg", "type": "image/svg+xml"}, {"src": 7}, "x", {"src": "/plain.png"}]}"""
    assert icon_links(manifest, "https://a.example/app/site.webmanifest") == [
        "https://a.example/72.png", "https://a.example/plain.png", "https://a.example/app/i/32.png",
    ]  # fmt: skip
    for broken in (b"{", b'{"icons": 3}', b"[]", b"{" * 3000):
        assert icon_links(broken, "https://a.example/") == []
