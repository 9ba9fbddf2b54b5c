"""Host, Origin and token."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyground import private_folder
from plyground.web.trust import HEADERS, Trust, split_host, trust_for

HERE = Trust("127.0.0.1", 8421, "secret")


@pytest.mark.parametrize("host", ["127.0.0.1:8421", "localhost:8421", "[::1]:8421", "LOCALHOST:8421"])
def test_our_own_names_are_accepted(host: str) -> None:
    assert HERE.accepts_host(host)


@pytest.mark.parametrize(
    "host", ["", "127.0.0.1", "127.0.0.1:80", "evil.example:8421", "127.0.0.1.evil.example:8421", "127.0.0.1:8421:1"]
)
def test_other_names_are_refused(host: str) -> None:
    assert not HERE.accepts_host(host)


def test_a_server_for_all_addresses_goes_by_numbers_alone() -> None:
    everywhere = Trust("0.0.0.0", 8421, "secret")  # noqa: S104
    assert everywhere.accepts_host("192.168.1.5:8421")
    assert not everywhere.accepts_host("rebound.example:8421")


def test_a_name_may_have_capital_letters() -> None:
    named = Trust("MyBox", 8421, "secret")
    for host in ("MyBox:8421", "mybox:8421"):
        assert named.accepts_host(host)
        assert named.accepts_origin("http://mybox:8421", host)


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:9999", "http://localhost:8421"]
)
def test_a_page_of_another_site_is_refused(origin: str | None) -> None:
    assert not HERE.accepts_origin(origin, "127.0.0.1:8421")
    assert HERE.accepts_origin("http://127.0.0.1:8421", "127.0.0.1:8421")


def test_every_server_has_a_token_which_a_restart_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [trust_for(*place) for place in (("127.0.0.1", 1), ("127.0.0.1", 2), ("192.168.1.5", 1))]
    assert len({each.token for each in found}) == 3
    assert all(len(each.token) >= 32 for each in found)
    private_folder.secret.cache_clear()  # another process
    assert trust_for("127.0.0.1", 1) == found[0]
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path))  # another user
    assert trust_for("127.0.0.1", 1).token != found[0].token
    assert (tmp_path / "page_secret").stat().st_mode & 0o777 == 0o600


def test_a_token_is_accepted_whole() -> None:
    assert HERE.accepts_token("secret")
    for given in (None, "", "secre", "secrets", "é", "SECRET"):
        assert not HERE.accepts_token(given)


def test_servers_of_one_host_have_cookies_of_their_own() -> None:
    assert HERE.cookie != Trust("127.0.0.1", 8422, "secret").cookie


def test_a_host_header_has_a_name_and_a_port() -> None:
    assert split_host("[::1]:8421") == ("::1", 8421)
    assert split_host("[::1]") == ("::1", 80)
    assert split_host("a:٣") == ("a", -1)


def test_the_policy_allows_nothing_from_elsewhere_and_no_inline_script() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
