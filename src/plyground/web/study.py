"""Understanding a game: hints, analyses, reviews and ladders for a page, from workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

import msgspec

from plyground.agents.levels import analysis_spec
from plyground.agents.search import TREE_GAMES, can_search_trees
from plyground.errors import Error, IllegalAction, InvalidValue
from plyground.game import Game
from plyground.web import host, messages, requests, thinking, worker
from plyground.web.catalogue import NETWORK, YOU, Catalogue
from plyground.web.page import Page
from plyground.web.tables import Live, Tables
from plyground.web.tasks import Tasks, sentence
from plyground.web.workers import Workers

SECONDS, WITH_NETWORK = 8.0, "search:model=trained,time=8"  # of an analysis


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
        revision, place = live.saved.revision, live.now.place
        try:
            found = await self.workers.ask(
                place.game, lambda number: worker.Advise(number=number, place=place), thinking.Advice
            )
        except Error as error:
            page.refuse(request.request, f"there is no hint: {error}")
            return
        except asyncio.CancelledError:
            page.refuse(request.request, "a newer hint takes the place of this one")
            raise
        table = request.table
        page.send(messages.Hinted(request.request, table, revision, found.action, found.clicks, found.text))

    def _replace_task(self, page: Page, work: Callable[[], Coroutine[Any, Any, None]], request: int) -> None:
        """Let a page's analysis take the place of its former one. Its coroutine is made when it begins: of one that is
        replaced before that nobody would await it."""

        async def guarded() -> None:
            try:
                await work()
            except Exception as error:
                page.refuse(request, sentence(error))

        page.stop_task()
        page.task = self.tasks.start(guarded())

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
        self._replace_task(page, lambda: self._analyse(page, request, live, seen.place, agent), request.request)

    async def _analyse(self, page: Page, request: requests.Analyse, live: Live, place: host.Place, agent: str) -> None:
        revision, last = live.saved.revision, None

        def send(found: thinking.Found, done: bool) -> None:
            page.send(
                messages.Analysis(
                    request=request.request,
                    table=request.table,
                    revision=revision,
                    ply=request.ply,
                    line=list(request.line),
                    side=found.side,
                    value=found.value,
                    proven=found.proven,
                    effort=found.effort,
                    seconds=found.seconds,
                    moves=found.moves,
                    threats=found.threats,
                    done=done,
                )
            )

        answers = self.workers.stream(
            place.game,
            lambda number: worker.Analyse(number=number, place=place, agent=agent, threats=True),
            thinking.Found,
        )
        async with aclosing(answers) as stream:
            async for found in stream:
                if last is not None:
                    send(last, False)
                last = found
        if last is not None:
            send(last, True)

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
        self._replace_task(page, lambda: self._review(page, request, live, start.place), request.request)

    async def _review(self, page: Page, request: requests.Review, live: Live, place: host.Place) -> None:
        revision, actions = live.saved.revision, list(live.saved.actions)
        agent = analysis_spec(live.game)
        answers = self.workers.stream(
            place.game,
            lambda number: worker.Review(number=number, place=place, agent=agent, actions=actions),
            thinking.Reviewed,
        )
        async with aclosing(answers) as stream:
            async for found in stream:
                done = len(found.plies) == found.length
                message = messages.ReviewResult(
                    request.request,
                    request.table,
                    revision,
                    found.plies,
                    found.length,
                    found.worst,
                    found.accuracy,
                    done,
                )
                page.send(message)
                if done and live.saved.actions == actions:
                    live.review = (actions, message)

    def stop(self, page: Page, request: requests.Stop) -> None:
        page.stop_task()

    def ladder(self, page: Page, request: requests.Ladder) -> None:
        game = self.catalogue.load(request.game)
        choices = {each: self.catalogue.choice(request.game, game, each) for each in request.opponents}
        if len(choices) < 2:
            raise InvalidValue("a ladder needs at least two different agents")
        agents = {choice.spec(): choice.info for choice in choices.values()}
        self._replace_task(page, lambda: self._climb(page, request, game, agents), request.request)

    async def _climb(
        self, page: Page, request: requests.Ladder, game: Game, agents: dict[str, messages.Opponent]
    ) -> None:
        names = list(agents)
        answers = self.workers.stream(
            game.full,
            lambda number: worker.Climb(number=number, game=game.full, agents=names, games=request.games),
            thinking.Climbed,
        )
        async with aclosing(answers) as stream:
            async for found in stream:
                rungs = [
                    msgspec.structs.replace(each, id=agents[each.id].id, name=agents[each.id].name)
                    for each in found.rungs
                ]
                pair = " against ".join(agents[each].name for each in found.next)
                page.send(messages.Laddered(request.request, rungs, pair, not found.next))
