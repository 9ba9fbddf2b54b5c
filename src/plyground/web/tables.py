"""Tables that pages have open: people and agents play, clocks run, pages are told, games are kept.

Everything here runs in one thread; what takes longer than a few milliseconds is done by workers or in a thread. What a
table computes by its rules is asked for through `call`, which leaves that of game files to their own processes.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from plyground import specs
from plyground.agents.turns import Turn
from plyground.errors import Error, InvalidValue
from plyground.game import Game
from plyground.play.line import WINS
from plyground.web import host, messages, requests, thinking
from plyground.web.catalogue import YOU, Catalogue, seats_of, title_of
from plyground.web.host import Now
from plyground.web.page import Page
from plyground.web.store import MOST, Store
from plyground.web.table import FORMAT, YOUR_NAME, Saved, opened, sealed
from plyground.web.tasks import Tasks, in_thread, sentence
from plyground.web.workers import WorkerFailed, Workers

Kind = TypeVar("Kind")
MOST_TABLES = 600  # in memory: those that a page has open
MOST_OF_A_PAGE = 50  # tables that one page has open
LISTED = 200  # games in the list that a page is sent
WATCHED = 1.0  # seconds between two actions of agents, at first
SIGN_AFTER = 0.1  # seconds after which a thinking sign is shown
NEW = thinking.Start("", [])
LIST_EVERY, WRITE_EVERY = 1.0, 1.0  # seconds between two lists of games, and between two looks for changed ones


class Live:
    """A table that pages have open, as the server knows it, and who thinks about it."""

    def __init__(self, game: Game, now: Now, agents: Sequence[Callable[[], str] | None]) -> None:
        self.game, self.now, self.agents = game, now, agents  # for each seat: how its agent is made; None: a person
        self.lock = asyncio.Lock()  # one change after the other
        self.pages: set[Page] = set()
        self.thinker: asyncio.Task[None] | None = None
        self.turn: Turn | None = None  # that an agent is in: any process goes on with it
        self.flag: asyncio.TimerHandle | None = None  # when the clock of the side to move runs out
        self.review: tuple[list[int], messages.Reviewed] | None = None  # the reviewed actions, and their review

    @property
    def saved(self) -> Saved:
        return self.now.saved

    def tell(self, message: messages.Sent) -> None:
        text = messages.encode(message)
        for page in self.pages:
            page.send_text(text)

    def stop_thinking(self) -> None:
        if self.thinker is not None:
            self.thinker.cancel()
            self.thinker = None

    def stop_clock(self) -> None:
        if self.flag is not None:
            self.flag.cancel()
            self.flag = None


class Tables:
    """All tables that some page has open, and the list of all games."""

    def __init__(self, catalogue: Catalogue, store: Store, workers: Workers, tasks: Tasks, pages: set[Page]) -> None:
        self.catalogue, self.store, self.workers, self.tasks, self.pages = catalogue, store, workers, tasks, pages
        self.live: dict[str, Live] = {}
        self.list_due = False

    async def call(self, function: Callable[..., Kind], game: Game, *arguments: Any) -> Kind:
        """What a function of `host.FUNCTIONS` computes by the rules of a game: of our own ones here and now."""
        if game.path:
            return await self.workers.call(function, game, *arguments)
        return function(game, *arguments)

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
        return await self.workers.call(thinking.read_start, game, text, number) if text.strip() else NEW

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
            names=[YOUR_NAME if each == YOU else self.catalogue.choice(name, game, each).info.name for each in players],
            seed=secrets.randbits(48),
            text=text,
            actions=actions,
            speed=0.0 if YOU in players else WATCHED,
            changed=time.time(),
        )

    async def ready(self, name: str, settings: dict[str, str]) -> Game:
        """A game whose kernels are loaded; the first time that takes a moment, in a thread."""
        game = self.catalogue.load(name, settings)
        await self.load(game)
        return game

    async def load(self, game: Game) -> host.Place:
        """Load a game's kernels. Returns its start."""
        if game.path:
            return await self.workers.call(host.prepare, game)
        return await in_thread(lambda: host.prepare(game))

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

    async def begin(self, page: Page, request: int, saved: Saved, game: Game, read_as: str = "") -> None:
        """A new table, which the page opens; `read_as`: the game of its text, where another was asked for."""
        self._check_room(page)
        if removed := self.store.make_room(self.live):
            text = f"{removed.title} is removed: it was over or empty, and the oldest such of {MOST} games"
            self.tell_all(messages.Failed("", text))
        live = await self._seat(saved, game)
        self._save(live)
        page.send(messages.Opened(request, saved.id, read_as))
        await self._enter(page, live, request)

    def _check_room(self, page: Page) -> None:
        if len(page.tables) >= MOST_OF_A_PAGE or len(self.live) >= MOST_TABLES:
            raise InvalidValue(f"{len(page.tables)} games are open here, {len(self.live)} on this server: close one")

    async def _seat(self, saved: Saved, game: Game) -> Live:
        """A table that begins or was kept. Its actions are played again: a long game takes a moment, in a thread."""
        there = self.catalogue.opponents(saved.game, game)
        agents = [None if each == YOU else there[each].spec if each in there else gone(each) for each in saved.players]
        if not game.path:
            await in_thread(lambda: host.table_of(game, saved))
        now = await self.call(host.change, game, saved, "", {}, False)
        return self.live.setdefault(saved.id, Live(game, now, agents))

    async def open(self, page: Page, request: requests.Open) -> None:
        live = self.live.get(request.table)
        if live is None:
            self._check_room(page)
            saved = opened(self.store.read(request.table))
            game = await self.ready(saved.game, saved.settings)
            live = self.live.get(request.table) or await self._seat(saved, game)
        await self._enter(page, live, request.request)

    async def _enter(self, page: Page, live: Live, request: int) -> None:
        live.pages.add(page)
        page.tables.add(live.saved.id)
        async with live.lock:
            await self._run(live)
            page.send(live.now.table)
            page.send(msgspec.structs.replace(live.now.position, request=request))
            self._continue(live)

    async def close(self, page: Page, request: requests.Close) -> None:
        await self.leave(page, request.table)
        page.send(messages.Tables(self.store.newest(LISTED)))

    async def leave(self, page: Page, name: str) -> None:
        """A table that no page has open rests on disk: its agents and its clock stop."""
        page.tables.discard(name)
        live = self.live.get(name)
        if live is None:
            return
        live.pages.discard(page)
        if live.pages:
            return
        live.stop_thinking()
        live.stop_clock()
        async with live.lock:
            if live.saved.clocks and not live.pages:
                with suppress(Error):  # a clock of rules that fail stands where it was
                    await self._run(live)
        if not live.pages and self.live.get(name) is live:
            self._save(live)
            del self.live[name]
            host.TABLES.pop(name, None)

    def delete(self, page: Page, request: requests.Delete) -> None:
        live = self.live.pop(request.table, None)
        if live is not None:
            live.stop_thinking()
            live.stop_clock()
            host.TABLES.pop(request.table, None)
            live.tell(messages.Deleted(request.table))
            for each in live.pages:
                each.tables.discard(request.table)
        elif request.table not in self.store.infos:
            self.store.read(request.table)  # the error says that there is none
        self.store.remove(request.table)
        self._list_soon()

    async def fork(self, page: Page, request: requests.Fork) -> None:
        """A new table from a ply on, in which what the person has not seen there is drawn anew."""
        live = self.find(page, request.table)
        saved, game = live.saved, live.game
        await self.call(host.look, game, saved, request.ply, request.line, 0)  # the error says what is wrong with it
        players = self._check_players(saved.game, game, request.players or saved.players)
        if game.rules.hidden and [each == YOU for each in players] != [each == YOU for each in saved.players]:
            raise InvalidValue("hands are hidden: a game that is tried again has the same seats")
        new = self.new_saved(saved.game, game, players, saved.text, [*saved.actions[: request.ply], *request.line])
        new.seed, new.redraws = saved.seed, await self.call(host.redraws_of_fork, game, saved, request.ply)
        await self.begin(page, request.request, new, game)

    def find(self, page: Page, name: str) -> Live:
        if name not in page.tables or name not in self.live:
            raise InvalidValue("this page has not opened that game: open it first")
        return self.live[name]

    # ---- moves ----

    async def pause(self, page: Page, request: requests.Pause) -> None:
        live = self.find(page, request.table)
        async with live.lock:
            await self._change(live, "pause", paused=request.paused)

    async def speed(self, page: Page, request: requests.Speed) -> None:
        live = self.find(page, request.table)
        async with live.lock:
            await self._run(live, "set_speed", seconds=request.seconds)
            self._save(live)
            live.tell(live.now.table)

    async def look(self, page: Page, request: requests.Look) -> None:
        live = self.find(page, request.table)
        async with live.lock:
            seen = await self.call(host.look, live.game, live.saved, request.ply, request.line, request.request)
        page.send(seen.position)

    async def record(self, page: Page, request: requests.CopyGame) -> None:
        live = self.find(page, request.table)
        async with live.lock:
            text, record = await self.call(host.record, live.game, live.saved, request.ply)
        page.send(messages.Recorded(request.request, text, record))

    async def command(self, page: Page, request: requests.Change) -> None:
        """The command of a table that is named as the request, with the same arguments."""
        live = self.find(page, request.table)
        own = set(request.__struct_fields__) - {*requests.Change.__struct_fields__}
        async with live.lock:
            if request.revision == live.saved.revision:
                command = request.__struct_config__.tag
                await self._change(live, str(command), **{name: getattr(request, name) for name in own})
                return
            page.refuse(request.request, "the game has changed since: look at it and try again", "stale")
            await self._run(live)
            page.send(live.now.table)
            page.send(live.now.position)

    async def _run(self, live: Live, command: str = "", **arguments: Any) -> None:
        """A command of a table, or none, which finds out where its clock is."""
        live.now = await self.call(host.change, live.game, live.saved, command, arguments, bool(live.pages))

    async def _change(self, live: Live, command: str, **arguments: Any) -> None:
        """A command, and what follows from it."""
        await self._run(live, command, **arguments)
        live.stop_thinking()
        self._tell(live)

    def _tell(self, live: Live) -> None:
        """Keep the game, tell the pages, and let the next one act."""
        self._save(live)  # first: a page is shown what is on disk
        live.tell(live.now.table)
        live.tell(live.now.position)
        self._continue(live)

    def _continue(self, live: Live) -> None:
        """Let an agent think, if it is to act, and watch the clock."""
        live.stop_clock()
        now = live.now
        if now.left is not None:
            loop = asyncio.get_running_loop()
            live.flag = loop.call_later(now.left + 0.01, lambda: self.tasks.start(self._flag_falls(live)))
        if live.pages and live.thinker is None and now.agent and not now.saved.paused:
            live.thinker = self.tasks.start(self._think(live))

    async def _flag_falls(self, live: Live) -> None:
        async with live.lock:
            table = live.now.table
            if live.now.left is None or live.flag is None or live.flag.when() > asyncio.get_running_loop().time():
                return  # the game has gone on meanwhile
            sides, loser = table.sides, table.to_move
            why = f"The time of {sides[loser]} is over: {sides[1 - loser]} wins."
            await self._change(live, "end", outcome=int(WINS[1 - loser]), ending=why)

    async def _think(self, live: Live) -> None:
        """One action of an agent; failing, the game is paused and its pages are told why."""
        now, loop = live.now, asyncio.get_running_loop()
        table, saved = now.saved.id, now.saved
        seat, begun = now.seat, time.monotonic()
        name = saved.names[seat]
        sign = loop.call_later(SIGN_AFTER, live.tell, messages.Thinking(table, True, name))
        shown = loop.time() + SIGN_AFTER
        make_spec = live.agents[seat]
        try:
            spec = make_spec() if make_spec else ""
            thought = await self.workers.think(now.place, spec, random.getrandbits(48), live.turn)
            if YOU not in saved.players:
                await asyncio.sleep(max(0.0, live.saved.speed - (time.monotonic() - begun)))
            async with live.lock:
                await self._run(live, "reply", action=thought.action)
                live.thinker, live.turn = None, thought.turn
        except Exception as error:
            live.thinker = None
            live.tell(messages.Failed(table, f"{name} has failed: {sentence(error)}. The game is paused."))
            async with live.lock:
                live.saved.paused = True
                with suppress(Error):  # perhaps its rules have failed
                    await self._run(live)
                live.now.table = msgspec.structs.replace(live.now.table, paused=True)
                self._tell(live)
            return
        finally:
            sign.cancel()
            if loop.time() >= shown:
                live.tell(messages.Thinking(table, False, name))
        self._tell(live)

    # ---- the list ----

    def _save(self, live: Live) -> None:
        if self.live.get(live.saved.id) is live:  # it was not deleted meanwhile
            self.store.keep(sealed(live.saved, live.game), live.now.table.title)
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
                self.tell_all(messages.Failed("", str(error)))

    def tell_all(self, message: messages.Sent) -> None:
        text = messages.encode(message)
        for page in self.pages:
            page.send_text(text)


def gone(opponent: str) -> Callable[[], str]:
    """The agent of a kept game that is no longer on the list, such as a run that was removed: the game can be seen."""

    def fail() -> str:
        raise InvalidValue(f"the opponent {opponent} is no longer on this server: go on against another in a copy")

    return fail
