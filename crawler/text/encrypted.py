"""Streams encrypted with a password: AES-256 in GCM, in chunks, with a key from scrypt. Pure.

The stream is `MAGIC`, a salt of 16 bytes, and chunks: four bytes of length, then the encrypted bytes. The
number of a chunk is its nonce; whether it is the last one is authenticated, so that a cut stream is noticed.
"""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC = b"FRESHET-ENCRYPTED-1\n"
_CHUNK = 1 << 18
_SALT = 16
_TAG = 16
_LAST, _MORE = b"last", b"more"


class PasswordError(ValueError):
    """A wrong password, or a damaged stream; its text is a sentence."""


def _cipher(password: str, salt: bytes) -> AESGCM:
    return AESGCM(Scrypt(salt=salt, length=32, n=2**15, r=8, p=1).derive(password.encode()))


class EncryptedWriter(io.RawIOBase):
    """A file that encrypts what is written to it. Closing it writes the last chunk; `target` stays open."""

    def __init__(self, target: BinaryIO, password: str) -> None:
        self._target, self._waiting, self._number = target, bytearray(), 0
        salt = os.urandom(_SALT)
        self._aead = _cipher(password, salt)
        target.write(MAGIC + salt)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        """Encrypt whole chunks and keep the rest for later."""
        self._waiting += memoryview(content)
        while len(self._waiting) > _CHUNK:
            self._put(bytes(self._waiting[:_CHUNK]), _MORE)
            del self._waiting[:_CHUNK]
        return memoryview(content).nbytes

    def close(self) -> None:
        """Write the last chunk."""
        if not self.closed:
            self._put(bytes(self._waiting), _LAST)
        super().close()

    def _put(self, content: bytes, place: bytes) -> None:
        sealed = self._aead.encrypt(self._number.to_bytes(12, "big"), content, place)
        self._target.write(len(sealed).to_bytes(4, "big") + sealed)
        self._number += 1


class EncryptedReader(io.RawIOBase):
    """A file that decrypts an encrypted stream, of which MAGIC has been read. Raises PasswordError."""

    def __init__(self, source: BinaryIO, password: str) -> None:
        self._source, self._waiting, self._number, self._ended = source, b"", 0, False
        self._aead = _cipher(password, source.read(_SALT))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Decrypt the next bytes."""
        while not self._waiting and not self._ended:
            self._waiting = self._next()
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._waiting))
        view[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size

    def _next(self) -> bytes:
        size = int.from_bytes(self._source.read(4), "big")
        sealed = self._source.read(size) if _TAG <= size <= _CHUNK + _TAG else b""
        nonce = self._number.to_bytes(12, "big")
        self._number += 1
        for place in (_MORE, _LAST):
            try:
                content = self._aead.decrypt(nonce, sealed, place)
            except InvalidTag:
                continue
            self._ended = place == _LAST
            return content
        raise PasswordError("The password is wrong, or the file is damaged.")
