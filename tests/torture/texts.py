"""Mutated texts of every parser: only declared errors, no endless loops, and texts that read back."""

from __future__ import annotations

import contextlib
import random
import signal
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import plyground as pg
from plyground.agents import uci
from plyground.agents.registry import known, make
from plyground.arena.openings import read_openings
from plyground.batch import Batch
from plyground.cluster import connect
from plyground.errors import Error
from plyground.games import GAMES
from plyground.games.chess import pgn
from plyground.games.paco_sako.text import read_turn
from plyground.interop.uci_engine import Played
from plyground.interop.uci_go import budget, read_go
from plyground.interop.uci_options import Settings
from plyground.learners import LEARNERS
from plyground.learners.config import opponent_shares
from plyground.play import typed
from plyground.play.line import Line
from plyground.play.redraw import Redraw
from plyground.play.saved import game_of_file, read_games, write_game
from plyground.runs.settings import PROFILES, build, read_toml
from plyground.runs.trust import cluster_of
from plyground.specs import exists, split, split_path
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import convert
from plyground.teaching.lines import Lines
from torture import MOST_FINDINGS, Deadline, Report
from torture.mutations import Corpus

SLOWEST = 10  # seconds of CPU for one text
GAMES_FUZZED = (*GAMES, "sequence:rules=boxed", "sequence:seats=4")


UCI_COMMANDS = (
    *("uci", "isready", "ucinewgame", "stop", "ponderhit", "quit", "go infinite", "go ponder wtime 1000 btime 900"),
    *("go wtime 300000 btime 300000 winc 2000 binc 2000 movestogo 40", "go depth 6 searchmoves e2e4 d2d4"),
    *("go movetime 100", "go nodes 5000", "go mate 3", "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5"),
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    *(
        "setoption name MultiPV value 3",
        "setoption name UCI_LimitStrength value true",
        "setoption name UCI_Elo value 1500",
    ),
    *("setoption name Network value trained", "setoption name Move Overhead value 50"),
)


class Endless(Exception):
    """A text that takes longer than SLOWEST."""


@dataclass(frozen=True)
class Parser:
    """A function of a text, and valid texts to begin with. What it returns guides the fuzzer."""

    name: str
    read: Callable[[str], Any]
    texts: list[str]


# ---- parsers ----


def positions(spec: str, seed: int) -> list[pg.Position]:
    """Positions from the beginning, middle and end of random games."""
    game, found = pg.load(spec), list[pg.Position]()
    batch = Batch(game, 6, seed)
    for plies in (0, 3, 20):
        batch.random_play(plies)
        found += [pg.Position(game, batch.states[row : row + 1].copy()) for row in range(6)]
    return found


def read_position(game: pg.Game, text: str, strict: bool | None) -> str:
    """Read a text; it reads back, and the position can be asked for everything that the public interface offers."""
    position = game.position(text, strict=strict)
    assert game.position(position.text, strict=False) == position, f"{position.text!r} reads back as another position"
    names = position.names()
    assert str(position)
    assert position.scene().zones
    assert isinstance(position.problems, list)
    for name in names[:2]:
        assert position.play(name).text
    return f"{position.outcome} {len(names)}"


def read_pgn(text: str) -> str:
    records = pgn.read(text)
    again = pgn.read("\n".join(map(pgn.write, records)))
    assert [each.actions for each in again] == [each.actions for each in records], "the PGN reads back otherwise"
    return str([len(each.actions) for each in records])


def make_agent(game: pg.Game, spec: str) -> str:
    """Make an agent, unless that would start a program or read a run."""
    name, _, rest = spec.partition(":")
    if (name == "uci" and uci.find(specless(rest))) or (name == "run" and exists(specless(rest))):
        return "a program or a run"
    return type(make(spec, game)).__name__


def specless(rest: str) -> str:
    with contextlib.suppress(OSError, ValueError):
        return split_path(rest)[0]
    return ""


def load_game(spec: str) -> str:
    """Load a game by its spec, unless it is a file: that would run it."""
    return "a file" if split(spec)[0].endswith(".py") else str(pg.load(spec))


def read_settings(folder: Path, text: str) -> str:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    table = read_toml(path)
    learner = table.pop("learner", "dqn")
    if not isinstance(learner, str) or learner not in LEARNERS:
        return "no learner"
    return type(build(LEARNERS[learner].config, table, "the profile")).__name__


def dataset_lines(folder: Path) -> list[str]:
    path = folder / "teacher.ndjson"
    collect(Collect(game="chess", games=2, depth=1, quiescence=0, threads=1), path, lambda *_: None)
    return path.read_text(encoding="utf-8").splitlines()[:10]


def read_line(lines: Lines, text: str) -> str:
    _, faults = lines.read([(1, text.encode(errors="surrogatepass"))])
    return faults[0].reason if faults else "fine"


# ---- files of games and positions, commands, addresses ----


def saved_games(spec: str, seed: int) -> list[str]:
    """A random game as people save it and as a run does; of cards also with a seal."""
    game, rng = pg.load(spec), random.Random(seed)
    start, actions = game.start(seed), list[int]()
    positions = [start]
    while not positions[-1].over and len(actions) < 12:
        actions.append(rng.choice(positions[-1].legal()))
        positions.append(positions[-1].play(actions[-1]))
    names = " ".join(position.name(action) for position, action in zip(positions, actions, strict=False))
    first, second = game.rules.SIDES
    of_run = f"# from {start.text}: the learner is {first}, greedy {second}\n{names} RUNNING\n"
    shown = ((True, False), (False, True)) if game.rules.hidden else ((True, False),)
    records = [write_game(Line(start, actions), ("you", "greedy"), *how) for how in shown]
    if game.uncertain:  # one that was given up, in which moves were taken back
        redraws = [Redraw(len(actions), 0, seed)]
        records.append(write_game(Line(start, actions, redraws, pg.Outcome.DRAW), ("you", "greedy")))
    return [*records, of_run, names]


def read_saved(game: pg.Game, text: str) -> str:
    """Read games; each reads back from what is written of it."""
    found = read_games(text, game)
    for each in found[:1]:
        again = write_game(each.line, each.players)
        if each.actions and "\n" not in "".join(each.players):
            assert read_games(again, game)[0].actions == each.actions, f"{again!r} reads back otherwise"
    return str([len(each.actions) for each in found])


def tell_game(folder: Path, text: str) -> str:
    """The game that a file of saved games is of; the same text where a person names a game. No Python file is run."""
    path = folder / "saved.txt"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        with contextlib.suppress(Error):
            read_games(text, pg.load("connect_four"))
        return game_of_file(path).word
    finally:
        assert not (folder / "executed").exists(), "a saved game has run the file that it names"


def read_book(path: Path, game: pg.Game, text: str) -> str:
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return str(len(read_openings(path, game)))


def read_csv(folder: Path, lines: Lines, text: str) -> str:
    """Convert a CSV file to a dataset and back: the same rows."""
    first, middle, last = (folder / name for name in ("one.csv", "two.ndjson", "three.csv"))
    for path in (middle, last):
        path.unlink(missing_ok=True)
    first.write_text(text, encoding="utf-8", errors="surrogatepass")
    count = convert(first, middle, lines)
    assert convert(middle, last, lines) == count, "other lines come back"
    return str(count)


def to_csv(folder: Path, lines: Lines, text: str) -> str:
    source, target = folder / "line.ndjson", folder / "line.csv"
    target.unlink(missing_ok=True)
    source.write_text(text, encoding="utf-8", errors="surrogatepass")
    return str(convert(source, target, lines))


def read_uci(game: pg.Game, text: str) -> str:
    """What a chess GUI sends, without a search."""
    command, *words = text.split() or [""]
    if command == "go":
        return str(bool(budget(read_go(words), 0, 0.1)))
    if command == "setoption":
        return str(Settings().set(words).chosen("minimax:time=1"))
    if command == "position":
        played, moves = Played(), words[words.index("moves") + 1 :] if "moves" in words else []
        played.set(game, " ".join(words[1:7]) if words[:1] == ["fen"] else "startpos", moves)
        return str(len(played.positions))
    return "another command"


def read_address(text: str) -> str:
    """The address of a cluster. One that is not our own needs trust where a run names it."""
    with mock.patch.object(connect, "running", return_value=""):
        address, _ = connect._read(text)
    assert not address or cluster_of({"cluster": {"on": text}}), "an address that needs no trust"
    return "another cluster" if address else "a cluster of our own"


def more_parsers(seed: int, folder: Path) -> Iterator[Parser]:
    """Those of files of games and positions, of a GUI's commands and of addresses."""
    for spec in GAMES_FUZZED:
        game, texts = pg.load(spec), saved_games(spec, seed)
        yield Parser(f"saved games of {spec}", lambda text, game=game: read_saved(game, text), texts)
    evil = folder / "evil.py"
    evil.write_text("from pathlib import Path\nPath(__file__).with_name('executed').touch()\n")
    told = [f"game: {game}\n\n4\n" for game in ("connect_four", "sequence:seats=4", evil, f"{evil}:length=5")]
    told.append('[Event "x"]\n\n1. e4 *')
    yield Parser("games of saved games", lambda text: tell_game(folder, text), told)
    books = ["1. e4 c5 2. Nf3\n# a comment\ne2e4 e7e5\n", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\n", *pgn_texts(seed)]
    for name in ("book.txt", "book.pgn"):
        place, chess = folder / name, pg.load("chess")
        yield Parser(f"openings, {name}", lambda text, p=place, game=chess: read_book(p, game, text), books)
    four = Lines(pg.load("connect_four"))
    data = folder / "four.ndjson"
    collect(Collect(game="connect_four", games=2, depth=1, quiescence=0, threads=1), data, lambda *_: None)
    convert(data, folder / "four.csv", four)
    rows = (folder / "four.csv").read_text(encoding="utf-8").splitlines()[:4]
    yield Parser("CSV", lambda text: read_csv(folder, four, text), ["\n".join(rows[:k]) + "\n" for k in (2, 3, 4)])
    yield Parser("lines to CSV", lambda text: to_csv(folder, four, text), data.read_text().splitlines()[:5])
    yield Parser("UCI commands", lambda text: read_uci(pg.load("chess"), text), list(UCI_COMMANDS))
    addresses = ["ray", "ray:nodes=2,cpus=1", "ray://host:10001", "127.0.0.1:6379", "[::1]:6379", str(data)]
    yield Parser("addresses of clusters", read_address, addresses)


def parsers(seed: int, folder: Path) -> Iterator[Parser]:
    """All parsers of texts that a person or a file may bring."""
    yield from more_parsers(seed, folder)
    for spec in GAMES_FUZZED:
        game, found = pg.load(spec), positions(spec, seed)
        texts = [each.text for each in found]
        yield Parser(f"positions of {spec}", lambda text, game=game: read_position(game, text, None), texts)
        yield Parser(f"lenient positions of {spec}", lambda text, game=game: read_position(game, text, False), texts)
        running = [each for each in found if not each.over][-3:]
        names = [each.notation(action) for each in running for action in each.legal()[:20]]
        for k, position in enumerate(running):
            moves = [*names, *position.names()]
            yield Parser(f"moves of {spec}, {k}", lambda text, p=position: str(p.action(text)), moves)
            yield Parser(f"typed moves of {spec}, {k}", lambda text, p=position: str(typed.read(p, text)), moves)
        yield Parser(f"agent specs of {spec}", lambda text, game=game: make_agent(game, text), [*known(game), "run:x"])
    columns = ["4453", "1212127", "44444422", "", "startpos"]
    yield Parser("columns", lambda text: read_position(pg.load("connect_four"), text, None), columns)
    yield Parser("PGN", read_pgn, pgn_texts(seed))
    turns = ["e2>e4", "Bf1xNa6", "Qd8>Pd5>d4", "PRh2>h4", "e7>e8=Q", "0-0-0", "Ke8>d8"]
    yield Parser("turns of Paco Ŝako", lambda text: " ".join(read_turn(text, 0)), turns)
    mixes = ["0.5 self;0.3 snapshot;0.2 greedy", "1 self", "2 minimax:depth=3;1 random"]
    yield Parser("opponents", lambda text: str(len(opponent_shares(tuple(text.split(";"))))), mixes)
    specs = [*GAMES_FUZZED, "sequence:rules=boxed,seats=4", "chess:draws=automatic", "no_such_game.py"]
    yield Parser("game specs", load_game, specs)
    profiles = [path.read_text(encoding="utf-8") for path in sorted(PROFILES.glob("*.toml"))]
    yield Parser("profiles", lambda text: read_settings(folder, text), profiles)
    chess = Lines(pg.load("chess"))
    yield Parser("dataset lines", lambda text: read_line(chess, text), dataset_lines(folder))


def pgn_texts(seed: int) -> list[str]:
    """Random chess games as PGN, with a variation and comments in one of them."""
    game, found = pg.load("chess", draws="automatic"), list[str]()
    for k in range(3):
        record, rng = pgn.Record(game.start()), random.Random(seed + k)
        position = record.start
        while not position.over and len(record.actions) < 40:
            record.actions.append(rng.choice(position.legal()))
            position = position.play(record.actions[-1])
        found.append(pgn.write(record))
    return [*found, '[Event "x"]\n\n1. e4 {a comment} e5 (1... c5 2. Nf3 $1) 2. Nf3!? Nc6 ; rest\n3. Bb5 a6 1/2-1/2']


# ---- the proof ----


def run(seed: int, seconds: float) -> Report:
    """Feed every parser with mutated texts, in turns, until the time is over."""
    deadline, cases, findings = Deadline(seconds), 0, dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        fuzzed = [
            (each, Corpus(random.Random(f"{seed} {each.name}"), each.texts)) for each in parsers(seed, Path(folder))
        ]
        for parser, corpus in fuzzed:  # the valid texts first: some calls compile
            with contextlib.suppress(Error):
                parser.read(corpus.texts[0])
        while cases == 0 or (not deadline.over() and len(findings) < MOST_FINDINGS):
            for parser, corpus in fuzzed:
                for text in (corpus.next() for _ in range(20)):
                    cases += 1
                    answer, finding = outcome_of(parser, text)
                    corpus.learn(text, answer)
                    if finding:
                        findings.setdefault(answer, finding)
    return Report("texts", cases, list(findings.values()), deadline.passed)


def outcome_of(parser: Parser, text: str) -> tuple[str, str]:
    """(what the parser answered, the finding or nothing). Errors of ours are answers."""
    try:
        with limit():
            return parser.read(text), ""
    except Error as error:
        long = len(str(error)) > 2000
        return str(error), f"{parser.name}: {text[:300]!r} has an error of {len(str(error))} characters" if long else ""
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
        return place, f"{parser.name}: {text[:300]!r} raises {place}: {str(error)[:300]}"


@contextlib.contextmanager
def limit() -> Iterator[None]:
    """Raise `Endless` after SLOWEST seconds of CPU; only the main thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> NoReturn:
        raise Endless(f"more than {SLOWEST} s")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, SLOWEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
