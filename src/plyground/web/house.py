"""The house: all tables and pages of a server. It carries out requests, lets agents think, and tells pages.

Everything here runs in one thread; what takes longer than a few milliseconds is done by workers.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import logging
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

import plyground
from plyground import specs
from plyground.agents.search import TREE_GAMES, can_search_trees
from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue
from plyground.game import Game
from plyground.play import typed
from plyground.play.saved import read_games
from plyground.web import messages, thinking, worker
from plyground.web.catalogue import NETWORK, YOU, Catalogue, seats_of
from plyground.web.learning import Runs
from plyground.web.page import Page
from plyground.web.store import Store
from plyground.web.table import FORMAT, WINS, Pruning, Saved, Table
from plyground.web.worker import place_of
from plyground.web.workers import Workers

SELDOM = (10_000, 20, 100)  # how often Python looks for cycles of objects that nobody uses
LOG = logging.getLogger("plyground")
MOST_TABLES = 600  # in memory: those that a page has open
MOST_OF_A_PAGE = 50  # tables that one page has open
MOST_PAGES = 400
LISTED = 200  # games in the list that a page is sent
WATCHED = 1.0  # seconds between two actions of agents, at first
SIGN_AFTER = 0.1  # seconds after which a thinking sign is shown
FOLLOW_EVERY = 1.0  # seconds between two looks at runs
LIST_EVERY, WRITE_EVERY = 1.0, 1.0  # seconds between two lists of games, and between two looks for changed ones
ANALYSIS, WITH_NETWORK, REVIEW = "search:time=8", "search:net=trained,time=8", "search:time=0.4"


class Live:
    """A table in memory, the pages that have it open, and who thinks about it."""

    def __init__(self, table: Table, agents: Sequence[Callable[[], str] | None]) -> None:
        self.table, self.agents = table, agents  # for each seat: how its agent is made; None: a person
        self.pages: set[Page] = set()
        self.thinker: asyncio.Task[None] | None = None
        self.flag: asyncio.TimerHandle | None = None  # when the clock of the side to move runs out
        self.review: tuple[int, messages.ReviewResult] | None = None  # of which revision

    def tell(self, message: messages.Sent) -> None:
        text = messages.encode(message)
        for page in self.pages:
            page.send_text(text)

    def stop_thinking(self) -> None:
        if self.thinker is not None:
            self.thinker.cancel()
            self.thinker = None


Handler = Callable[[Page, Any], Awaitable[None] | None]


class House:
    """All that a server holds."""

    def __init__(self, catalogue: Catalogue, store: Store, workers: Workers, runs: Runs) -> None:
        self.catalogue, self.store, self.workers, self.runs = catalogue, store, workers, runs
        self.pages: set[Page] = set()
        self.live: dict[str, Live] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.list_due = False
        self.told_runs: list[messages.RunInfo] = []  # the list of runs that all pages have
        self.handlers: dict[type[Any], Handler] = {
            messages.NewGame: self.new_game,
            messages.Open: self.open,
            messages.Close: self.close_table,
            messages.Delete: self.delete,
            messages.Look: self.look,
            messages.Play: self.play,
            messages.Say: self.say,
            messages.Undo: self.undo,
            messages.Resign: self.resign,
            messages.Pause: self.pause,
            messages.Speed: self.speed,
            messages.Hint: self.hint,
            messages.Fork: self.fork,
            messages.Analyse: self.analyse,
            messages.Review: self.review,
            messages.Stop: self.stop,
            messages.CopyGame: self.record,
            messages.Ladder: self.ladder,
            messages.Follow: self.follow,
            messages.StartDemo: self.start_demo,
            messages.StopRun: self.stop_run,
            messages.ResumeRun: self.resume_run,
            messages.WatchPolicy: self.watch_policy,
            messages.RunGames: self.run_games,
            messages.OpenRunGame: self.open_run_game,
        }

    async def prepare(self) -> None:
        """Load all games, here and in workers, before a person waits for one."""
        names = list(self.catalogue.words)
        games = [await self._ready(name, {}) for name in names]
        gc.collect()
        gc.freeze()  # compilers and rules stay for ever: looking through them takes 300 ms, in which nobody is answered
        gc.set_threshold(*SELDOM)  # tables hold many small objects, hardly any of them in cycles
        await self.workers.prepare(games)

    # ---- pages ----

    def welcome(self) -> messages.Welcome:
        return messages.Welcome(
            version=plyground.__version__,
            games=self.catalogue.infos(),
            tables=self.store.newest(LISTED),
            runs=self.runs.infos(),
            can_learn=importlib.util.find_spec("torch") is not None,
        )

    def enter(self, page: Page) -> bool:
        """A page has connected; False: there are too many."""
        if len(self.pages) >= MOST_PAGES:
            return False
        self.pages.add(page)
        page.send(self.welcome())
        return True

    def leave(self, page: Page) -> None:
        """A page is gone; its tables go on without it, as long as another page has them open."""
        self.pages.discard(page)
        page.gone = True
        page.stop_task()
        for name in list(page.tables):
            self._leave_table(page, name)

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
            page.refuse(request.request, self._sentence(error))

    def _sentence(self, error: Exception) -> str:
        """What a page is told of an error; of one that is not ours the kind alone, for it may quote a whole state."""
        if isinstance(error, Error):
            return str(error)
        LOG.error("a request or an agent has failed", exc_info=error)
        return f"the server has met an error that it does not know: {type(error).__name__}"

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler({"message": "a task has failed", "exception": error})

    async def close(self) -> None:
        """End everything that the server has started."""
        for page in list(self.pages):
            page.disconnect()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.store.flush()
        await self.runs.close()
        await self.workers.close()

    # ---- tables ----

    async def new_game(self, page: Page, request: messages.NewGame) -> None:
        game = await self._ready(request.game, request.settings)
        players = self._check_players(request.game, game, request.players)
        text, actions = await asyncio.to_thread(read_start, game, request.text, request.number)
        saved = self._saved(request.game, game, players, text, actions)
        if request.clock:
            saved.clock, saved.clocks = request.clock, [request.clock.seconds] * 2
        await self._begin(page, request.request, saved, game)

    def _saved(self, name: str, game: Game, players: list[str], text: str, actions: list[int]) -> Saved:
        """A new game; one without people is watched, at a pace."""
        return Saved(
            format=FORMAT,
            id=secrets.token_hex(8),
            game=name,
            settings={key: specs.text(value) for key, value in game.settings.items()},
            players=players,
            names=self._names(name, game, players),
            seed=secrets.randbits(48),
            text=text,
            actions=actions,
            speed=0.0 if YOU in players else WATCHED,
            changed=time.time(),
        )

    async def _ready(self, name: str, settings: dict[str, str]) -> Game:
        """A game whose kernels are loaded; the first time that takes a moment, in a thread."""
        game = self.catalogue.load(name, settings)

        def prepare() -> None:
            start = game.start()
            start.play(start.legal()[0]).scene()

        await asyncio.to_thread(prepare)
        return game

    def _check_players(self, name: str, game: Game, players: Sequence[str]) -> list[str]:
        seats = seats_of(game)
        if len(players) != seats:
            raise InvalidValue(f"{game} has {seats} seats, not {len(players)}: name a player for each")
        for player in set(players) - {YOU}:
            self.catalogue.choice(name, game, player)
        if game.rules.hidden and list(players).count(YOU) > 1:
            raise InvalidValue(f"hands are hidden in {game}: one seat is yours, the others are agents'")
        return list(players)

    def _names(self, name: str, game: Game, players: Sequence[str]) -> list[str]:
        return ["You" if player == YOU else self.catalogue.choice(name, game, player).info.name for player in players]

    async def _begin(self, page: Page, request: int, saved: Saved, game: Game) -> None:
        """A new table, which the page opens."""
        self._check_room(page)
        live = await self._seat(saved, game)
        self._save(live)
        page.send(messages.Opened(request, saved.id))
        self._enter_table(page, live, request)

    def _check_room(self, page: Page) -> None:
        if len(page.tables) >= MOST_OF_A_PAGE or len(self.live) >= MOST_TABLES:
            raise InvalidValue(f"{len(page.tables)} games are open here, {len(self.live)} on this server: close one")

    async def _seat(self, saved: Saved, game: Game) -> Live:
        """A table in memory. Its actions are played again, in a thread: a long game takes a moment."""
        agents = [
            None if player == YOU else self.catalogue.choice(saved.game, game, player).spec for player in saved.players
        ]
        table = await asyncio.to_thread(Table, saved, game)
        return self.live.setdefault(saved.id, Live(table, agents))

    async def open(self, page: Page, request: messages.Open) -> None:
        live = self.live.get(request.table)
        if live is None:
            self._check_room(page)
            saved = self.store.read(request.table)
            game = await self._ready(saved.game, saved.settings)
            live = self.live.get(request.table) or await self._seat(saved, game)
        self._enter_table(page, live, request.request)

    def _enter_table(self, page: Page, live: Live, request: int) -> None:
        live.pages.add(page)
        page.tables.add(live.table.id)
        live.table.run_clock(time.monotonic(), not live.table.saved.paused)
        page.send(live.table.message())
        page.send(live.table.position_message(len(live.table.moves), request=request))
        self._continue(live)

    def close_table(self, page: Page, request: messages.Close) -> None:
        self._leave_table(page, request.table)
        page.send(messages.Tables(self.store.newest(LISTED)))

    def _leave_table(self, page: Page, name: str) -> None:
        """A table that no page has open rests on disk: its agents and its clock stop."""
        page.tables.discard(name)
        live = self.live.get(name)
        if live is None:
            return
        live.pages.discard(page)
        if not live.pages:
            live.stop_thinking()
            live.table.run_clock(time.monotonic(), False)
            if live.flag:
                live.flag.cancel()
            self._save(live)
            del self.live[name]

    def delete(self, page: Page, request: messages.Delete) -> None:
        live = self.live.pop(request.table, None)
        if live is not None:
            live.stop_thinking()
            if live.flag:
                live.flag.cancel()
            live.tell(messages.Deleted(request.table))
            for each in live.pages:
                each.tables.discard(request.table)
        elif request.table not in self.store.infos:
            self.store.read(request.table)  # the error says that there is none
        self.store.remove(request.table)
        self._list_soon()

    def _find(self, page: Page, name: str) -> Live:
        if name not in page.tables or name not in self.live:
            raise InvalidValue("this page has not opened that game: open it first")
        return self.live[name]

    def _current(self, page: Page, request: Any) -> Live | None:
        """The table of a request that changes it; None, and a refusal, if the page has seen an older one."""
        live = self._find(page, request.table)
        if request.revision == live.table.saved.revision:
            return live
        page.refuse(request.request, "the game has changed since: look at it and try again", "stale")
        page.send(live.table.message())
        page.send(live.table.position_message(len(live.table.moves)))
        return None

    # ---- moves ----

    def play(self, page: Page, request: messages.Play) -> None:
        if live := self._current(page, request):
            live.table.play(request.ply, request.action, request.prune)
            self._changed(live)

    def say(self, page: Page, request: messages.Say) -> None:
        if live := self._current(page, request):
            live.table.say(request.ply, request.text, request.prune)
            self._changed(live)

    def undo(self, page: Page, request: messages.Undo) -> None:
        if live := self._current(page, request):
            live.table.undo(request.ply)
            self._changed(live)

    def resign(self, page: Page, request: messages.Resign) -> None:
        if live := self._current(page, request):
            live.table.resign()
            self._changed(live)

    def pause(self, page: Page, request: messages.Pause) -> None:
        live = self._find(page, request.table)
        live.table.pause(request.paused)
        self._changed(live)

    def speed(self, page: Page, request: messages.Speed) -> None:
        live = self._find(page, request.table)
        live.table.saved.speed = request.seconds
        live.tell(live.table.message())
        self._save(live)

    def look(self, page: Page, request: messages.Look) -> None:
        live = self._find(page, request.table)
        page.send(live.table.position_message(request.ply, request.line, request.request))

    def _changed(self, live: Live) -> None:
        """Tell the pages, keep the game, and let the next one act."""
        live.stop_thinking()
        table = live.table
        table.run_clock(time.monotonic(), bool(live.pages) and not table.saved.paused)
        live.tell(table.message())
        live.tell(table.position_message(len(table.moves)))
        self._save(live)
        self._continue(live)

    def _continue(self, live: Live) -> None:
        """Let an agent think, if it is to act, and watch the clock."""
        table = live.table
        if live.flag:
            live.flag.cancel()
            live.flag = None
        if table.clock_since is not None:
            left = table.time_left(time.monotonic())[table.position.to_move]
            live.flag = asyncio.get_running_loop().call_later(left + 0.01, self._flag_falls, live)
        if live.thinker is None and table.agent_to_move and not table.saved.paused:
            live.thinker = self.start(self._think(live))

    def _flag_falls(self, live: Live) -> None:
        table = live.table
        loser = table.position.to_move
        if not table.over:
            table.run_clock(time.monotonic(), False)
            sides = table.game.rules.SIDES
            table.end(WINS[1 - loser], f"The time of {sides[loser]} is over: {sides[1 - loser]} wins.")
            self._changed(live)

    async def _think(self, live: Live) -> None:
        """One action of an agent; failing, the game is paused and its pages are told why."""
        table, loop = live.table, asyncio.get_running_loop()
        seat, begun = table.seats[-1], time.monotonic()
        name = table.saved.names[seat]
        sign = loop.call_later(SIGN_AFTER, live.tell, messages.Thinking(table.id, True, name))
        shown = loop.time() + SIGN_AFTER
        make_spec = live.agents[seat]
        try:
            spec = make_spec() if make_spec else ""
            action = await self.workers.think(table.position, spec, random.getrandbits(48))
            if not table.people:
                await asyncio.sleep(max(0.0, table.saved.speed - (time.monotonic() - begun)))
            table.reply(action)
        except Exception as error:
            live.thinker = None
            table.saved.paused = True
            live.tell(messages.Failed(table.id, f"{name} has failed: {self._sentence(error)}. The game is paused."))
            self._changed(live)
            return
        finally:
            sign.cancel()
            if loop.time() >= shown:
                live.tell(messages.Thinking(table.id, False, name))
        live.thinker = None
        self._changed(live)

    def _save(self, live: Live) -> None:
        self.store.keep(live.table.saved, live.table.info())
        self._list_soon()

    def _list_soon(self) -> None:
        """Send the list of games to all pages that show it, not more often than once in LIST_EVERY seconds."""
        if not self.list_due:
            self.list_due = True
            asyncio.get_running_loop().call_later(LIST_EVERY, self._send_list)

    def _send_list(self) -> None:
        self.list_due = False
        text = messages.encode(messages.Tables(self.store.newest(LISTED)))
        for page in self.pages:
            if not page.tables:
                page.send_text(text)

    async def write_games(self) -> None:
        """Write the games that have changed, once in WRITE_EVERY seconds; on a slow disk one after the other."""
        while True:
            await asyncio.sleep(WRITE_EVERY)
            try:
                await asyncio.to_thread(self.store.flush)
            except Error as error:  # a full disk: games go on in memory
                for page in self.pages:
                    page.send(messages.Failed("", str(error)))

    # ---- understanding ----

    def hint(self, page: Page, request: messages.Hint) -> None:
        live = self._find(page, request.table)
        table = live.table
        if table.over:
            raise IllegalAction("the game is over: there is nothing to advise")
        if table.agent_to_move:
            raise IllegalAction("it is not your turn: a hint is for your own move")
        self.start(self._hint(page, request, table))

    async def _hint(self, page: Page, request: messages.Hint, table: Table) -> None:
        revision, position = table.saved.revision, table.position
        place = place_of(position)
        try:
            found = await self.workers.ask(lambda number: worker.Advise(number=number, place=place), thinking.Advice)
        except Error as error:
            page.refuse(request.request, f"there is no hint: {error}")
            return
        clicks = position.clicks(found.action)
        page.send(messages.Hinted(request.request, table.id, revision, found.action, clicks, found.text))

    def _replace_task(self, page: Page, work: Coroutine[Any, Any, None], request: int = 0) -> None:
        """Let a page's analysis take the place of its former one."""

        async def guarded() -> None:
            try:
                await work
            except Exception as error:
                page.refuse(request, self._sentence(error))

        page.stop_task()
        page.task = self.start(guarded())

    def analyse(self, page: Page, request: messages.Analyse) -> None:
        table = self._find(page, request.table).table
        position = table.along(request.ply, request.line)[-1]
        if table.game.rules.hidden and table.saved.players[position.seat] != YOU:
            raise InvalidValue("hands are hidden: an analysis is for your own turn")
        if position.over:
            raise InvalidValue("the game is over here: go back a move")
        network = request.network and NETWORK in self.catalogue.opponents(table.saved.game, table.game)
        agent = WITH_NETWORK if network and can_search_trees(table.game) else ANALYSIS
        place = place_of(position)
        self._replace_task(page, self._analyse(page, request, table, place, agent), request.request)

    async def _analyse(
        self, page: Page, request: messages.Analyse, table: Table, place: worker.Place, agent: str
    ) -> None:
        revision, last = table.saved.revision, None

        def send(found: thinking.Found, done: bool) -> None:
            page.send(
                messages.Analysis(
                    request=request.request,
                    table=table.id,
                    revision=revision,
                    ply=request.ply,
                    line=list(request.line),
                    side=found.side,
                    value=found.value,
                    proven=found.proven,
                    simulations=found.simulations,
                    seconds=found.seconds,
                    moves=found.moves,
                    threats=found.threats,
                    done=done,
                )
            )

        answers = self.workers.stream(
            lambda number: worker.Analyse(number=number, place=place, agent=agent, threats=True), thinking.Found
        )
        async with aclosing(answers) as stream:
            async for found in stream:
                if last is not None:
                    send(last, False)
                last = found
        if last is not None:
            send(last, True)

    def review(self, page: Page, request: messages.Review) -> None:
        live = self._find(page, request.table)
        table = live.table
        if not can_search_trees(table.game):
            raise InvalidValue(f"the review of a whole game is for {TREE_GAMES}; {table.game} is not one")
        if not table.moves:
            raise InvalidValue("there is no move to review yet")
        if live.review is not None and live.review[0] == len(table.moves):
            page.send(msgspec.structs.replace(live.review[1], request=request.request))
            return
        self._replace_task(page, self._review(page, request, live), request.request)

    async def _review(self, page: Page, request: messages.Review, live: Live) -> None:
        table, actions = live.table, list(live.table.saved.actions)
        revision, place = table.saved.revision, place_of(live.table.positions[0])
        answers = self.workers.stream(
            lambda number: worker.Review(number=number, place=place, agent=REVIEW, actions=actions), thinking.Reviewed
        )
        async with aclosing(answers) as stream:
            async for found in stream:
                done = len(found.plies) == found.length
                message = messages.ReviewResult(
                    request.request, table.id, revision, found.plies, found.length, found.worst, found.accuracy, done
                )
                page.send(message)
                if done and table.saved.actions == actions:
                    live.review = (len(actions), message)

    def stop(self, page: Page, request: messages.Stop) -> None:
        page.stop_task()

    def record(self, page: Page, request: messages.CopyGame) -> None:
        table = self._find(page, request.table).table
        position = table.along(request.ply, ())[0]
        text = table.game.rules.view(position.state, table.view(request.ply))
        page.send(messages.Recorded(request.request, text, table.record()))

    async def fork(self, page: Page, request: messages.Fork) -> None:
        """A new table from a ply on."""
        old = self._find(page, request.table).table
        old.along(request.ply, request.line)  # the error names what is wrong with the line
        saved, game = old.saved, old.game
        players = self._check_players(saved.game, game, request.players or saved.players)
        if game.rules.hidden and [each == YOU for each in players] != [each == YOU for each in saved.players]:
            raise InvalidValue("hands are hidden: a game that is tried again has the same seats")
        new = self._saved(saved.game, game, players, saved.text, [*saved.actions[: request.ply], *request.line])
        new.seed = saved.seed
        await self._begin(page, request.request, new, game)

    def ladder(self, page: Page, request: messages.Ladder) -> None:
        game = self.catalogue.load(request.game)
        choices = {each: self.catalogue.choice(request.game, game, each) for each in request.opponents}
        if len(choices) < 2:
            raise InvalidValue("a ladder needs at least two different agents")
        agents = {choice.spec(): choice.info for choice in choices.values()}
        self._replace_task(page, self._climb(page, request, game, agents), request.request)

    async def _climb(
        self, page: Page, request: messages.Ladder, game: Game, agents: dict[str, messages.Opponent]
    ) -> None:
        names = list(agents)
        answers = self.workers.stream(
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

    # ---- runs ----

    def follow(self, page: Page, request: messages.Follow) -> None:
        self.runs.check(request.runs)
        page.runs = dict.fromkeys(request.runs, 0)
        self.runs.send_curves(page)

    async def start_demo(self, page: Page, request: messages.StartDemo) -> None:
        await self.runs.start_demo()
        self.tell_runs()

    def stop_run(self, page: Page, request: messages.StopRun) -> None:
        self.runs.stop(request.run)

    async def resume_run(self, page: Page, request: messages.ResumeRun) -> None:
        await self.runs.resume(request.run)
        self.tell_runs()

    def tell_runs(self) -> None:
        self.told_runs = self.runs.infos()
        message = messages.RunsChanged(self.told_runs)
        for page in self.pages:
            page.send(message)

    def watch_policy(self, page: Page, request: messages.WatchPolicy) -> None:
        if request.run:
            self.runs.check([request.run])
            self.runs.game_of(request.run).position(request.text)  # the error says what is wrong with it
        page.policy, page.policy_step = (request.run, request.text), -1

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
                for page in self.pages:
                    page.send(message)
            for page in list(self.pages):
                self.runs.send_curves(page)
                self._show_newest(page)

    def _show_newest(self, page: Page) -> None:
        """Let the newest checkpoint of the run that a page watches look at the page's position."""
        run, text = page.policy
        step = self.runs.newest(run) if run else -1
        if step > page.policy_step and (page.policy_task is None or page.policy_task.done()):
            page.policy_step = step
            page.policy_task = self.start(self._show_policy(page, run, text, step))

    async def _show_policy(self, page: Page, run: str, text: str, step: int) -> None:
        try:
            position = self.runs.game_of(run).position(text)
            place, path = place_of(position), str(self.runs.folder / run)
            found = await self.workers.ask(
                lambda number: worker.ShowPolicy(number=number, place=place, run=path, step=step),
                thinking.NetworkPolicy,
            )
        except Error as error:  # the checkpoint may have been removed meanwhile
            page.send(messages.Failed("", str(error)))
            return
        if page.policy == (run, text):
            page.send(messages.Policy(run, step, position.scene(), found.value, found.moves, found.puzzles))

    def run_games(self, page: Page, request: messages.RunGames) -> None:
        page.send(messages.SavedGames(request.request, request.run, self.runs.games(request.run)))

    async def open_run_game(self, page: Page, request: messages.OpenRunGame) -> None:
        """A table to walk through a saved game; both sides are the person's, to try other moves."""
        name, game, names, text, actions = self.runs.game(request.run, request.file, request.number)
        if game.rules.hidden:
            raise InvalidValue(f"games of {game} that a run has saved cannot be shown: hands are hidden")
        await self._ready(name, {key: specs.text(value) for key, value in game.settings.items()})
        saved = self._saved(name, game, [YOU] * seats_of(game), text, actions)
        saved.names = names
        await self._begin(page, request.request, saved, game)


def read_start(game: Game, text: str, number: int) -> tuple[str, list[int]]:
    """Where a game begins: the text of a position (empty: the usual start) and the actions that were played."""
    if not text.strip():
        return "", []
    try:
        games = read_games(text, game)
    except Error as error:
        as_game = error
    else:
        if not 1 <= number <= len(games):
            raise InvalidValue(f"the text has {len(games)} games: there is no number {number}")
        start, actions = games[number - 1]
        return ("" if start == game.start() and not game.rules.CHANCE else start.text), actions
    try:
        return game.position(text).text, []
    except Error as error:
        raise InvalidText(f"this is neither a position ({error}) nor a game ({as_game})") from None
