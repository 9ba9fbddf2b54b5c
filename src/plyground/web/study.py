"""Understanding a game: hints, analyses, reviews and ladders for a page, from workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec

from plyground.agents.levels import analysis_spec
from plyground.agents.search import TREE_GAMES, can_search_trees
from plyground.errors import Error, IllegalAction, InvalidValue
from plyground.game import Game
from plyground.web import host, messages, requests, thinking
from plyground.web.catalogue import NETWORK, YOU, Catalogue
from plyground.web.host import Place
from plyground.web.page import Page
from plyground.web.tables import Live, Tables
from plyground.web.tasks import Tasks, sentence
from plyground.web.workers import Workers

SECONDS, WITH_NETWORK = 8.0, "search:model=trained,time=8"  # of an analysis
Kind = TypeVar("Kind", bound="messages.Sent | messages.Stamped")


class Study:
    """What pages want to know of their games. A page has one hint, and one analysis, review or ladder at a time."""

    def __init__(self, catalogue: Catalogue, tables: Tables, workers: Workers, tasks: Tasks) -> None:
        self.catalogue, self.tables, self.workers, self.tasks = catalogue, tables, workers, tasks

    def hint(self, page: Page, request: requests.Hint) -> None:
        live = self.tables.find(page, request.table)
        if live.now.table.over:
            raise IllegalAction("the game is over: there is nothing to advise")
        if live.now.agent:
            raise IllegalAction("it is not your turn: a hint is for your own move")
        page.stop_hint()
        page.hint = self.tasks.start(self._hint(page, request, live))

    async def _hint(self, page: Page, request: requests.Hint, live: Live) -> None:
        asked = _asked(request, live)
        try:
            found = await self.workers.ask(thinking.advise, live.now.place)
        except Error as error:
            page.refuse(request.request, f"there is no hint: {error}")
            return
        except asyncio.CancelledError:
            page.refuse(request.request, "a newer hint takes the place of this one")
            raise
        page.send(msgspec.structs.replace(found, **asked))

    def _show(
        self,
        page: Page,
        asked: dict[str, Any],
        function: Callable[..., Iterator[Kind]],
        subject: Game | Place,
        *arguments: Any,
        keep: Callable[[Kind], None] = lambda found: None,
    ) -> None:
        """Send a page all that a function yields, each with the fields that say what was `asked`, in place of what the
        page asked for before; `keep` is told the same."""

        async def work() -> None:
            try:
                async with aclosing(self.workers.stream(function, subject, *arguments)) as answers:
                    async for each in answers:
                        found = msgspec.structs.replace(each, **asked)
                        page.send(found)
                        keep(found)
            except Exception as error:
                page.refuse(asked["request"], sentence(error))

        page.stop_task()
        page.task = self.tasks.start(work())

    async def analyse(self, page: Page, request: requests.Analyse) -> None:
        live = self.tables.find(page, request.table)
        game, saved = live.game, live.saved
        seen = await self.tables.call(host.look, game, saved, request.ply, request.line, 0)
        if game.rules.hidden and saved.players[seen.seat] != YOU:
            raise InvalidValue("hands are hidden: an analysis is for your own turn")
        if seen.over:
            raise InvalidValue("the game is over here: go back a move")
        network = request.network and NETWORK in self.catalogue.opponents(saved.game, game)
        agent = WITH_NETWORK if network and can_search_trees(game) else analysis_spec(game, SECONDS)
        asked = {**_asked(request, live), "ply": request.ply, "line": list(request.line)}
        self._show(page, asked, thinking.analyse, seen.place, agent)

    async def review(self, page: Page, request: requests.Review) -> None:
        live = self.tables.find(page, request.table)
        if not can_search_trees(live.game):
            raise InvalidValue(f"the review of a whole game is for {TREE_GAMES}; {live.game} is not one")
        if not live.saved.actions:
            raise InvalidValue("there is no move to review yet")
        if live.review is not None and live.review[0] == live.saved.actions:
            page.send(msgspec.structs.replace(live.review[1], request=request.request))
            return
        start = await self.tables.call(host.look, live.game, live.saved, 0, [], 0)
        actions = list(live.saved.actions)

        def keep(found: messages.Reviewed) -> None:
            if found.done and live.saved.actions == actions:
                live.review = (actions, found)

        spec = analysis_spec(live.game)
        self._show(page, _asked(request, live), thinking.review, start.place, spec, actions, keep=keep)

    def stop(self, page: Page, request: requests.Stop) -> None:
        page.stop_task()

    def ladder(self, page: Page, request: requests.Ladder) -> None:
        game = self.catalogue.load(request.game)
        choices = {each: self.catalogue.choice(request.game, game, each) for each in request.opponents}
        if len(choices) < 2:
            raise InvalidValue("a ladder needs at least two different agents")
        agents = {choice.spec(): choice.info for choice in choices.values()}
        self._show(page, {"request": request.request}, thinking.climb, game, agents, request.games)


def _asked(request: Any, live: Live) -> dict[str, Any]:
    """What the server adds to an answer about a table."""
    return {"request": request.request, "table": request.table, "revision": live.saved.revision}
