"""Pages and API of people, organisations, topics and sites."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from articles.listing import lean
from articles.models import Article, PersonalFeed, Topic
from articles.personal.following import subscriber_of
from articles.things import pages
from articles.things.pages import Thing
from crawler.web.fields import TextField
from crawler.web.pagination import page_of

PAGE_ARTICLES = 20
BY_NAME: dict[str, Callable[[str], Thing | None]] = {
    "organisation": pages.organisation_thing,
    "topic": pages.topic_thing,
    "site": pages.site_thing,
}
KINDS = ("person", "organisation", "topic", "site")


@require_safe
def person(request: HttpRequest, name: str) -> HttpResponse:
    """Show a person: articles, sites, and why those belong together."""
    return _page(request, pages.person_thing(name, request.GET.get("site", "")[:300]))


@require_safe
def organisation(request: HttpRequest, name: str) -> HttpResponse:
    """Show an organisation: the articles that name it."""
    return _page(request, pages.organisation_thing(name))


@require_safe
def topic(request: HttpRequest, name: str) -> HttpResponse:
    """Show a topic."""
    return _page(request, pages.topic_thing(name))


@require_safe
def site(request: HttpRequest, name: str) -> HttpResponse:
    """Show a site as where articles come from."""
    return _page(request, pages.site_thing(name))


def _page(request: HttpRequest, thing: Thing | None) -> HttpResponse:
    if thing is None:
        raise Http404(_("No article here is by, about or from what has this name."))
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    rows = Article.objects.filter(pk__in=thing.articles).newest_first()
    followed: Topic | None = None
    if thing.follow:
        followed = subscriber.topics.filter(kind=thing.follow[0], value=thing.follow[1]).first()
    months = pages.months(thing, now)
    feeds = pages.feeds_of(thing)
    subscriptions = subscriber.subscriptions.filter(feed__in=[row["feed"] for row in feeds])
    context: dict[str, Any] = {
        "thing": thing,
        "page": page_of(request, lean(rows), size=PAGE_ARTICLES),
        "unread": pages.unread_count(thing, subscriber),
        "is_more": len(thing.articles) == pages.MAX_ARTICLES,
        "months": _bars(months),
        "this_year": sum(number for _, number in months),
        "feeds": feeds,
        "subscribed": set(subscriptions.values_list("feed", flat=True)),
        "people": pages.people_of(thing),
        "words": pages.words_of(thing),
        "named": pages.named_by(thing),
        "followed": followed,
        "is_kept": PersonalFeed.objects.filter(subscriber=subscriber, query=thing.search).exists(),
        "mentions": pages.mention_count(thing) if thing.kind == "person" else 0,
    }
    return render(request, "things/thing.html", context)


def _bars(months: list[tuple[datetime, int]]) -> list[dict[str, Any]]:
    """Return place, height and date of each month's bar, in a picture 980 wide and 100 high."""
    max_articles = max(number for _, number in months) or 1
    width = 980 / len(months)
    return [
        {
            "x": f"{at * width:.1f}",
            "y": f"{100 - 84 * number / max_articles:.1f}",
            "height": f"{84 * number / max_articles:.1f}",
            "month": month,
            "number": number,
        }
        for at, (month, number) in enumerate(months)
    ]


class ReasonSerializer(serializers.Serializer[Any]):
    """Why two sites' people of one name are the same: both give this address, or it is on one of them."""

    sites = serializers.ListField(child=serializers.CharField())
    address = serializers.CharField()


class NamedThingSerializer(serializers.Serializer[Any]):
    """A person or an organisation that articles name, and how many do."""

    kind = serializers.CharField()
    name = serializers.CharField()
    articles = serializers.IntegerField()


class ThingSerializer(serializers.Serializer[Any]):
    """A person, an organisation, a topic or a site with its newest articles.

    `others` are people of that name elsewhere, `named` the people and organisations in the articles.
    """

    kind = serializers.CharField()
    name = serializers.CharField()
    search = serializers.CharField(help_text="The search that finds its articles.")
    articles = serializers.ListField(child=serializers.IntegerField(), help_text="The newest first.")
    sites = serializers.ListField(child=serializers.CharField(), source="person.sites", default=[])
    reasons = ReasonSerializer(many=True, source="person.evidence", default=[])
    others = serializers.SerializerMethodField()
    pages = serializers.ListField(child=serializers.CharField(), help_text="Addresses of an organisation.")
    named = serializers.SerializerMethodField()
    scheme = serializers.CharField(source="scheme_address", help_text="Address in IPTC's Media Topics.")

    @extend_schema_field(NamedThingSerializer(many=True))
    def get_named(self, thing: Thing) -> Any:
        return NamedThingSerializer(pages.named_by(thing), many=True).data

    def get_others(self, thing: Thing) -> list[list[str]]:
        return [namesake.sites for namesake in thing.others]


class ThingQuerySerializer(serializers.Serializer[Any]):
    """Which thing is asked for."""

    kind = serializers.ChoiceField(choices=KINDS)
    name = TextField(max_length=200)
    site = TextField(max_length=300, required=False, default="")


class ThingView(APIView):
    """People, organisations, topics and sites."""

    @extend_schema(
        summary="A person, an organisation, a topic or a site with its articles",
        parameters=[
            OpenApiParameter("kind", enum=list(KINDS), required=True),
            OpenApiParameter("name", required=True, description="A name; of a site its host."),
            OpenApiParameter("site", description="Of a person: a site where the person writes."),
        ],
        responses={
            200: ThingSerializer,
            404: OpenApiResponse({"$ref": "#/components/schemas/Refused"}, "No article has it."),
        },
    )
    def get(self, request: Request) -> Response:
        query = ThingQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        kind, name = query.validated_data["kind"], query.validated_data["name"]
        if kind == "person":
            thing = pages.person_thing(name, query.validated_data["site"])
        else:
            thing = BY_NAME[kind](name)
        if thing is None:
            raise NotFound("No article here is by, about or from what has this name.")
        return Response(ThingSerializer(thing).data)
