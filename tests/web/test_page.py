"""A connected page: rate, queue."""

from __future__ import annotations

from plyground.web.page import BURST, MOST_WAITING, PER_SECOND, Page, Rate
from served import run_async


def test_requests_are_allowed_at_a_rate() -> None:
    rate = Rate(0.0)
    assert sum(rate.allows(0.0) for _ in range(1000)) == BURST
    assert not rate.allows(0.0)
    assert sum(rate.allows(1.0) for _ in range(1000)) == PER_SECOND
    assert rate.refused > 0


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
