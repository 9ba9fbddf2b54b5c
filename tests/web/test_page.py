"""A connected page: rate, queue."""

from __future__ import annotations

from plyground.web.page import BURST, MOST_REFUSED, MOST_WAITING, PER_SECOND, Page, Rate
from served import run_async


def test_requests_are_allowed_at_a_rate() -> None:
    rate = Rate(0.0)
    assert sum(rate.allows(0.0) for _ in range(1000)) == BURST
    assert not rate.allows(0.0)
    assert sum(rate.allows(1.0) for _ in range(1000)) == PER_SECOND
    assert rate.refused > 0


def test_requests_too_many_are_forgiven_in_time_but_not_by_the_next_one_that_is_allowed() -> None:
    rate = Rate(0.0)
    for request in range(1000):
        rate.allows(request / 200.0)  # five seconds at 200 a second
    assert rate.refused > MOST_REFUSED
    assert rate.allows(1000.0)
    assert rate.refused == 0.0


def test_a_page_that_does_not_read_is_disconnected() -> None:
    async def flood() -> None:
        page = Page()
        for _ in range(MOST_WAITING + 5):
            page.send_text("x")
        assert page.gone
        waiting = [page.waiting.get_nowait() for _ in range(page.waiting.qsize())]
        assert waiting[-1] is None
        assert len(waiting) == MOST_WAITING + 1

    run_async(flood())
