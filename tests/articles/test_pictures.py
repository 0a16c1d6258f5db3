"""The picture that stands for an article in lists."""

from __future__ import annotations

import pytest

from articles.pictures import attached_picture

PICTURE = "https://cdn.example/i?id=7"


@pytest.mark.parametrize(
    ("enclosure", "picture"),
    [
        ({"url": PICTURE, "type": "image/webp"}, PICTURE),
        ({"url": PICTURE, "medium": "image"}, PICTURE),
        ({"url": PICTURE, "type": "video/mp4", "medium": "image"}, ""),
        ({"url": PICTURE, "medium": "video"}, ""),
        ({"url": PICTURE}, ""),
    ],
)
def test_a_picture_is_one_by_its_type_or_without_a_type_by_its_medium(
    enclosure: dict[str, str], picture: str
) -> None:
    assert attached_picture([enclosure]) == picture
