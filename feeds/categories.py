"""The tree of categories: folders found and made by path, and whole paths read without a query each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from feeds.models import Category

Path = tuple[str, ...]
NAME_LENGTH = 200


def path_of(text: str) -> Path:
    """The path that a person types, such as "News/Tech". Blank parts are left out."""
    return tuple(part.strip()[:NAME_LENGTH] for part in text.split("/") if part.strip())


def category_at(path: Sequence[str]) -> Category | None:
    """The category at this path, made with its parents where missing; None for the empty path."""
    found = None
    for name in path:
        found, _ = Category.objects.get_or_create(parent=found, name=name[:NAME_LENGTH])
    return found


def categories_at(paths: Iterable[Path]) -> dict[Path, int]:
    """Primary keys of many paths; missing categories are made level by level."""
    wanted = {path[:depth] for path in paths for depth in range(1, len(path) + 1)}
    known = {path: key for key, path in all_paths().items()}
    for depth in range(1, max((len(path) for path in wanted), default=0) + 1):
        missing = sorted(path for path in wanted if len(path) == depth and path not in known)
        made = Category.objects.bulk_create(
            [Category(name=path[-1], parent_id=known[path[:-1]] if depth > 1 else None) for path in missing]
        )
        known.update(zip(missing, (category.pk for category in made), strict=True))
    return {path: known[path] for path in wanted}


def all_paths() -> dict[int, Path]:
    """The path of every category by primary key, outermost name first."""
    rows = {key: (name, parent) for key, name, parent in Category.objects.values_list("id", "name", "parent")}
    paths: dict[int, Path] = {}

    def path(key: int) -> Path:
        if key not in paths:
            name, parent = rows[key]
            paths[key] = (*(path(parent) if parent in rows else ()), name)
        return paths[key]

    return {key: path(key) for key in rows}


def subtree(key: int) -> set[int]:
    """The category and all categories inside it, by primary key."""
    children: dict[int | None, list[int]] = defaultdict(list)
    for child, parent in Category.objects.values_list("id", "parent"):
        children[parent].append(child)
    found, waiting = {key}, [key]
    while waiting:
        inside = [child for child in children[waiting.pop()] if child not in found]
        found.update(inside)
        waiting.extend(inside)
    return found
