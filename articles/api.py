"""The REST API of articles, and of what subscribers follow and have made for themselves."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, QuerySet
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from articles.exporting.answers import Exported
from articles.filters import ArticleFilter
from articles.listing import RANKED, newest_keys
from articles.meaning.related import related_articles
from articles.meaning.searching import hybrid
from articles.models import Article, PersonalFeed, Subscriber, Subscription, Topic
from articles.personal.following import follow, refile, subscriber_of, unfollow
from articles.personal.selection import create_personal_feed, revoke_address, rotate_address
from articles.personal.topics import TopicError, follow_topic, unfollow_topic
from articles.serializers import (
    ArticleDetailSerializer,
    ArticleSerializer,
    NewSubscriptionSerializer,
    PersonalFeedSerializer,
    SubscriberSerializer,
    SubscriptionSerializer,
    TopicSerializer,
)
from crawler.web.pagination import KeysetPages, page_size
from feeds.adding.add import add_feed


class ArticlePages(KeysetPages):
    """Pages of articles, those of a search found as the search page finds them."""

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        self._is_search = bool(request.query_params.get("q"))
        return super().paginate_queryset(queryset, request, view)

    def first_rows(self, queryset: Any, count: int) -> list[Any]:
        if self._is_search and queryset.query.order_by == ("-published", "-id"):
            keys = newest_keys(queryset, count)
            rows = list(queryset.filter(id__in=keys))
            if len(rows) == len(keys):  # else one has gone meanwhile, and the list would seem to end
                return rows
        return super().first_rows(queryset, count)


class ArticleViewSet(Exported, viewsets.ReadOnlyModelViewSet[Article]):
    """Articles, newest first, without their texts; the detail has them."""

    queryset = Article.objects.all()
    pagination_class = ArticlePages
    filterset_class = ArticleFilter
    ordering_fields = ["published", "fetched", "id"]
    ordering = ["-published"]

    def get_queryset(self) -> QuerySet[Article]:
        articles = super().get_queryset()
        if self.action == "list":
            # Texts and the search vector are most of the table; a list needs none of them.
            return articles.only(*ArticleSerializer.Meta.fields)
        return articles.select_related("page").defer("search", "page__html")

    def get_serializer_class(self) -> type[BaseSerializer[Article]]:
        return ArticleDetailSerializer if self.action == "retrieve" else ArticleSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "order",
                {"type": "string", "enum": ["best"]},
                description="With `q`: the best matches first, by words and, where there is an embeddings "
                "endpoint, by meaning; one answer without further pages.",
            )
        ]
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if request.query_params.get("order") != "best" or not request.query_params.get("q"):
            return super().list(request, *args, **kwargs)
        size = page_size(request)
        matches = self.filter_queryset(self.get_queryset())
        words = request.query_params["q"]
        without_words = request.query_params.copy()
        without_words.pop("q")
        candidates = ArticleFilter(without_words, Article.objects.search(words, by_words=False)).qs
        hits = hybrid(words, newest_keys(matches, RANKED), matches, candidates, limit=size)
        rows = {row.pk: row for row in self.get_queryset().filter(pk__in=hits.keys[:size])}
        articles = [rows[key] for key in hits.keys[:size] if key in rows]
        return Response({"next": None, "results": self.get_serializer(articles, many=True).data})

    @extend_schema(
        summary="Articles about the same",
        description="The nearest by meaning, at most five; none without an embeddings endpoint.",
        responses=ArticleSerializer(many=True),
    )
    @action(detail=True, pagination_class=None, filterset_class=None)
    def related(self, request: Request, pk: str) -> Response:
        article = self.get_object()
        return Response(ArticleSerializer(related_articles(article), many=True).data)


class SubscriberViewSet(viewsets.ReadOnlyModelViewSet[Subscriber]):
    """Subscribers: staff see all, everyone else themselves."""

    queryset = Subscriber.objects.select_related("user").annotate(subscription_count=Count("subscriptions"))
    serializer_class = SubscriberSerializer
    ordering_fields = ["id", "created"]
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Subscriber]:
        everyone = super().get_queryset()
        user = cast(User, self.request.user)
        return everyone if user.is_staff else everyone.filter(user=user)


class SubscriptionViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Subscription],
):
    """The subscriptions of the signed-in subscriber; nobody sees another's."""

    queryset = Subscription.objects.select_related("feed").defer("feed__fingerprints")
    serializer_class = SubscriptionSerializer
    filterset_fields = ["feed", "folder"]
    ordering_fields = ["id", "folder", "created"]
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Subscription]:
        return super().get_queryset().filter(subscriber__user=cast(User, self.request.user))

    @extend_schema(
        summary="Follow a feed",
        request=NewSubscriptionSerializer,
        responses={
            201: SubscriptionSerializer,
            200: OpenApiResponse(SubscriptionSerializer, "Followed already."),
        },
    )
    @transaction.atomic
    def create(self, request: Request) -> Response:
        serializer = NewSubscriptionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        feed = fields.get("feed")
        if feed is None:
            added = add_feed(fields["url"])
            feed = added.feed
            if feed is None:
                raise ValidationError({"url": [added.message]})
        subscription, new = follow(
            subscriber_of(request.user), feed, folder=fields.get("folder", ""), title=fields.get("title", "")
        )
        code = status.HTTP_201_CREATED if new else status.HTTP_200_OK
        return Response(self.get_serializer(subscription).data, status=code)

    @extend_schema(summary="Change folder or title", request=SubscriptionSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        subscription = self.get_object()
        serializer = self.get_serializer(subscription, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        refile(
            subscription,
            folder=fields.get("folder", subscription.folder),
            title=fields.get("title", subscription.title),
        )
        return Response(self.get_serializer(subscription).data)

    def perform_destroy(self, instance: Subscription) -> None:
        unfollow(instance)


class TopicViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet[Topic]
):
    """Keywords, categories and sites that the signed-in subscriber follows; nobody sees another's."""

    queryset = Topic.objects.select_related("subscriber")
    serializer_class = TopicSerializer
    filterset_fields = ["kind"]
    ordering_fields = ["id", "created"]
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Topic]:
        return super().get_queryset().filter(subscriber__user=cast(User, self.request.user))

    @extend_schema(
        summary="Follow a topic",
        request=TopicSerializer,
        responses={201: TopicSerializer, 200: OpenApiResponse(TopicSerializer, "Followed already.")},
    )
    def create(self, request: Request) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            topic, new = follow_topic(subscriber_of(request.user), **serializer.validated_data)
        except TopicError as error:
            raise ValidationError({"value": [str(error)]}) from error
        code = status.HTTP_201_CREATED if new else status.HTTP_200_OK
        return Response(self.get_serializer(topic).data, status=code)

    def perform_destroy(self, instance: Topic) -> None:
        unfollow_topic(instance)


class PersonalFeedViewSet(viewsets.ModelViewSet[PersonalFeed]):
    """The signed-in subscriber's personal feeds, with their secret addresses; nobody sees another's."""

    queryset = PersonalFeed.objects.select_related("subscriber")
    serializer_class = PersonalFeedSerializer
    ordering_fields = ["id", "name", "changed"]
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[PersonalFeed]:
        return super().get_queryset().filter(subscriber__user=cast(User, self.request.user))

    def perform_create(self, serializer: BaseSerializer[PersonalFeed]) -> None:
        subscriber = subscriber_of(self.request.user)
        serializer.instance = create_personal_feed(subscriber, **serializer.validated_data)

    @extend_schema(summary="Revoke the address and make a new one", request=None)
    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, pk: str) -> Response:
        personal_feed = self.get_object()
        rotate_address(personal_feed)
        return Response(self.get_serializer(personal_feed).data)

    @extend_schema(summary="Let the address answer 410 from now on", request=None)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        personal_feed = self.get_object()
        revoke_address(personal_feed)
        return Response(self.get_serializer(personal_feed).data)
