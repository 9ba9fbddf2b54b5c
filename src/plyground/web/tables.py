"""Tables that pages have open: people and agents play, clocks run, pages are told, games are kept.

Everything here runs in one thread; what takes longer than a few milliseconds is done by workers or in a thread.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from plyground import specs
from plyground.errors import Error, InvalidValue
from plyground.game import Game
from plyground.play.redraw import taken_back
from plyground.web import messages, requests, thinking, worker
from plyground.web.catalogue import YOU, Catalogue, seats_of, title_of
from plyground.web.page import Page
from plyground.web.store import MOST, Store
from plyground.web.table import FORMAT, WINS, YOUR_NAME, Saved, Table, opened, sealed
from plyground.web.tasks import Tasks, sentence
from plyground.web.workers import WorkerFailed, Workers

MOST_TABLES = 600  # in memory: those that a page has open
MOST_OF_A_PAGE = 50  # tables that one page has open
LISTED = 200  # games in the list that a page is sent
WATCHED = 1.0  # seconds between two actions of agents, at first
SIGN_AFTER = 0.1  # seconds after which a thinking sign is shown
LIST_EVERY, WRITE_EVERY = 1.0, 1.0  # seconds between two lists of games, and between two looks for changed ones


class Live:
    """A table in memory, the pages that have it open, and who thinks about it."""

    def __init__(self, table: Table, agents: Sequence[Callable[[], str] | None]) -> None:
        self.table, self.agents = table, agents  # for each seat: how its agent is made; None: a person
        self.pages: set[Page] = set()
        self.thinker: asyncio.Task[None] | None = None
        self.flag: asyncio.TimerHandle | None = None  # when the clock of the side to move runs out
        self.review: tuple[list[int], messages.ReviewResult] | None = None  # the reviewed actions, and their review

    def tell(self, message: messages.Sent) -> None:
        text = messages.encode(message)
        for page in self.pages:
            page.send_text(text)

    def stop_thinking(self) -> None:
        if self.thinker is not None:
            self.thinker.cancel()
            self.thinker = None


class Tables:
    """All tables that some page has open, and the list of all games."""

    def __init__(self, catalogue: Catalogue, store: Store, workers: Workers, tasks: Tasks, pages: set[Page]) -> None:
        self.catalogue, self.store, self.workers, self.tasks, self.pages = catalogue, store, workers, tasks, pages
        self.live: dict[str, Live] = {}
        self.list_due = False

    # ---- beginning, opening, closing ----

    async def new_game(self, page: Page, request: requests.NewGame) -> None:
        studied = set(request.players) == {YOU}
        told = self.catalogue.told(request.text) if studied else None  # which game a list shows does not matter then
        name, settings = told or (request.game, request.settings)
        game = await self.ready(name, settings)
        try:
            players = self._check_players(name, game, [YOU] * seats_of(game) if told else request.players)
            start = await self._read(game, request.text, request.number)
        except Error as error:
            if not studied or told or not request.text.strip() or isinstance(error, WorkerFailed):
                raise
            name, game, start = await self._read_as_another(name, request, error)
            players = self._check_players(name, game, [YOU] * seats_of(game))
        saved = self.new_saved(name, game, players, start.text, start.actions)
        if studied and start.players:
            saved.names = [start.players[seat % 2] or own for seat, own in enumerate(saved.names)]
        if request.clock:
            saved.clock, saved.clocks = request.clock, [request.clock.seconds] * 2
        await self.begin(page, request.request, saved, game, "" if name == request.game else title_of(name))

    async def _read(self, game: Game, text: str, number: int) -> thinking.Start:
        """Where a game begins. A worker reads the text: a page may send any, and a long one takes time."""
        if not text.strip():
            return thinking.Start("", [])
        spec = game.full
        return await self.workers.ask(
            lambda job: worker.ReadText(number=job, game=spec, text=text, which=number), thinking.Start
        )

    async def _read_as_another(
        self, name: str, request: requests.NewGame, error: Error
    ) -> tuple[str, Game, thinking.Start]:
        """The one other game of the list that can read a text to study, of several that with a file format of its own;
        the error, where there is none."""
        found = dict[str, tuple[str, Game, thinking.Start]]()
        for other in self.catalogue.words:
            if other != name and not self.catalogue.load(other).rules.hidden:  # nobody may have all its seats
                game = await self.ready(other, {})
                with suppress(Error):
                    found[other] = other, game, await self._read(game, request.text, request.number)
        formats = [other for other, (_, game, _) in found.items() if game.rules.read_records is not None]
        if len(formats) == 1:
            return found[formats[0]]
        if len(found) > 1:
            names = " and ".join(map(title_of, found))
            raise InvalidValue(f"{title_of(name)} cannot read this text, {names} can: choose one of them") from error
        if not found:
            raise InvalidValue(f"{error}. Of another game? Choose that above") from error
        return next(iter(found.values()))

    def new_saved(self, name: str, game: Game, players: list[str], text: str, actions: list[int]) -> Saved:
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

    async def ready(self, name: str, settings: dict[str, str]) -> Game:
        """A game whose kernels are loaded; the first time that takes a moment, in a thread."""
        game = self.catalogue.load(name, settings)

        def prepare() -> None:
            start = game.start()
            start.play(start.legal()[0]).redrawn(0, 0).scene()

        await asyncio.to_thread(prepare)
        return game

    def _check_players(self, name: str, game: Game, players: Sequence[str]) -> list[str]:
        seats = seats_of(game)
        if len(players) != seats:
            raise InvalidValue(f"{game} has {seats} seats, not {len(players)}: name a player for each")
        for player in set(players) - {YOU}:
            self.catalogue.choice(name, game, player)
        if game.rules.hidden and set(players) == {YOU}:
            raise InvalidValue("games with hidden cards cannot be studied: plyground play --load FILE goes on with one")
        if game.rules.hidden and list(players).count(YOU) > 1:
            raise InvalidValue(f"hands are hidden in {game}: one seat is yours, the others are agents'")
        return list(players)

    def _names(self, name: str, game: Game, players: Sequence[str]) -> list[str]:
        return [
            YOUR_NAME if player == YOU else self.catalogue.choice(name, game, player).info.name for player in players
        ]

    async def begin(self, page: Page, request: int, saved: Saved, game: Game, read_as: str = "") -> None:
        """A new table, which the page opens; `read_as`: the game of its text, where another was asked for."""
        self._check_room(page)
        if removed := self.store.make_room(self.live):
            text = f"{removed.title} is removed: it was over or empty, and the oldest such of {MOST} games"
            self._tell_all(messages.Failed("", text))
        live = await self._seat(saved, game)
        self._save(live)
        page.send(messages.Opened(request, saved.id, read_as))
        self._enter(page, live, request)

    def _check_room(self, page: Page) -> None:
        if len(page.tables) >= MOST_OF_A_PAGE or len(self.live) >= MOST_TABLES:
            raise InvalidValue(f"{len(page.tables)} games are open here, {len(self.live)} on this server: close one")

    async def _seat(self, saved: Saved, game: Game) -> Live:
        """A table in memory. Its actions are played again, in a thread: a long game takes a moment."""
        there = self.catalogue.opponents(saved.game, game)
        agents = [None if each == YOU else there[each].spec if each in there else gone(each) for each in saved.players]
        table = await asyncio.to_thread(Table, saved, game)
        return self.live.setdefault(saved.id, Live(table, agents))

    async def open(self, page: Page, request: requests.Open) -> None:
        live = self.live.get(request.table)
        if live is None:
            self._check_room(page)
            saved = opened(self.store.read(request.table))
            game = await self.ready(saved.game, saved.settings)
            live = self.live.get(request.table) or await self._seat(saved, game)
        self._enter(page, live, request.request)

    def _enter(self, page: Page, live: Live, request: int) -> None:
        live.pages.add(page)
        page.tables.add(live.table.id)
        live.table.run_clock(time.monotonic(), not live.table.saved.paused)
        page.send(live.table.message())
        page.send(live.table.position_message(len(live.table.moves), request=request))
        self._continue(live)

    def close(self, page: Page, request: requests.Close) -> None:
        self.leave(page, request.table)
        page.send(messages.Tables(self.store.newest(LISTED)))

    def leave(self, page: Page, name: str) -> None:
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

    def delete(self, page: Page, request: requests.Delete) -> None:
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

    async def fork(self, page: Page, request: requests.Fork) -> None:
        """A new table from a ply on, in which what the person has not seen there is drawn anew."""
        old = self.find(page, request.table).table
        old.along(request.ply, request.line)  # the error names what is wrong with the line
        saved, game = old.saved, old.game
        players = self._check_players(saved.game, game, request.players or saved.players)
        if game.rules.hidden and [each == YOU for each in players] != [each == YOU for each in saved.players]:
            raise InvalidValue("hands are hidden: a game that is tried again has the same seats")
        new = self.new_saved(saved.game, game, players, saved.text, [*saved.actions[: request.ply], *request.line])
        new.seed = saved.seed
        _, new.redraws = taken_back(old.positions[request.ply], request.ply, old.view(request.ply), saved.redraws)
        await self.begin(page, request.request, new, game)

    def find(self, page: Page, name: str) -> Live:
        if name not in page.tables or name not in self.live:
            raise InvalidValue("this page has not opened that game: open it first")
        return self.live[name]

    def _current(self, page: Page, request: Any) -> Live | None:
        """The table of a request that changes it; None, and a refusal, if the page has seen an older one."""
        live = self.find(page, request.table)
        if request.revision == live.table.saved.revision:
            return live
        page.refuse(request.request, "the game has changed since: look at it and try again", "stale")
        page.send(live.table.message())
        page.send(live.table.position_message(len(live.table.moves)))
        return None

    # ---- moves ----

    def play(self, page: Page, request: requests.Play) -> None:
        if live := self._current(page, request):
            live.table.play(request.ply, request.action, request.prune)
            self._changed(live)

    def say(self, page: Page, request: requests.Say) -> None:
        if live := self._current(page, request):
            live.table.say(request.ply, request.text, request.prune)
            self._changed(live)

    def undo(self, page: Page, request: requests.Undo) -> None:
        if live := self._current(page, request):
            live.table.undo(request.ply)
            self._changed(live)

    def resign(self, page: Page, request: requests.Resign) -> None:
        if live := self._current(page, request):
            live.table.resign()
            self._changed(live)

    def pause(self, page: Page, request: requests.Pause) -> None:
        live = self.find(page, request.table)
        live.table.pause(request.paused)
        self._changed(live)

    def speed(self, page: Page, request: requests.Speed) -> None:
        live = self.find(page, request.table)
        live.table.saved.speed = request.seconds
        self._save(live)
        live.tell(live.table.message())

    def look(self, page: Page, request: requests.Look) -> None:
        live = self.find(page, request.table)
        page.send(live.table.position_message(request.ply, request.line, request.request))

    def record(self, page: Page, request: requests.CopyGame) -> None:
        table = self.find(page, request.table).table
        position = table.along(request.ply, ())[0]
        text = table.game.rules.view(position.state, table.view(request.ply))
        page.send(messages.Recorded(request.request, text, table.record()))

    def _changed(self, live: Live) -> None:
        """Tell the pages, keep the game, and let the next one act."""
        live.stop_thinking()
        table = live.table
        table.run_clock(time.monotonic(), bool(live.pages) and not table.saved.paused)
        self._save(live)  # first: a page is shown what is on disk
        live.tell(table.message())
        live.tell(table.position_message(len(table.moves)))
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
            live.thinker = self.tasks.start(self._think(live))

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
            live.tell(messages.Failed(table.id, f"{name} has failed: {sentence(error)}. The game is paused."))
            self._changed(live)
            return
        finally:
            sign.cancel()
            if loop.time() >= shown:
                live.tell(messages.Thinking(table.id, False, name))
        live.thinker = None
        self._changed(live)

    # ---- the list ----

    def _save(self, live: Live) -> None:
        table = live.table
        self.store.keep(sealed(table.saved, table.game), table.info())
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
        """Once in WRITE_EVERY seconds try those games again that could not be written, and tell pages why."""
        while True:
            await asyncio.sleep(WRITE_EVERY)
            try:
                await asyncio.to_thread(self.store.flush)
            except Error as error:  # a full disk: games go on in memory
                self._tell_all(messages.Failed("", str(error)))

    def _tell_all(self, message: messages.Sent) -> None:
        for page in self.pages:
            page.send(message)


def gone(opponent: str) -> Callable[[], str]:
    """The agent of a kept game that is no longer on the list, such as a run that was removed: the game can be seen."""

    def fail() -> str:
        raise InvalidValue(f"the opponent {opponent} is no longer on this server: go on against another in a copy")

    return fail
