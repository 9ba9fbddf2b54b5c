"""Who may talk to the server: the right Host, the right Origin, and a token.

A page of another site that a browser shows may send requests to this machine. It cannot choose its Origin, and a name
that its owner points at 127.0.0.1 (DNS rebinding) appears in Host: both are compared with what the server listens on.
Other users of this machine reach 127.0.0.1 too, and choose both as they like: they do not have the token.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from plyground.private_folder import cache_folder, secret

LOOPBACK = ("127.0.0.1", "localhost", "::1")
NO_TOKEN = "open the address with the token that the server has printed"  # noqa: S105
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (compared, not bound)
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Trust:
    """What the server accepts."""

    host: str
    """what it listens on"""
    port: int
    token: str

    @property
    def cookie(self) -> str:
        """Its name: to a browser all servers of one host are one site, whatever their ports."""
        return f"plyground_token_{self.port}"

    def accepts_host(self, header: str) -> bool:
        """Whether a Host header names this server: loopback, or the address that was asked for with --host."""
        name, port = split_host(header)
        if port != self.port:
            return False
        if name in LOOPBACK or name == self.host.lower():
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:  # a name, whose owner could point it here
            return False
        return self.host in EVERYWHERE

    def accepts_origin(self, origin: str | None, host: str) -> bool:
        """Whether an Origin header is that of our own page, loaded from `host`. A browser always sends one."""
        return origin is not None and origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())

    def accepts_token(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())

    def refusal(self, headers: Mapping[str, str], token: str | None, socket: bool) -> str:
        """Why a request is refused; empty where it is not."""
        host = headers.get("host", "")
        if not self.accepts_host(host):
            return "this server does not go by that name"
        if socket and not self.accepts_origin(headers.get("origin"), host):
            return "a page of another site may not connect"
        return "" if self.accepts_token(token) else NO_TOKEN


def trust_for(host: str, port: int) -> Trust:
    """With the token of this user, host and port: after a restart open pages, cookies and bookmarks are still good."""
    key = secret(cache_folder(), "page_secret")
    digest = hmac.digest(key, f"{host}:{port}".lower().encode(), "sha256")
    return Trust(host, port, base64.urlsafe_b64encode(digest[:24]).decode())


def split_host(header: str) -> tuple[str, int]:
    """`127.0.0.1:8000` and `[::1]:8000` in parts; a port that is missing is 80."""
    name, colon, port = header.rpartition(":")
    if not colon or header.endswith("]"):
        name, port = header, "80"
    number = int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else -1
    return name.removeprefix("[").removesuffix("]").lower(), number
