"""add_feeds and export_opml as people and scripts call them."""

from datetime import UTC, datetime
from ipaddress import ip_network

import pytest
from django.core.management import CommandError, call_command

from crawler.engine.models import Deployment, Pulse
from feeds.management.commands.add_feeds import first_visit
from feeds.models import Feed, Retrieval
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db
OPML = '<opml><body><outline text="F"><outline xmlUrl="{}"/></outline></body></opml>'


def test_it_tells_what_became_of_each_address(capsys):
    make_feed("https://b.example/")
    with pytest.raises(SystemExit) as ended:
        call_command("add_feeds", "https://a.example/", "https://b.example/", "ftp://c.example/")
    told = capsys.readouterr()
    assert ended.value.code == 1
    assert "https://a.example/: added" in told.out
    assert "https://b.example/: already known as Feed at b.example" in told.out
    assert "ftp://c.example/" in told.err
    assert told.out.rstrip().endswith("1 added, 1 already known, 1 refused")


def test_it_puts_feeds_into_nested_categories():
    call_command("add_feeds", "https://a.example/", category="News/Tech")
    assert Feed.objects.get().category.path == ("News", "Tech")


def test_it_says_so_when_no_worker_makes_the_first_visit(capsys):
    call_command("add_feeds", "https://a.example/")
    assert "no worker runs now" in capsys.readouterr().out


def test_it_waits_no_longer_than_told(capsys):
    Pulse.objects.create(queue="fetch", answered=datetime.now(UTC))
    call_command("add_feeds", "https://a.example/", wait=0.3)
    assert "https://a.example/: not visited yet" in capsys.readouterr().out


def test_private_networks_are_judged_by_the_running_servers_settings(settings, capsys):
    """The shell in which somebody types may be set otherwise, either way."""
    settings.FETCH_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    Deployment.note_settings()  # as the controller does at every tick
    settings.FETCH_ALLOWED_NETWORKS = ()
    call_command("add_feeds", "http://127.0.0.1:8001/feed", wait=0)
    assert Feed.objects.count() == 1
    Deployment.note_settings()
    settings.FETCH_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    with pytest.raises(SystemExit):
        call_command("add_feeds", "http://127.0.0.2/feed", wait=0)
    assert "FETCH_ALLOWED_NETWORKS of the running server" in capsys.readouterr().err


def test_before_a_server_ran_the_own_settings_count(settings):
    settings.FETCH_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    call_command("add_feeds", "http://127.0.0.1:8001/feed", wait=0)
    assert Feed.objects.count() == 1


def test_it_tells_what_the_first_visit_brought():
    now = datetime.now(UTC)
    feed = make_feed(title="Title", format="RSS 2.0", last_success=now)
    assert first_visit(make_feed()) == ""
    Retrieval.objects.create(feed=feed, at=now, outcome="new", new=12)
    assert "12 articles from 'Title' (RSS 2.0)" in first_visit(feed)
    failed = make_feed(failure="http-404", failure_detail="404 Not Found", not_before=now)
    assert "404 Not Found" in first_visit(failed)
    assert "next try" in first_visit(failed)


def test_it_adds_an_opml_file(tmp_path, capsys):
    file = tmp_path / "feeds.opml"
    file.write_text(OPML.format("https://a.example/"))
    call_command("add_feeds", opml=file)
    assert Feed.objects.get().category.name == "F"
    assert "1 added, 0 already known, 0 refused" in capsys.readouterr().out


def test_a_broken_file_is_named_with_the_reason(tmp_path):
    file = tmp_path / "feeds.opml"
    file.write_text("<opml>")
    with pytest.raises(CommandError, match=r"feeds\.opml: .*line 1.*nothing was added"):
        call_command("add_feeds", opml=file)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("add_feeds", opml=tmp_path / "absent")


def test_it_wants_either_addresses_or_a_file():
    with pytest.raises(CommandError, match="either"):
        call_command("add_feeds")


def test_it_exports_to_a_file_or_to_standard_output(tmp_path, capsys):
    make_feed("https://a.example/")
    call_command("export_opml")
    assert 'xmlUrl="https://a.example/"' in capsys.readouterr().out
    call_command("export_opml", str(tmp_path / "out.opml"))
    assert b'xmlUrl="https://a.example/"' in (tmp_path / "out.opml").read_bytes()


def test_it_lets_a_person_follow_what_it_adds(tmp_path):
    mara = make_user("mara")
    file = tmp_path / "feeds.opml"
    file.write_bytes(
        b'<opml><body><outline text="A"><outline xmlUrl="https://a.example/"/></outline></body></opml>'
    )
    call_command("add_feeds", "--opml", str(file), "--follow", "mara", "--category", "News")
    call_command("add_feeds", "https://b.example/", "--follow", "mara", "--wait", "0")
    assert [*mara.subscriber.subscriptions.order_by("id").values_list("feed__url", "folder")] == [
        ("https://a.example/", "News/A"),
        ("https://b.example/", ""),
    ]


def test_it_adds_nothing_for_a_name_that_nobody_has_or_beyond_a_limit(settings):
    with pytest.raises(CommandError, match="nobody here has the name 'marra'"):
        call_command("add_feeds", "https://a.example/", "--follow", "marra")
    settings.LIMIT_FEEDS = 1
    make_user("mara")
    with pytest.raises(CommandError, match="one person may have 1"):
        call_command("add_feeds", "https://a.example/", "https://b.example/", "--follow", "mara")
    assert not Feed.objects.exists()
