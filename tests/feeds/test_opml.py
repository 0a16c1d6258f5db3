"""The deployment's feeds in from OPML and out to it."""

import pytest

from feeds.adding.add import add_feed
from feeds.adding.opml import OpmlError, export_opml, import_opml, read_opml
from feeds.models import Category, Feed

pytestmark = pytest.mark.django_db

FILE = b"""<opml version="2.0"><body>
<outline text="News"><outline text="Tech"><outline text="A" xmlUrl="https://a.example/feed"/></outline>
<outline text="B" xmlUrl="https://b.example/feed"/></outline>
<outline text="C" xmlUrl="https://c.example/feed"/>
<outline text="bad" xmlUrl="gopher://d.example/"/>
<outline text="C again" xmlUrl="https://C.example/feed"/>
</body></opml>"""


def test_folders_become_categories():
    report = import_opml(FILE)
    paths = {feed.url: feed.category and feed.category.path for feed in Feed.objects.all()}
    assert paths == {
        "https://a.example/feed": ("News", "Tech"),
        "https://b.example/feed": ("News",),
        "https://c.example/feed": None,
    }
    assert (report.added, report.duplicates) == (3, 1)
    assert [url for url, _ in report.refused] == ["gopher://d.example/"]


def test_folders_go_below_a_given_category():
    import_opml(FILE, category=Category.objects.create(name="Imported"))
    assert Feed.objects.get(url="https://a.example/feed").category.path == ("Imported", "News", "Tech")


def test_importing_twice_changes_nothing():
    import_opml(FILE)
    report = import_opml(FILE)
    assert (report.added, report.duplicates) == (0, 4)
    assert Feed.objects.count() == 3
    assert Category.objects.count() == 2


def test_a_broken_file_stores_nothing():
    with pytest.raises(OpmlError):
        import_opml(FILE.replace(b"</body>", b""))
    with pytest.raises(OpmlError, match="names no feed"):
        import_opml(b"<opml><body/></opml>")
    assert not Feed.objects.exists()
    assert not Category.objects.exists()


def test_what_was_exported_imports_the_same():
    import_opml(FILE)
    add_feed("https://e.example/?a=1&b=2")
    exported = export_opml()
    before = sorted((o.folder, o.url, o.title) for o in read_opml(exported))
    Feed.objects.all().delete()
    Category.objects.all().delete()
    import_opml(exported)
    assert sorted((o.folder, o.url, o.title) for o in read_opml(export_opml())) == before


def test_it_exports_with_a_handful_of_queries(django_assert_max_num_queries):
    import_opml(FILE)
    with django_assert_max_num_queries(2):
        export_opml()
