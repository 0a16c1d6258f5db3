"""Files of other programs give the pages that were saved there, and name what cannot be taken."""

import csv
import io
import json
import time
import zipfile
from datetime import UTC, datetime

import pytest

from articles.saved.files import NotSavedPages, SavedFile, SavedHighlight, read_saved
from articles.saved.formats import archives
from articles.saved.formats.archives import markdown_highlights
from articles.saved.formats.values import Times

HEAD = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n"
POCKET = "title,url,time_added,tags,status\n"


def read(text: str, name: str = "") -> SavedFile:
    return read_saved(text.encode(), name)


def packed(members: dict[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(path, content)
    return stream.getvalue()


def table(columns: list[str], *rows: list[str], delimiter: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows([columns, *rows])
    return stream.getvalue()


URL = "https://a.example/"
LINK = '<DT><A HREF="https://a.example/" {}>A</A>\n'
SAMPLES: list[tuple[str, object]] = [
    ("Pocket", POCKET + "A,https://a.example/,1700000000,x|y,archive\n"),
    ("Instapaper", "URL,Title,Selection,Folder,Timestamp\nhttps://a.example/,A,,Archive,1700000000\n"),
    ("Wallabag", [{"url": URL, "is_archived": "1", "is_starred": "0"}]),
    ("Wallabag", {"_embedded": {"items": [{"url": URL, "is_archived": 1, "is_starred": 0}]}}),
    ("Omnivore", [{"url": URL, "savedAt": "2024-01-01T00:00:00Z", "state": "Archived"}]),
    ("Omnivore", 'url,state,labels,saved_at\nhttps://a.example/,ARCHIVED,"[x,y]",1700000000000\n'),
    ("Readwise Reader", "URL,Document tags,Saved date,Location\nhttps://a.example/,[],2024-01-01,archive\n"),
    (
        "Karakeep",
        {"bookmarks": [{"createdAt": 1, "content": {"type": "link", "url": URL}, "archived": True}]},
    ),
    ("linkding", {"results": [{"url": URL, "tag_names": ["x"], "is_archived": True}]}),
    ("Matter", "Title,URL,Tags,In Queue,Favorited,Read\nA,https://a.example/,x;y,False,False,True\n"),
    ("Pinboard", [{"href": URL, "description": "A", "tags": "x y", "toread": "no"}]),
    ("Readability", {"bookmarks": [{"article__url": URL, "archive": 1}]}),
    ("bookmarks", HEAD + LINK.format('TOREAD="0"')),
    ("bookmarks", f'<posts user="k"><post href="{URL}" description="A" tag="x y" toread="no"/></posts>'),
    ("Pocket", [{"url": URL, "time_added": 1700000000, "tags": "x|y", "status": "archive"}]),
    (
        "linkding",
        HEAD + LINK.format('TAGS="linkding:bookmarks.archived"') + "<DD>d[linkding-notes]n[/linkding-notes]",
    ),
]


@pytest.mark.parametrize("program, sample", SAMPLES)
def test_each_program_is_known_and_tells_what_was_read(program: str, sample: object) -> None:
    file = read(sample if isinstance(sample, str) else json.dumps(sample))
    assert (file.program, [page.url for page in file.pages]) == (program, ["https://a.example/"])
    assert file.pages[0].is_read
    assert file.problems == []


def test_a_readwise_table_of_highlights_gives_a_page_with_its_highlights() -> None:
    columns = ["Highlight", "Book Title", "Book Author", "Note", "Color", "Tags", "Highlighted at", "URL"]
    at = "2021-08-13 00:47:25+00:00"
    file = read(
        table(
            columns,
            ["One", "A", "B", "why", "yellow", "x,y", at, "https://a.example/"],
            ["Two", "A", "B", "", "", "", at, "https://a.example/"],
            ["Three", "A printed book", "B", "", "", "", at, ""],
        )
    )
    made = datetime(2021, 8, 13, 0, 47, 25, tzinfo=UTC)
    (page,) = file.pages
    assert page.highlights == (
        SavedHighlight("One", "why", "yellow", ("x", "y"), made),
        SavedHighlight("Two", made=made),
    )
    assert [(problem.line, problem.text) for problem in file.problems] == [(4, "A printed book")]


def test_pocket_highlights_come_to_their_pages() -> None:
    annotations = [
        {"url": "https://a.example/", "title": "A", "highlights": [{"quote": "q", "created_at": 1700000000}]}
    ]
    file = read_saved(
        packed(
            {
                "annotations/part_000000.json": json.dumps(annotations),
                "part_000000.csv": POCKET + "The A,https://a.example/,1600000000,,unread\n",
            }
        )
    )
    (page,) = file.pages
    assert (page.title, page.highlights[0].quote) == ("The A", "q")
    assert page.highlights[0].made == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_a_backup_of_readeck_is_read() -> None:
    info = {
        "URL": "https://a.example/",
        "Title": "A",
        "Created": "2024-05-01T10:00:00Z",
        "Labels": ["x"],
        "IsArchived": True,
        "IsMarked": True,
        "Lang": "en",
        "Annotations": [{"text": "marked", "note": "why", "color": "red", "created": "2024-05-02T10:00:00Z"}],
    }
    file = read_saved(packed({"data.json": "{}", "bookmarks/1/info.json": json.dumps(info)}))
    (page,) = file.pages
    assert (file.program, page.tags, page.is_read, page.is_starred, page.language) == (
        "Readeck", ("x",), True, True, "en",
    )  # fmt: skip
    assert page.highlights == (
        SavedHighlight("marked", "why", "red", made=datetime(2024, 5, 2, 10, tzinfo=UTC)),
    )


def test_what_only_one_program_has_decides_wherever_it_stands() -> None:
    plain = {"url": f"{URL}1", "title": "A", "name": "B", "note": "Mine.", "date_added": "2026-01-02"}
    file = read(json.dumps([plain]))
    assert (file.program, file.pages[0].title, file.pages[0].note) == ("JSON", "A", "Mine.")
    assert file.pages[0].saved == datetime(2026, 1, 2, tzinfo=UTC)
    assert read(json.dumps([plain, {"url": URL, "tag_names": ["x"]}])).program == "linkding"


def test_lists_of_karakeep_become_tags() -> None:
    bookmark = {"createdAt": 1, "tags": ["x"], "lists": ["1"], "content": {"url": "https://a.example/"}}
    file = read(json.dumps({"bookmarks": [bookmark], "lists": [{"id": "1", "name": "Trips"}]}))
    assert file.pages[0].tags == ("Trips", "x")


def test_markdown_of_omnivore_without_notes_is_quotations() -> None:
    assert markdown_highlights("> one \n\n> two \n> three ") == (
        (SavedHighlight("one"), SavedHighlight("two\nthree")),
        "",
    )


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_any_encoding_and_line_end_is_read(codec: str, line_end: str) -> None:
    text = (POCKET + "Größe,https://a.example/,1700000000,,unread\n").replace("\n", line_end)
    file = read_saved(text.encode(codec))
    assert [page.title for page in file.pages] == ["Größe"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_in_any_order_and_with_any_delimiter_are_read(delimiter: str) -> None:
    text = table(
        ["Tags", "URL", "time_added"], ["a|b", "https://a.example/", "1700000000"], delimiter=delimiter
    )
    assert read(text).pages[0].tags == ("a", "b")


@pytest.mark.parametrize(
    "row, title",
    [
        ('"The ""best"" of; it",https://a.example/,1,,', 'The "best" of; it'),
        ('The "best" of it,https://a.example/,1,,', 'The "best" of it'),
        ("One, two, three,https://a.example/,1,,", "One, two, three"),
        ("Tom &amp; Jerry &#8211; again,https://a.example/,1,,", "Tom & Jerry – again"),
        ("a\u2028b,https://a.example/,1,,", "a b"),
    ],
)
def test_titles_with_signs_of_the_table_stay_whole(row: str, title: str) -> None:
    assert [page.title for page in read(POCKET + row + "\n").pages] == [title]


def test_a_quotation_mark_without_end_costs_no_other_line() -> None:
    rows = ['"A,https://a.example/,1,,', "B,https://b.example/,1,,", '"C,https://c.example/,1,,', '"broken']
    rows.append("D,https://d.example/,1,,")
    file = read(POCKET + "\n".join(rows))
    assert [page.url[8] for page in file.pages] == ["a", "b", "c", "d"]
    assert [(problem.line, problem.text) for problem in file.problems] == [(5, '"broken')]


def test_a_reference_without_semicolon_in_an_address_is_none() -> None:
    file = read(HEAD + '<DT><A HREF="https://a.example/?a=1&copy=2&amp;b=3">A</A>')
    assert file.pages[0].url == "https://a.example/?a=1&copy=2&b=3"


def test_the_same_address_twice_is_one_page_with_all_that_both_tell() -> None:
    rows = ["A,https://a.example/x,1700000000,x,unread", ",HTTPS://A.example/x,1600000000,y|x,archive"]
    (page,) = read(POCKET + "\n".join(rows)).pages
    assert (page.title, page.tags, page.is_read) == ("A", ("x", "y"), True)
    assert page.saved == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    "url, why",
    [
        ("", "The entry has no address."),
        ("javascript:alert(1)", "javascript: is not an address of a web page."),
        ("data:text/html,x", "data: is not an address of a web page."),
        ("about:blank", "about: is not an address of a web page."),
        ("a.example/page", "The address is not complete."),
        ("https://", "The address is not valid."),
        ("http://[", "The address is not valid."),
        ("https://a.example:port/", "The address is not valid."),
    ],
)
def test_what_is_no_web_address_is_named(url: str, why: str) -> None:
    file = read(HEAD + f'<DT><A HREF="{url}">Title</A>\n')
    assert file.pages == []
    assert [(problem.line, problem.text, problem.why) for problem in file.problems] == [
        (5, url or "Title", why)
    ]


@pytest.mark.parametrize(
    "value, year",
    [
        (1700000000, 2023), ("1700000000.5", 2023), (1700000000000, 2023), (1700000000000000, 2023),
        (1700000000000000000, 2023), ("13344473600000000", 2023), ("2023-11-14T22:13:20+0100", 2023),
        ("2023-11-14 22:13:20 UTC", 2023), ("November 14, 2023 10:13 PM", 2023),
        ("14/11/2023 10:13:20", 2023),
        (0, None), (-5, None), ("", None), (None, None), (True, None), ("soon", None), ("9" * 20, None),
    ],
)  # fmt: skip
def test_times_are_read_by_their_size_or_form(value: object, year: int | None) -> None:
    read_time = Times().read(value)
    assert (read_time.year if read_time else None) == year


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"", "empty"),
        (b"Dear all, this is a letter.", "not a table"),
        (b"name,age\nA,3\n", "not a table"),
        (b'{"url": "https://a.example/"}', "not of a known program"),
        (b"[1, 2]", "not of a known program"),
        (b'[{"title": "A"}]', "not of a known program"),
        (b"https://a.example/1\nDear all, this is a letter.\n", "not a table"),
        (b'[{"url": "https://a.exa', "damaged at line 1"),
        (b"[" * 200_000, "nested too deeply"),
        (b"<opml><body/></opml>", "not a list of bookmarks"),
        (b"PK\x03\x04 no more", "damaged"),
        (packed({"readme.md": "x", "picture.png": b"\x89PNG"}), "no saved pages"),
    ],
)
def test_other_files_are_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(NotSavedPages, match=rf"export\.bin: This .*{sentence}"):
        read_saved(data, "export.bin")


def test_a_zip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1024 * 1024)
    with pytest.raises(NotSavedPages, match="unpacks to more than 1 MB"):
        read_saved(packed({"a.csv": POCKET + " " * 700_000, "b.csv": POCKET + " " * 700_000}))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    with pytest.raises(NotSavedPages, match="more than 3 files"):
        read_saved(packed({f"{number}.csv": "" for number in range(4)}))


def test_a_file_inside_that_cannot_be_read_is_named() -> None:
    file = read_saved(packed({"part.csv": POCKET + "A,https://a.example/,1,,\n", "notes.json": '{"a": 1}'}))
    assert len(file.pages) == 1
    assert [problem.text for problem in file.problems] == ["notes.json"]


def test_a_cell_of_a_megabyte_is_read() -> None:
    text = table(
        ["Title", "URL", "Content", "Tags", "MIME Type"], ["A", "https://a.example/", "x" * 2**20, "", ""]
    )
    assert len(read(text).pages[0].html) == 2**20


@pytest.mark.parametrize(
    "head, entry",
    [
        (POCKET, "T,https://a.example/{0},1700000000,a|b,unread\n"),
        (POCKET, '"T,https://a.example/{0},1700000000,a|b,unread\n'),
        (POCKET, '"\n'),
        (HEAD, '<DT><A HREF="https://a.example/{0}" TAGS="a">T</A>\n<DD>note\n'),
        (HEAD, '<DT><H3>Folder {0}</H3><DL><p><DT><A HREF="https://a.example/{0}">T</A>\n'),
        (HEAD, '<DT><A HREF="https://a.example/" TAGS="t{0}">T</A><DD>note {0}\n'),
        (HEAD, '<A HREF="'),
        (HEAD, "<!--"),
        (HEAD + "<A", " " * 50),
        (HEAD + '<A HREF="', " " * 50),
        (HEAD + '<DT><A HREF="https://a.example/">T</A><DD>', "[linkding-notes]"),
    ],
)
def test_time_grows_with_length(head: str, entry: str) -> None:
    def seconds(count: int) -> float:
        data = (head + "".join(entry.format(number) for number in range(count))).encode()
        start = time.process_time()
        read_saved(data)
        return time.process_time() - start

    seconds(500)
    assert seconds(16_000) < 16 * max(seconds(4_000), 0.02)
