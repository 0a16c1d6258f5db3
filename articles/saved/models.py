"""Saved pages, the files they came from, highlights, and collections that people share."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from articles.models import LABEL_LENGTH, new_token

MAX_NOTE = 10_000
"""Characters of a note on a page or a highlight."""
MAX_QUOTE = 20_000
"""Characters of the words that a highlight is on."""
AROUND = 32
"""Characters before and after a highlight that are kept to find it again."""


class SavedImport(models.Model):
    """A file of saved pages from another program, taken over a part at a time."""

    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="saved_imports"
    )
    name = models.CharField(max_length=200, help_text="The file's name.")
    program = models.CharField(max_length=40, help_text="The program that wrote it.")
    created = models.DateTimeField(db_default=Now(), editable=False)
    content = models.BinaryField(
        default=b"", help_text="What was read of it and is still to come: zlib of MessagePack."
    )
    total = models.PositiveIntegerField(default=0, help_text="Pages in the file.")
    position = models.PositiveIntegerField(default=0, help_text="Pages of it that are here.")
    known = models.PositiveIntegerField(default=0, help_text="Pages that were saved before.")
    problems = models.JSONField(default=list, help_text="Entries that are none: line, text and why.")
    problem_count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_done(self) -> bool:
        """True when all of its pages are here (their texts may still come)."""
        return self.position >= self.total

    @property
    def over(self) -> int:
        """The number of its pages that were read or could not be, for a row of `taking.imports_of`."""
        return self.position - int(getattr(self, "waiting", 0))

    @property
    def is_under_way(self) -> bool:
        """True while pages or texts still come, for a row of `taking.imports_of`."""
        return not self.is_done or bool(getattr(self, "waiting", 0))


class SavedPage(models.Model):
    """A page that a person saved: an article of their own, kept whatever becomes of it on the web."""

    class Way(models.TextChoices):
        ADDRESS = "address", pgettext_lazy("way of saving a page", "by its address")
        APP = "app", pgettext_lazy("way of saving a page", "from an app")
        ARTICLE = "article", pgettext_lazy("way of saving a page", "from a feed")
        MAIL = "mail", pgettext_lazy("way of saving a page", "by mail")
        API = "api", pgettext_lazy("way of saving a page", "by a program")
        FILE = "file", pgettext_lazy("way of saving a page", "from a file")
        RULE = "rule", pgettext_lazy("way of saving a page", "by a rule")

    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="saved_pages", db_index=False
    )
    article = models.OneToOneField("articles.Article", on_delete=models.CASCADE, related_name="saved")
    saved = models.DateTimeField(db_default=Now())
    way = models.CharField(max_length=8, choices=Way, default=Way.ADDRESS)
    note = models.TextField(blank=True, max_length=MAX_NOTE)
    published = models.DateTimeField(
        null=True, help_text="When it appeared, where a feed said so; its article stands under `saved`."
    )
    source = models.ForeignKey(
        SavedImport,
        null=True,
        on_delete=models.SET_NULL,
        related_name="pages",
        help_text="The file it is from.",
    )

    class Meta:
        indexes = [models.Index(fields=["subscriber", "-saved", "-id"], name="saved_newest")]

    def __str__(self) -> str:
        return str(self.article)


class Highlight(models.Model):
    """Words of an article that a person marked, as a W3C Web Annotation: the quote, and where it stands.

    `start` and `end` count characters of the article's plain text as it was when the mark was made.
    """

    class Color(models.TextChoices):
        IMPORTANT = "y", pgettext_lazy("meaning of a highlight", "Important")
        CITE = "g", pgettext_lazy("meaning of a highlight", "To cite")
        QUESTION = "b", pgettext_lazy("meaning of a highlight", "Question")
        DOUBT = "r", pgettext_lazy("meaning of a highlight", "Doubt")

    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="highlights", db_index=False
    )
    article = models.ForeignKey("articles.Article", on_delete=models.CASCADE, related_name="highlights")
    quote = models.TextField()
    before = models.CharField(max_length=AROUND, blank=True)
    after = models.CharField(max_length=AROUND, blank=True)
    start = models.PositiveIntegerField(default=0)
    end = models.PositiveIntegerField(default=0)
    color = models.CharField(max_length=1, choices=Color, default=Color.IMPORTANT)
    note = models.TextField(blank=True, max_length=MAX_NOTE)
    tags = ArrayField(models.CharField(max_length=LABEL_LENGTH), default=list, blank=True)
    created = models.DateTimeField(db_default=Now())
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["start", "id"]
        indexes = [models.Index(fields=["subscriber", "-created", "-id"], name="highlight_newest")]

    def __str__(self) -> str:
        return self.quote[:80]


class Collection(models.Model):
    """Articles that one person gathers and others may read or add to."""

    owner = models.ForeignKey("articles.Subscriber", on_delete=models.CASCADE, related_name="collections")
    name = models.CharField(max_length=LABEL_LENGTH)
    about = models.TextField(blank=True, max_length=MAX_NOTE)
    token = models.CharField(
        max_length=64, unique=True, default=new_token, editable=False, help_text="Of its feed's address."
    )
    created = models.DateTimeField(db_default=Now(), editable=False)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="collection_name")]

    def __str__(self) -> str:
        return self.name


class CollectionMember(models.Model):
    """A person with whom a collection is shared."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="members")
    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="shared_collections"
    )
    may_add = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "subscriber"], name="collection_member_once")
        ]

    def __str__(self) -> str:
        return f"{self.subscriber} in {self.collection}"


class CollectionItem(models.Model):
    """An article in a collection, who added it, and a note for the others."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="items")
    article = models.ForeignKey("articles.Article", on_delete=models.CASCADE, related_name="+")
    added_by = models.ForeignKey(
        "articles.Subscriber", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    note = models.TextField(blank=True, max_length=MAX_NOTE)
    added = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-added", "-id"]
        constraints = [models.UniqueConstraint(fields=["collection", "article"], name="collection_item_once")]

    def __str__(self) -> str:
        return f"{self.article} in {self.collection}"
