"""Encrypted streams."""

from __future__ import annotations

import io

import pytest

from crawler.text.encrypted import MAGIC, EncryptedReader, EncryptedWriter, PasswordError


def encrypted(content: bytes, password: str = "geheim") -> bytes:
    target = io.BytesIO()
    with EncryptedWriter(target, password) as writer:
        for start in range(0, len(content), 100_000):
            writer.write(content[start : start + 100_000])
    return target.getvalue()


def decrypted(stream: bytes, password: str = "geheim") -> bytes:
    source = io.BytesIO(stream)
    assert source.read(len(MAGIC)) == MAGIC
    return EncryptedReader(source, password).read() or b""


@pytest.mark.parametrize("size", [0, 1, 1 << 18, (1 << 18) + 1, 1_000_000])
def test_a_stream_comes_back_as_it_was(size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    assert decrypted(encrypted(content[:size])) == content[:size]


def test_a_wrong_password_is_refused() -> None:
    with pytest.raises(PasswordError):
        decrypted(encrypted(b"secret"), "other")


def test_a_cut_changed_or_reordered_stream_is_refused() -> None:
    stream = encrypted(bytes(600_000))
    start, chunk = len(MAGIC) + 16, 4 + (1 << 18) + 16
    first, second = stream[start : start + chunk], stream[start + chunk : start + 2 * chunk]
    for damaged in (
        stream[: start + 2 * chunk],
        stream[:-1],
        stream[: start + 10],
        stream[:start],
        stream[:start] + second + first + stream[start + 2 * chunk :],
        stream[: start + 100] + bytes([stream[start + 100] ^ 1]) + stream[start + 101 :],
    ):
        with pytest.raises(PasswordError):
            decrypted(damaged)


def test_two_streams_of_one_text_differ() -> None:
    assert encrypted(b"text") != encrypted(b"text")
