"""Limits of a process that handles strangers' bytes, which it sets itself before it reads them."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from crawler.isolation import memory, walls


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """The bounds of a process from now on.

    `cpu_seconds` of processor time, None for no limit; `memory_bytes` beyond what it has taken already.
    Without `network` it can open no socket and start no program; where the kernel has no wall for that, a
    process that does not need `files` can open no descriptor at all. Without `writes` no file grows.
    """

    cpu_seconds: int | None
    memory_bytes: int
    network: bool = False
    files: bool = True
    writes: bool = True

    def apply(self) -> None:
        """Set the limits. They cannot be lifted, but for processor time (`allow_processor_time`)."""
        if not self.network and not walls.shut() and not self.files:
            forbid_new_descriptors()
        address_space = memory.address_space() + self.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not self.writes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        if self.cpu_seconds is not None:
            allow_processor_time(self.cpu_seconds)


def allow_processor_time(seconds: int) -> None:
    """Let this process use so much more processor time; then the kernel ends it with SIGXCPU."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def forbid_new_descriptors() -> None:
    """Forbid new descriptors, files and sockets alike; open ones stay."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
