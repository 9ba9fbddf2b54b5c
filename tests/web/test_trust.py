"""Host, Origin and token."""

from __future__ import annotations

import pytest

from plyground.web.trust import HEADERS, Trust, split_host, trust_for

HERE = Trust("127.0.0.1", 8421)


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
    assert trust_for("LocalHost", 1).token == ""


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:9999", "http://localhost:8421"]
)
def test_a_page_of_another_site_is_refused(origin: str | None) -> None:
    assert not HERE.accepts_origin(origin, "127.0.0.1:8421")
    assert HERE.accepts_origin("http://127.0.0.1:8421", "127.0.0.1:8421")


def test_only_an_address_that_others_reach_has_a_token() -> None:
    assert trust_for("127.0.0.1", 1).token == ""
    open_to_others = trust_for("192.168.1.5", 1)
    assert len(open_to_others.token) >= 24
    assert open_to_others.accepts_token(open_to_others.token)
    assert not open_to_others.accepts_token(None)
    assert not open_to_others.accepts_token("")
    assert not open_to_others.accepts_token("é")


def test_a_host_header_has_a_name_and_a_port() -> None:
    assert split_host("[::1]:8421") == ("::1", 8421)
    assert split_host("[::1]") == ("::1", 80)
    assert split_host("a:٣") == ("a", -1)


def test_the_policy_allows_nothing_from_elsewhere_and_no_inline_script() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
