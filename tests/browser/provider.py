"""A small identity provider that speaks OpenID Connect, for tests alone: everybody is who it was told."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any
from urllib.parse import parse_qs, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.servers import Reply, Request, Script, WebServer

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLIENT, SECRET = "freshet", "the provider's word"


class _ByPath(dict[str, Script]):
    """Answers by path, whatever the query."""

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key.partition("?")[0], default)


class IdentityProvider(WebServer):
    """A provider at which `name` is signed in already."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes: dict[str, str] = {}
        super().__init__()
        self.replies = _ByPath(
            {
                "/.well-known/openid-configuration": self._configuration,
                "/authorize": self._authorize,
                "/token": self._token,
                "/userinfo": self._userinfo,
                "/keys": self._keys,
            }
        )

    def _configuration(self, request: Request) -> Reply:
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
        places |= {"userinfo_endpoint": "userinfo", "jwks_uri": "keys"}
        found = {name: f"{self.origin}/{place}" for name, place in places.items()}
        return _json({"issuer": self.origin, **found})

    def _authorize(self, request: Request) -> Reply:
        asked = {name: values[0] for name, values in parse_qs(request.path.partition("?")[2]).items()}
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked.get("nonce", "")
        back = f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
        return Reply(b"", 302, headers={"Location": back})

    def _token(self, request: Request) -> Reply:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        if form.get("client_secret") != SECRET or form.get("code") not in self.codes:
            return Reply(b'{"error": "invalid_grant"}', 400, headers={"Content-Type": "application/json"})
        claims = self._claims() | {
            "iss": self.origin,
            "aud": CLIENT,
            "exp": time.time() + 60,
            "iat": time.time(),
        }
        token = jwt.encode(claims, KEY, "RS256", headers={"kid": "one"})
        return _json({"access_token": "x", "token_type": "Bearer", "id_token": token})

    def _userinfo(self, request: Request) -> Reply:
        return _json(self._claims())

    def _keys(self, request: Request) -> Reply:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return _json({"keys": [key | {"kid": "one", "alg": "RS256", "use": "sig"}]})

    def _claims(self) -> dict[str, object]:
        return {"sub": f"id-{self.name}", "preferred_username": self.name, "name": self.name}


def _json(value: object) -> Reply:
    return Reply(json.dumps(value).encode(), headers={"Content-Type": "application/json"})
