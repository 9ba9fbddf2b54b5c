"""What a page may choose from: games and opponents. It names an id of these lists, never a path or an agent spec."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plyground import specs
from plyground.agents.levels import EASIEST, HARDEST
from plyground.agents.registry import Entry, entries, known
from plyground.agents.search import can_search_trees
from plyground.errors import Error, InvalidValue, command, unknown
from plyground.game import Game, load
from plyground.games import GAMES
from plyground.play.saved import game_told
from plyground.runs.directory import read_config, steps_of
from plyground.web.limit import load_file
from plyground.web.messages import GameInfo, Opponent, SettingInfo

YOU = "you"
TITLES = {"paco_sako": "Paco Ŝako"}  # the others follow from their names
DEFAULT_LEVEL = "level:3"
NETWORK, NETWORK_SEARCH = "trained", "search:model=trained,sims=200"
RENAMED = {"search:net=trained,sims=200": NETWORK_SEARCH}  # ids in older kept games


@dataclass(frozen=True)
class Choice:
    """An opponent as a page sees it, and the agent spec that it stands for."""

    info: Opponent
    spec: Callable[[], str]
    """when a game asks for a move: that of a run names its newest checkpoint"""


class Catalogue:
    """The games and opponents of a server."""

    def __init__(self, files: Sequence[str] = (), added: Sequence[str] = (), runs: Path = Path("runs")) -> None:
        self.added, self.runs = tuple(added), runs
        self.words: dict[str, str] = {name: name for name in GAMES}  # id: what `load` reads
        for file in files:
            name = load_file(file).label
            self.words[name if name not in self.words else f"{name}-{len(self.words)}"] = file
        for spec in added:
            if not any(spec.partition(":")[0] in entries(self.load(name)) for name in self.words):
                names = {each for name in self.words for each in known(self.load(name))}
                raise unknown("agent for any of the games", spec, sorted(names))

    def load(self, name: str, settings: Mapping[str, str] | None = None) -> Game:
        """A game of the list with its settings."""
        if name not in self.words:
            raise unknown("game", name, self.words)
        return _load(self.words[name], tuple(sorted((settings or {}).items())))

    def told(self, text: str) -> tuple[str, dict[str, str]] | None:
        """The id and the settings of the game of the list that a text says it is of; None: it names none of them."""
        word, settings = game_told(text)
        return next(((name, settings) for name, known in self.words.items() if Path(known).name == word), None)

    def infos(self) -> list[GameInfo]:
        return [self.info(name) for name in self.words]

    def info(self, name: str) -> GameInfo:
        """A game of the list, with its default settings."""
        game = self.load(name)
        rules, opponents = game.rules, self.opponents(name, game)
        first = DEFAULT_LEVEL if DEFAULT_LEVEL in opponents else next(iter(opponents))
        learner = "td" if rules.CELLS is not None else "dqn" if game.encoders or not game.path else ""
        cannot = "nothing can learn it: its file defines neither CELLS nor ENCODERS (docs/adding_a_game.md)"
        return GameInfo(
            id=name,
            name=title_of(name),
            sides=list(rules.SIDES),
            seats=seats_of(game),
            settings=[
                SettingInfo(key, list(map(specs.text, dict.fromkeys([each.default, *each.choices]))), each.meaning)
                for key, each in rules.SETTINGS.items()
            ],
            opponents=[choice.info for choice in opponents.values()],
            default_opponent=first,
            hidden=rules.hidden,
            solved=rules.solve is not None,
            network=NETWORK in opponents and can_search_trees(game),
            typing=rules.TYPING,
            format="FEN or PGN" if rules.UCI else "a position or a list of moves",
            learning=command("train", learner, game.word) if learner else cannot,
        )

    # ---- opponents ----

    def opponents(self, name: str, game: Game) -> dict[str, Choice]:
        """The opponents for a game with its settings, by id."""
        table, there = entries(game), known(game)
        found = [self._level(number) for number in range(EASIEST, HARDEST + 1)]
        scripted = ["random", *(each for each in there if each in (*game.rules.POLICIES, *game.rules.AGENTS, "greedy"))]
        found += [_choice(spec, spec, "scripted", table) for spec in dict.fromkeys(scripted)]
        found += [
            _choice(spec, spec, "search", table) for spec in there if spec.partition(":")[0] in ("minimax", "search")
        ]
        found += [_choice(spec, spec, "engines", table) for spec in there if spec.startswith("uci:")]
        if NETWORK in there:
            found.append(_choice(NETWORK, "Network", "networks", table))
            if can_search_trees(game):
                found.append(_choice(NETWORK_SEARCH, "Network with search", "networks", table))
        for path in sorted(each.parent for each in self.runs.glob("*/config.toml")):
            try:
                if steps_of(path) and _same_game(game_of_run(path), game):  # it has learned this game
                    info = Opponent(run_opponent(path.name), path.name, "runs", "the newest checkpoint of this run")
                    found.append(Choice(info, functools.partial(_newest, path)))
            except (Error, OSError):
                continue  # a damaged run is shown in the list of runs, with the reason
        found += [
            _choice(f"added:{number}", spec, "added", table, spec)
            for number, spec in enumerate(self.added)
            if spec.partition(":")[0] in table
        ]
        return {choice.info.id: choice for choice in found}

    def _level(self, number: int) -> Choice:
        return Choice(Opponent(f"level:{number}", f"Level {number}", "levels"), lambda: f"level:{number}")

    def choice(self, name: str, game: Game, opponent: str) -> Choice:
        found = self.opponents(name, game)
        if opponent not in found:
            raise unknown(f"opponent for {game}", opponent, found)
        return found[opponent]


@functools.lru_cache(maxsize=256)
def _load(word: str, settings: tuple[tuple[str, str], ...]) -> Game:
    game = load(word)
    return Game(game.word, game.rules, {**game.settings, **dict(settings)})


def _choice(name: str, shown: str, group: str, table: Mapping[str, Entry], spec: str = "") -> Choice:
    word = spec or name
    meaning = (table[word.partition(":")[0]].make.__doc__ or "").strip()
    return Choice(Opponent(name, shown, group, meaning), lambda: word)


def title_of(name: str) -> str:
    """A game's name for people."""
    return TITLES.get(name, name.replace("_", " ").title())


def seats_of(game: Game) -> int:
    """How many seats a game has with its settings."""
    return int(game.settings.get("seats", game.rules.SEATS))


def game_of_run(path: Path) -> str:
    """The spec of the game that a run has learned."""
    return config_of_run(path).get("game", "")


def config_of_run(path: Path) -> dict[str, Any]:
    """A run's config; read again after a change."""
    return _read_config(path, (path / "config.toml").stat().st_mtime_ns)


@functools.lru_cache(maxsize=1024)
def _read_config(path: Path, changed: int) -> dict[str, Any]:
    return read_config(path)


def run_opponent(run: str) -> str:
    """The id of the opponent that is a run."""
    return f"run:{run}"


def _same_game(spec: str, game: Game) -> bool:
    """Whether a run's game is this one; a game file is not imported to find out."""
    name, _ = specs.split(spec)
    if name.endswith(".py"):
        return bool(game.path) and Path(name).name == Path(game.path).name
    return not game.path and name in GAMES and load(spec) == game


def _newest(path: Path) -> str:
    steps = steps_of(path)
    if not steps:
        raise InvalidValue(f"the run {path.name} has no checkpoint yet: wait for its first one")
    return f"run:{path},checkpoint={steps[-1]}"
