"""The tree of categories: lookup and creation by path, and all paths in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from feeds.models import Category

Path = tuple[str, ...]
NAME_LENGTH = 200


def path_of(text: str) -> Path:
    """Parse a path as a person types it, such as "News/Tech". Omits blank parts."""
    return tuple(part.strip()[:NAME_LENGTH] for part in text.split("/") if part.strip())


def category_at(path: Sequence[str]) -> Category | None:
    """Get or create the category at this path and its parents. Returns None for the empty path."""
    category = None
    for name in path:
        category, _ = Category.objects.get_or_create(parent=category, name=name[:NAME_LENGTH])
    return category


def categories_at(paths: Iterable[Path]) -> dict[Path, int]:
    """Return the primary keys of many paths. Creates missing categories level by level."""
    prefixes = {path[:depth] for path in paths for depth in range(1, len(path) + 1)}
    keys = {path: key for key, path in all_paths().items()}
    for depth in range(1, max((len(path) for path in prefixes), default=0) + 1):
        missing = sorted(path for path in prefixes if len(path) == depth and path not in keys)
        created = Category.objects.bulk_create(
            [Category(name=path[-1], parent_id=keys[path[:-1]] if depth > 1 else None) for path in missing]
        )
        keys.update(zip(missing, (category.pk for category in created), strict=True))
    return {path: keys[path] for path in prefixes}


def all_paths() -> dict[int, Path]:
    """Return the path of every category by primary key, outermost name first."""
    rows = {key: (name, parent) for key, name, parent in Category.objects.values_list("id", "name", "parent")}
    paths: dict[int, Path] = {}

    def path(key: int) -> Path:
        if key not in paths:
            name, parent = rows[key]
            paths[key] = (*(path(parent) if parent in rows else ()), name)
        return paths[key]

    return {key: path(key) for key in rows}


def subtree(key: int) -> set[int]:
    """Return the primary keys of the category and of all categories inside it."""
    children: dict[int | None, list[int]] = defaultdict(list)
    for child, parent in Category.objects.values_list("id", "parent"):
        children[parent].append(child)
    keys, waiting = {key}, [key]
    while waiting:
        unvisited = [child for child in children[waiting.pop()] if child not in keys]
        keys.update(unvisited)
        waiting.extend(unvisited)
    return keys
