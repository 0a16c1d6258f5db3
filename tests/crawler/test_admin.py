"""The admin: every list opens, feeds are added and changed in bulk, secrets stay secret."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.authtoken.models import Token

from articles.personal.selection import address_token
from crawler.accounts.models import Invitation
from crawler.engine.models import Pulse
from crawler.notices.models import Rule, Target
from feeds.models import Category, Feed, Retrieval, Tick
from tests.factories import (
    make_article,
    make_feed,
    make_personal_feed,
    make_subscriber,
    make_token,
    make_user,
)

pytestmark = pytest.mark.django_db
OURS = ("crawler", "feeds", "articles")
CHANGELIST = "/admin/feeds/feed/"
OPML = b'<opml><body><outline text="F"><outline xmlUrl="https://a.example/"/></outline></body></opml>'


@pytest.fixture
def staff(client):
    client.force_login(make_user("root", staff=True, is_superuser=True))
    return client


def act(client, action, feeds, **more):
    keys = [feed.pk for feed in feeds]
    return client.post(CHANGELIST, {"action": action, "_selected_action": keys, **more}, follow=True)


def test_every_list_and_row_opens_under_the_content_security_policy(staff):
    now = datetime.now(UTC)
    category = Category.objects.create(name="Inner", parent=Category.objects.create(name="Outer"))
    feed = make_feed(category=category, failure="http-404")
    article = make_article(feed)
    Retrieval.objects.create(feed=feed, at=now, outcome="failed", failure="http-404")
    Tick.objects.create(started=now, policy="freshness")
    Pulse.objects.create(queue="fetch", answered=now)
    make_personal_feed(make_subscriber("ann", feed))
    assert staff.get(reverse("admin:index")).status_code == 200  # loads what is registered
    for model, registered in admin.site._registry.items():
        if model._meta.app_label not in OURS:
            continue
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        addresses = [reverse(f"{name}_changelist")]
        row = model._default_manager.first()
        addresses += [reverse(f"{name}_change", args=[row.pk])] if row else []
        addresses += [reverse(f"{name}_changelist") + "?q=text"] if registered.search_fields else []
        for address in addresses:
            page = staff.get(address)
            assert page.status_code == 200, address
            body = page.content.decode()
            assert not re.search(r"<style|<[a-z]+[^>]*\s(style|on[a-z]+)=", body), address
    assert "Freshet" in body
    assert article.title in staff.get("/admin/articles/article/?q=text").content.decode()
    assert article.title not in staff.get("/admin/articles/article/?q=absent").content.decode()


def test_many_feeds_are_added_at_once(staff):
    said = {"addresses": "https://a.example/\nhttps://b.example/\nftp://c.example/", "category": "News/Tech"}
    page = staff.post("/admin/feeds/feed/add/", said, follow=True).content.decode()
    assert Feed.objects.filter(category__name="Tech").count() == 2
    assert "2 feeds were added, 0 were known already, 1 were refused" in page
    assert "ftp://c.example/" in page


def test_an_opml_file_is_added(staff):
    staff.post("/admin/feeds/feed/add/", {"opml": SimpleUploadedFile("f.opml", OPML)})
    assert Feed.objects.get().category.name == "F"


def test_a_broken_opml_file_is_explained(staff):
    page = staff.post("/admin/feeds/feed/add/", {"opml": SimpleUploadedFile("f.opml", OPML[:-4])})
    assert "Nothing was added: the file is not well-formed XML" in page.content.decode()
    assert not Feed.objects.exists()


def test_feeds_are_paused_and_resumed(staff):
    feeds = [make_feed(), make_feed(selected_at=datetime.now(UTC))]
    act(staff, "pause_feeds", feeds)
    assert set(Feed.objects.values_list("status", "selected_at")) == {("paused", None)}
    assert "2 feeds are visited again" in act(staff, "resume_feeds", feeds).content.decode()
    assert set(Feed.objects.values_list("status", flat=True)) == {"active"}


def test_feeds_are_retrieved_now_but_not_those_just_visited(staff):
    feeds = [make_feed(), make_feed(last_attempt=datetime.now(UTC))]
    page = act(staff, "retrieve_feeds", feeds).content.decode()
    assert [feed for feed in Feed.objects.all() if feed.selected_because == "asked for by root"] == feeds[:1]
    assert "1 feeds are visited now; 1 are paused" in page


def test_feeds_are_moved_to_a_category(staff):
    category, feeds = Category.objects.create(name="C"), [make_feed(), make_feed()]
    page = act(staff, "move_feeds", feeds).content.decode()
    assert "2 feeds are moved" in page
    assert all(f'value="{feed.pk}"' in page for feed in feeds)
    act(staff, "move_feeds", feeds, move="1", category=category.pk)
    assert category.feeds.count() == 2
    act(staff, "move_feeds", feeds[:1], move="1", category="")
    assert category.feeds.count() == 1


def test_a_feed_shows_why_its_next_visit_is_when_it_is(staff):
    feed = make_feed(
        not_before=datetime.now(UTC) + timedelta(days=3), floor="retry", floor_detail="asked to wait"
    )
    page = staff.get(f"{CHANGELIST}{feed.pk}/change/").content.decode()
    assert "UTC: " in page
    assert f"/admin/feeds/retrieval/?feed__id__exact={feed.pk}" in page
    assert staff.get(f"/admin/feeds/retrieval/?feed__id__exact={feed.pk}").status_code == 200


def test_filters_by_failure_and_category(staff):
    outer = Category.objects.create(name="Outer")
    inner = Category.objects.create(name="Inner", parent=outer)
    make_feed(title="broken", failure="http-404")
    make_feed(title="fine", category=inner)
    for query, shown, hidden in (
        ("failing=any", "broken", "fine"),
        ("failing=http-404", "broken", "fine"),
        ("failing=none", "fine", "broken"),
        (f"in={outer.pk}", "fine", "broken"),
    ):
        titles = [feed.title for feed in staff.get(f"{CHANGELIST}?{query}").context["cl"].result_list]
        assert (shown in titles, hidden in titles) == (True, False), query
    assert staff.get(f"{CHANGELIST}?in=nonsense").status_code == 200


def test_the_list_of_feeds_takes_no_query_per_feed(staff, django_assert_max_num_queries):
    category = Category.objects.create(name="C", parent=Category.objects.create(name="P"))
    for _ in range(25):
        make_feed(category=category)
    with django_assert_max_num_queries(16):
        staff.get(CHANGELIST)


def test_a_category_cannot_be_inside_itself(staff):
    outer = Category.objects.create(name="Outer")
    inner = Category.objects.create(name="Inner", parent=outer)
    page = staff.post(f"/admin/feeds/category/{outer.pk}/change/", {"name": "Outer", "parent": inner.pk})
    assert "cannot be inside itself" in page.content.decode()


def test_secrets_are_not_in_lists(staff):
    personal_feed = make_personal_feed(make_subscriber("ann"))
    make_token(make_user("ben"))
    key, secret = Token.objects.get().key, address_token(personal_feed)
    for address in (
        "/admin/authtoken/tokenproxy/",
        "/admin/articles/personalfeed/",
        f"/admin/articles/personalfeed/{personal_feed.pk}/change/",
    ):
        page = staff.get(address).content.decode()
        assert key not in page
        assert secret not in page


def test_addresses_of_personal_feeds_are_revoked(staff):
    personal_feed = make_personal_feed(make_subscriber("ann"))
    staff.post(
        "/admin/articles/personalfeed/",
        {"action": "revoke_addresses", "_selected_action": [personal_feed.pk]},
    )
    assert address_token(personal_feed) is None


def test_deleting_a_feed_names_it_and_takes_its_articles(staff):
    article = make_article()
    address = f"{CHANGELIST}{article.feed_id}/delete/"
    assert str(article.feed) in staff.get(address).content.decode()
    staff.post(address, {"post": "yes"})
    assert not Feed.objects.exists()


def test_people_who_are_not_staff_are_sent_to_sign_in(client):
    client.force_login(make_user())
    assert client.get(CHANGELIST).status_code == 302
    assert client.post("/admin/feeds/feed/add/", {"addresses": "https://a.example/"}).status_code == 302
    assert not Feed.objects.exists()


def test_staff_without_the_permission_add_nothing(client):
    client.force_login(make_user(staff=True))
    assert client.post("/admin/feeds/feed/add/", {"addresses": "https://a.example/"}).status_code == 403
    assert not Feed.objects.exists()


def test_rules_targets_and_invitations_show_no_secret(staff):
    user = make_user("somebody")
    target = Target(user=user, kind="webhook", name="my program")
    target.address = "https://hooks.example/secret-path"
    target.save()
    rule = Rule.objects.create(user=user, name="A rule", looked=datetime.now(UTC))
    invitation, secret = Invitation.make(user, datetime.now(UTC))
    for app, name, row in (
        ("notices", "rule", rule), ("notices", "target", target),
        ("accounts", "invitation", invitation),
    ):  # fmt: skip
        listed = staff.get(f"/admin/{app}/{name}/").content.decode()
        shown = staff.get(f"/admin/{app}/{name}/{row.pk}/change/").content.decode()
        assert "somebody" in listed
        for word in ("secret-path", secret, invitation.digest, target.sealed):
            assert word not in listed + shown, (name, word)


def test_rules_are_paused_and_invitations_revoked(staff):
    user = make_user("somebody")
    rule = Rule.objects.create(user=user, name="A rule", looked=datetime(2026, 1, 1, tzinfo=UTC))
    invitation, _ = Invitation.make(user, datetime.now(UTC))
    for action, paused in (("pause", True), ("resume", False)):
        staff.post("/admin/notices/rule/", {"action": action, "_selected_action": [rule.pk]})
        rule.refresh_from_db()
        assert rule.paused is paused
    assert rule.looked > datetime(2026, 1, 1, tzinfo=UTC)
    staff.post("/admin/accounts/invitation/", {"action": "revoke", "_selected_action": [invitation.pk]})
    invitation.refresh_from_db()
    assert invitation.revoked is not None
