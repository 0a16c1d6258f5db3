"""Static files as browsers get them: each under a name that changes with it, and compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """Compresses only files that pages name.

    Pages name neither files without a hash, nor source maps, nor sources of which there is a smaller form.
    To compress these, too, was two thirds of nine seconds of processor time at a first start.
    """

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the name of each file of these that was compressed, and that of its compressed form."""
        originals = {hashed_name: name for name, hashed_name in self.hashed_files.items()}
        named = (path for path in paths if path in originals and not self._is_spare(originals[path]))
        yield from super().compress_files(named)

    def _is_spare(self, name: str) -> bool:
        path = PurePosixPath(name)
        smaller = path.with_name(f"{path.stem}.min{path.suffix}")
        return path.suffix == ".map" or str(smaller) in self.hashed_files
