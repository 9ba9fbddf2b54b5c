"""Who may talk to the server: the right Host, the right Origin, and a token where others can reach it.

A page of another site that a browser shows may send requests to this machine. It cannot choose its Origin, and a name
that its owner points at 127.0.0.1 (DNS rebinding) appears in Host: both are compared with what the server listens on.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "plyground_token"
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (compared, not bound)
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
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
    token: str = ""
    """empty: none is needed, because only this machine can reach it"""

    def accepts_host(self, header: str) -> bool:
        """Whether a Host header names this server: loopback, or the address that was asked for with --host."""
        name, port = split_host(header)
        if port != self.port:
            return False
        if name in LOOPBACK or name == self.host.lower():
            return True
        return self.host in EVERYWHERE and is_address(name)  # a name of somebody else's could be rebound

    def accepts_origin(self, origin: str | None, host: str) -> bool:
        """Whether an Origin header is that of our own page, loaded from `host`. A browser always sends one."""
        return origin is not None and origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())

    def accepts_token(self, given: str | None) -> bool:
        return not self.token or (given is not None and secrets.compare_digest(given.encode(), self.token.encode()))

    def refusal(self, headers: Mapping[str, str], cookie: str | None, socket: bool) -> str:
        """Why a request is refused; empty where it is not."""
        host = headers.get("host", "")
        if not self.accepts_host(host):
            return "this server does not go by that name"
        if socket and not self.accepts_origin(headers.get("origin"), host):
            return "a page of another site may not connect"
        return "" if self.accepts_token(cookie) else "open the address with the token that the server has printed"


def trust_for(host: str, port: int) -> Trust:
    """A token where more than this machine can reach the server."""
    return Trust(host, port, "" if host.lower() in LOOPBACK else secrets.token_urlsafe(24))


def split_host(header: str) -> tuple[str, int]:
    """`127.0.0.1:8000` and `[::1]:8000` in parts; a port that is missing is 80."""
    name, colon, port = header.rpartition(":")
    if not colon or header.endswith("]"):
        name, port = header, "80"
    number = int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else -1
    return name.removeprefix("[").removesuffix("]").lower(), number


def is_address(name: str) -> bool:
    """Whether a name is a number: no owner of a domain can point it elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
