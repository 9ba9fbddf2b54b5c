"""The house: all pages of a server, its tables and its runs. It carries out requests.

Everything here runs in one thread; what takes longer than a few milliseconds is done by workers.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import msgspec

import plyground
from plyground.errors import Error, InvalidText, InvalidValue
from plyground.game import Game
from plyground.play import typed
from plyground.web import host, messages, requests, thinking
from plyground.web.catalogue import YOU, Catalogue, seats_of
from plyground.web.learning import Runs
from plyground.web.page import Page
from plyground.web.store import Store
from plyground.web.study import Study
from plyground.web.table import Pruning
from plyground.web.tables import LISTED, Tables
from plyground.web.tasks import LOG, Tasks, hold, sentence
from plyground.web.workers import Workers

SELDOM = (10_000, 20, 100)  # how often Python looks for cycles of objects that nobody uses
MOST_PAGES = 400
PROMPT = 0.25  # seconds after which a request no longer holds up the next one of its page
FOLLOW_EVERY = 1.0  # seconds between two looks at runs
Handler = Callable[[Page, Any], Awaitable[None] | None]


class House:
    """All that a server holds."""

    def __init__(self, catalogue: Catalogue, store: Store, workers: Workers, runs: Runs) -> None:
        self.catalogue, self.workers, self.runs = catalogue, workers, runs
        self.pages: set[Page] = set()
        self.tasks = Tasks()
        self.told_runs: list[messages.RunInfo] = []  # the list of runs that all pages have
        self.tables = Tables(catalogue, store, workers, self.tasks, self.pages)
        self.study = Study(catalogue, self.tables, workers, self.tasks)
        self.handlers: dict[type[Any], Handler] = {}
        for kind in requests.KINDS:  # its method is named as itself: of tables, of study, or here
            name = "command" if issubclass(kind, requests.Change) else kind.__struct_config__.tag
            parts = self.tables, self.study, self
            self.handlers[kind] = next(getattr(part, name) for part in parts if hasattr(part, name))

    async def prepare(self) -> None:
        """Load all games, here and in workers, before a person waits for one. A game that fails does so alone; game
        files come last, for they may have to be compiled."""
        games = sorted(map(self.catalogue.load, self.catalogue.words), key=lambda game: bool(game.path))
        ours = [await self.tables.load(game) for game in games if not game.path]
        gc.collect()
        gc.freeze()  # compilers and rules stay for ever: looking through them takes 300 ms, in which nobody is answered
        gc.set_threshold(*SELDOM)  # tables hold many small objects, hardly any of them in cycles
        await self.workers.prepare(ours)
        for game in games:
            if game.path:
                try:
                    await self.workers.prepare([await self.tables.load(game)])
                except Error as error:
                    LOG.warning("%s cannot be played: %s", game, error)

    # ---- pages ----

    def welcome(self) -> messages.Welcome:
        return messages.Welcome(
            version=plyground.__version__,
            games=self.catalogue.infos(),
            tables=self.tables.store.newest(LISTED),
            runs=self.runs.infos(),
        )

    def enter(self, page: Page) -> bool:
        """A page has connected; False: there are too many."""
        if len(self.pages) >= MOST_PAGES:
            return False
        self.pages.add(page)
        page.send(self.welcome())
        return True

    async def leave(self, page: Page) -> None:
        """A page is gone; its tables go on without it, as long as another page has them open."""
        self.pages.discard(page)
        page.gone = True
        page.stop_task()
        page.stop_hint()
        for task in page.requests:
            task.cancel()
        for name in list(page.tables):
            await self.tables.leave(page, name)

    async def accept(self, page: Page, request: Any) -> None:
        """Carry out a request, and wait for its end, but not for long: a worker may have to compute it."""
        await asyncio.wait([hold(page.requests, self.handle(page, request))], timeout=PROMPT)

    async def handle(self, page: Page, request: Any) -> None:
        """Carry out a request; what is wrong with it is one sentence to the page."""
        try:
            done = self.handlers[type(request)](page, request)
            if done is not None:
                await done
        except Pruning as error:
            page.refuse(request.request, str(error), "prune")
        except typed.Ambiguous as error:
            page.refuse(request.request, str(error), "ambiguous")
        except Exception as error:  # whatever a game or an agent of a person's own does
            page.refuse(request.request, sentence(error))

    async def close(self) -> None:
        """End everything that the server has started, even if the games cannot be written."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.workers.close)
            stack.push_async_callback(self.runs.close)
            for page in list(self.pages):
                page.disconnect()
            await self.tasks.close()
            self.tables.store.flush()

    # ---- runs ----

    def follow(self, page: Page, request: requests.Follow) -> None:
        self.runs.check(request.runs)
        page.runs = dict.fromkeys(request.runs, 0)
        self.runs.send_curves(page)

    async def start_demo(self, page: Page, request: requests.StartDemo) -> None:
        await self.runs.start_demo()
        self.tell_runs()

    def stop_run(self, page: Page, request: requests.StopRun) -> None:
        self.runs.stop(request.run)
        self.tell_runs()

    async def resume_run(self, page: Page, request: requests.ResumeRun) -> None:
        await self.runs.resume(request.run)
        self.tell_runs()

    def tell_runs(self) -> None:
        self.told_runs = self.runs.infos()
        self.tables.tell_all(messages.RunsChanged(self.told_runs))

    async def watch_policy(self, page: Page, request: requests.WatchPolicy) -> None:
        if request.run:
            game = await self._game_of_run(request.run)
            await self.tables.call(host.check_position, game, request.text)
        page.policy, page.policy_step = (request.run, request.text), -1

    async def _game_of_run(self, run: str) -> Game:
        """The game that a run has learned, its kernels loaded."""
        self.runs.check([run])
        name, settings = self.runs.spec_of(run)
        return await self.tables.ready(name, settings)

    async def follow_runs(self) -> None:
        """Tell pages what is new in runs, once a second."""
        while True:
            await asyncio.sleep(FOLLOW_EVERY)
            if not self.pages:
                continue
            infos, before = self.runs.infos(), self.told_runs
            if infos != before:
                message = messages.RunsChanged(infos)
                opponents = [info.opponent for info in infos if info.opponent]
                if before and opponents != [info.opponent for info in before if info.opponent]:
                    message = self.welcome()
                self.told_runs = infos
                self.tables.tell_all(message)
            for page in list(self.pages):
                self.runs.send_curves(page)
                run, text = page.policy  # the newest checkpoint of that run looks at the page's position
                step = self.runs.newest(run) if run else -1
                if step > page.policy_step and (page.policy_task is None or page.policy_task.done()):
                    page.policy_step = step
                    page.policy_task = self.tasks.start(self._show_policy(page, run, text, step))

    async def _show_policy(self, page: Page, run: str, text: str, step: int) -> None:
        try:
            path, game = str(self.runs.folder / run), self.runs.game_of(run)
            found = await self.workers.ask(thinking.show_policy, game, text, path, step)
        except Error as error:  # the checkpoint may have been removed meanwhile
            page.send(messages.Failed("", str(error)))
            return
        if page.policy == (run, text):
            page.send(msgspec.structs.replace(found, run=run, step=step))

    def run_games(self, page: Page, request: requests.RunGames) -> None:
        page.send(messages.SavedGames(request.request, request.run, self.runs.games(request.run)))

    async def open_run_game(self, page: Page, request: requests.OpenRunGame) -> None:
        """A table to walk through a saved game; both sides are the person's, to try other moves."""
        game = await self._game_of_run(request.run)
        if game.rules.hidden:
            raise InvalidValue(f"games of {game} that a run has saved cannot be shown: hands are hidden")
        name, head, moves = self.runs.game(request.run, request.file, request.number)
        try:
            start = await self.tables.call(thinking.read_kept, game, head, moves)
        except Error as error:
            which = f"the game {request.number} at step {request.file} of {request.run}"
            raise InvalidText(f"{which} cannot be read: {error}") from None
        saved = self.tables.new_saved(name, game, [YOU] * seats_of(game), start.text, start.actions)
        saved.names = start.players
        await self.tables.begin(page, request.request, saved, game)
