"""The protocol between a page and the server, and its replies. `requests.py` has the requests; nothing else defines it.

A page opens one socket, `/socket`, and sends JSON objects of the types in `requests.py`; the server sends those below.
`type` names the message: the class in snake case (`new_game`). Fields that a schema does not name are refused.

A *table* is one game in progress; every page that has opened it is sent each change. It holds a line of actions: ply 0
is the start, ply k the position after k actions. Its `revision` grows with each change. A request that changes a table
names the revision that the page has seen, so that an old or repeated message is refused. Playing at an earlier ply
removes the later plies: refused unless `prune` is true, which the page sends after it has asked.

    page                                server
    (connects)                          welcome: games, opponents, tables, runs
    new_game                            opened {table}, then table, then position
    play {revision, ply, action}        table, position; thinking; table, position
    look {ply, line}                    position (for this page alone)
    analyse {ply}                       analysed, again and again, `done` at last
    review                              reviewed, again and again, `done` at last
    follow {runs}                       curves: all that is there, then what is new
"""

from __future__ import annotations

import msgspec

from plyground.games.scene import Scene
from plyground.report.analysis import PlyAnalysis
from plyground.search.analysis import Analysis
from plyground.web.requests import snake_case


class Sent(msgspec.Struct, frozen=True, tag=snake_case):
    """A reply."""


class Stamped(msgspec.Struct, frozen=True, kw_only=True, tag=snake_case):
    """A reply that a worker has found out; the server says for which request."""

    request: int = 0
    table: str = ""
    revision: int = 0
    """of the table, when it was asked"""


class SettingInfo(msgspec.Struct, frozen=True):
    name: str
    choices: list[str]
    """the default first"""
    meaning: str


class Opponent(msgspec.Struct, frozen=True):
    id: str
    name: str
    """for people: `Level 3`, `greedy`, `network`"""
    group: str
    """`levels`, `scripted`, `search`, `engines`, `networks`, `runs` or `added`"""
    meaning: str = ""


class GameInfo(msgspec.Struct, frozen=True):
    """A game of the list, as it is with its default settings."""

    id: str
    name: str
    """for people: `Connect Four`"""
    sides: list[str]
    seats: int
    """with the default settings; a setting `seats` is its number otherwise"""
    settings: list[SettingInfo]
    opponents: list[Opponent]
    default_opponent: str
    hidden: bool
    """whether hands are hidden: a page sees one seat, and there is no review"""
    solved: bool
    """whether `analysis` has exact scores"""
    network: bool
    """whether `analyse` may ask for the pretrained network"""
    typing: str
    """how a move is typed, in words"""
    format: str
    """what text the game reads and writes: `FEN or PGN`"""
    learning: str
    """the command by which an agent learns the game, or the reason why none can"""


class TableInfo(msgspec.Struct, frozen=True):
    """A row of the list of games."""

    id: str
    game: str
    """the game's id"""
    title: str
    """`Chess: you against Level 3`, `Chess: a study`, `Chess: Ada against Grace, a study`"""
    plies: int
    status: str
    """the scene's line of words, or the result"""
    over: bool
    changed: float
    """seconds since 1970"""


class RunInfo(msgspec.Struct, frozen=True):
    id: str
    game: str
    """the id of a game of the list; empty where it is not one of them"""
    learner: str
    cycles: int
    seconds: float
    """of training"""
    scores: dict[str, float]
    """opponent → score of the best step in [0, 1], as `plyground runs` lists it"""
    alive: bool
    """whether a process works on it"""
    started_here: bool
    """whether `stop_run` works"""
    stopping: bool
    """whether it was asked to stop, and saves a checkpoint"""
    resume: str
    """what `resume_run` does, for a button: `Resume`, or `Train 2 more minutes` after its end; empty: it is refused"""
    opponent: str
    """the id of the opponent which is its newest checkpoint; empty before the first one"""
    message: str
    """how its process has failed, in a sentence; otherwise empty"""


class Welcome(Sent, frozen=True):
    """The first message of the server, and again after the list of opponents has changed (a run has saved its first
    checkpoint)."""

    version: str
    games: list[GameInfo]
    tables: list[TableInfo]
    runs: list[RunInfo]


class Tables(Sent, frozen=True):
    """The list of games, the newest first: after a change, to pages that have no table open, and after `close`."""

    tables: list[TableInfo]


class Opened(Sent, frozen=True):
    """The table that a request has made; this page has opened it."""

    request: int
    table: str
    read_as: str
    """for people: the game that a text was read as, where it is another than the one asked for; otherwise empty"""


class Deleted(Sent, frozen=True):
    """A table that this page had opened is gone."""

    table: str


class Player(msgspec.Struct, frozen=True):
    """Who has a seat."""

    name: str
    """`you`, or the opponent's name"""
    id: str
    """`you`, or the opponent's id"""
    side: int


class Move(msgspec.Struct, frozen=True, gc=False):
    """One ply of the line."""

    name: str
    """in the game's notation: `Nf3`; where a turn has several plies, as a part of it: `e2`, then `>e4`"""
    side: int
    seat: int
    turn: int
    """plies of one number belong to one turn; the first turn is 1"""


class Table(Sent, frozen=True):
    """A game in progress, without its pictures; sent after each change."""

    id: str
    revision: int
    game: str
    spec: str
    """with its settings: `sequence:rules=boxed,seats=4`"""
    title: str
    sides: list[str]
    players: list[Player]
    view: int
    """the seat whose scenes this page is sent"""
    moves: list[Move]
    """the whole line"""
    over: bool
    outcome: str
    """`running`, `draw`, `first` or `second` (the side that has won)"""
    ending: str
    """a sentence at the end: `You win (four in a row)!`; also for a resignation, a lost clock, a failed agent"""
    to_move: int
    """the side that acts; -1: the game is over"""
    yours: bool
    """whether a person acts now"""
    paused: bool
    speed: float
    clocks: list[float]
    """seconds left for each side, now; empty: no clock"""
    clock_runs: bool
    event: str
    """the last change in a sentence for `aria-live`: `Level 3 plays Nf6`, `Two moves taken back`"""


class Choice(msgspec.Struct, frozen=True):
    """A legal action and the clicks by which it is played."""

    action: int
    name: str
    clicks: list[str]


class Begun(msgspec.Struct, frozen=True):
    """The last action of a person's unfinished turn, where taking it back gives nothing away: it has drawn no random
    number, and nothing is hidden in the game."""

    ply: int
    """before it"""
    clicks: list[str]
    """by which it was played"""
    others: list[str]
    """the first clicks of the actions that were legal there"""


class Position(Sent, frozen=True):
    """The position at a ply, as the page's seat sees it. It is pushed to all pages of a table for the end of the line
    after each change; to one page after `look`."""

    table: str
    revision: int
    ply: int
    line: list[int]
    """the actions from there, where `look` asked for some"""
    scene: Scene
    choices: list[Choice]
    """the legal actions, if a person acts here; empty when one is not to act or after a `line`"""
    begun: Begun | None
    """of a turn that a person has begun and not finished here; `undo` to its ply puts a lifted piece down again"""
    last: list[str]
    """the names of the board's cells that the last turn has changed, to mark the last move"""
    actor: int
    """the seat that acts; -1: the game is over"""
    text: str
    """the position in one line, as this seat may see it"""
    prompt: str
    """what a person is asked for"""
    request: int = 0


class Thinking(Sent, frozen=True):
    """An agent thinks about its action, or has stopped thinking."""

    table: str
    on: bool
    name: str
    """of the agent"""


class Hinted(Stamped, frozen=True, kw_only=True):
    action: int
    clicks: list[str]
    text: str
    """`solver would play 4. You can win: 4`"""


class Refused(Sent, frozen=True):
    """A request that has changed nothing, and why."""

    request: int
    text: str
    reason: str = "refused"
    """`refused`; `prune`: later plies would be removed, ask and send it again with `prune`; `stale`: the revision is
    old, the newest `table` is on its way; `busy`: too many requests or games; `ambiguous`: a typed text may mean
    several moves"""


class Failed(Sent, frozen=True):
    """An agent, an analysis or a run has failed; the game is kept."""

    table: str
    """empty: not about a table"""
    text: str


class Threat(msgspec.Struct, frozen=True):
    """What the side that does not move would play, were it its turn, and win at once or gain."""

    name: str
    clicks: list[str]
    text: str


class Analysed(Stamped, frozen=True, kw_only=True):
    """A search so far."""

    ply: int = 0
    line: list[int] = []
    analysis: Analysis
    """its moves in the notation of a page: each named by its whole turn, the plies of its line one by one"""
    clicks: dict[int, list[str]]
    """action → the clicks by which it is played"""
    value: float
    """for the first side, -1 to 1; the solver's, where there is one"""
    effort: str
    """`1,000 simulations`, or `1,000,000 nodes to depth 11`"""
    threats: list[Threat]
    done: bool = False


class Reviewed(Stamped, frozen=True, kw_only=True):
    """A game's review so far."""

    plies: list[PlyAnalysis]
    """the moves in the notation of a page; the solver's values, where there is one"""
    length: int
    """plies of the whole game"""
    worst: list[int]
    """plies of the mistakes, the worst first"""
    accuracy: list[float]
    """percent, for each side"""
    done: bool


class Recorded(Sent, frozen=True):
    request: int
    position: str
    """the position at the ply as this seat may see it"""
    record: str
    """the game in its own format (PGN) or as a list of moves"""


class RunsChanged(Sent, frozen=True, tag="runs"):
    """The list of runs, after a change."""

    runs: list[RunInfo]


class Score(msgspec.Struct, frozen=True):
    """One evaluation against one opponent."""

    opponent: str
    score: float
    low: float
    high: float


class Point(msgspec.Struct, frozen=True):
    """One line of a run's metrics."""

    seconds: float
    """of training"""
    plies: int
    numbers: dict[str, float]
    """loss, plies_per_second, ... as the learner names them"""
    scores: list[Score]


class Curve(msgspec.Struct, frozen=True):
    run: str
    start: int
    """the index of the first of these points in the run; what a page has from there on is replaced"""
    points: list[Point]


class Curves(Sent, frozen=True):
    """Metrics of the followed runs: at first all, then what is new."""

    curves: list[Curve]


class Learned(msgspec.Struct, frozen=True):
    """Patterns of an n-tuple network, those that change values most."""

    title: str
    """when they count, and for whom"""
    boards: list[Scene]
    """each pattern's cells are marked; the status says what it adds, and where it is met"""
    single: list[str]
    """patterns of one cell, in words"""


class Policy(Sent, frozen=True, kw_only=True):
    """What a checkpoint thinks of a position."""

    run: str = ""
    step: int = 0
    """of the checkpoint"""
    scene: Scene
    analysis: Analysis | None
    """None: the game is over there"""
    value: float | None
    """for the side to move; None: the checkpoint tells none"""
    clicks: dict[int, list[str]]
    """action → the clicks by which it is played"""
    puzzles: dict[str, float]
    """kind of puzzle → share that the checkpoint solves; empty where the game has none"""
    why: Scene | None = None
    """the position after the first move, its reasons marked; None: there are none"""
    learned: list[Learned] = []


class Rung(msgspec.Struct, frozen=True):
    """An agent of a ladder."""

    id: str
    name: str
    elo: float
    low: float
    high: float
    score: float
    """of all its games, 0 to 1"""


class Laddered(Sent, frozen=True, kw_only=True):
    """A ladder so far."""

    request: int = 0
    rungs: list[Rung]
    """the strongest first"""
    next: str
    """`Level 3 against greedy`, which is being played"""
    done: bool


class SavedGame(msgspec.Struct, frozen=True):
    file: str
    """the id for `open_run_game`"""
    number: int
    title: str


class SavedGames(Sent, frozen=True):
    request: int
    run: str
    games: list[SavedGame]


_encoder = msgspec.json.Encoder()


def encode(reply: Sent | Stamped) -> str:
    """The text of a reply."""
    return _encoder.encode(reply).decode()
