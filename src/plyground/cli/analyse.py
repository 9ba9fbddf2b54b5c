"""The command `analyse`: a live table while a search goes on, and what it has found when it ends or is stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Group
from rich.live import Live
from rich.text import Text

from plyground import specs
from plyground.agents.levels import analysis_spec, with_limit
from plyground.agents.ntuple import add_reasons
from plyground.agents.registry import make
from plyground.agents.search import TREE_GAMES, can_search_trees
from plyground.cli import terminal
from plyground.cli.ctrl_c import interruptible, say_stopped
from plyground.cli.terminal import board, characters, console, say, titled
from plyground.errors import InvalidValue, command, counted, shorten, unknown
from plyground.game import Game
from plyground.play import typed
from plyground.play.saved import SavedGame
from plyground.position import Position
from plyground.report.analysis import (
    THRESHOLDS,
    GameAnalysis,
    PlyAnalysis,
    add_scores,
    name_mistake,
    search_and_solve,
    solve,
    with_reasons,
)
from plyground.report.analysis import analyse_game as analyses_of_game
from plyground.search.analysis import EVERY, Analysis, MoveAnalysis

Answer = TypeVar("Answer")
SHORT = 8  # plies of a principal variation in a table
EXPLAINED = 5  # moves in the table of `play --explain`
LIVE_ROWS = 12  # moves in the live table
WORST = 5  # mistakes that are shown with their positions


def make_analyst(game: Game, spec: str, simulations: int | None, seconds: float | None) -> Any:
    """The agent of a spec that analyses, with the limits of the command line; empty: the game's usual one."""
    usual = "search" if simulations is not None else analysis_spec(game).partition(":")[0]
    if spec.startswith("run:") and hasattr(found := make(spec, game), "analyst"):
        if simulations is not None or seconds is not None:
            raise InvalidValue(f"{shorten(spec)!r} does not search: leave --sims and --time out")
        return found
    if (spec or usual).partition(":")[0] not in ("minimax", "search"):
        raise unknown("search for --agent of an analysis", spec, ("minimax:time=1", "search", "search:model=trained"))
    name, options = specs.split(spec or usual)
    if name == "minimax" and simulations is not None:
        raise InvalidValue("--sims is for tree searches; minimax takes --time, or nodes: --agent minimax:nodes=1000000")
    if simulations is not None:
        options["sims"] = str(simulations)
    if seconds is not None:
        options.pop("nodes", None)
        options["time"] = f"{seconds:g}"
    if {"depth", "quiescence", "table"} & options.keys():  # of minimax: nothing is compiled before the refusal
        raise InvalidValue(f"an analysis takes time or nodes of minimax, such as minimax:time=1, not {shorten(spec)!r}")
    return make(with_limit(game, name, options), game)


# ---- one position ----


def analyse_position(agent: Any, position: Position, seed: int, as_json: bool) -> None:
    """Show a position, search it and show its moves; Ctrl-C ends the search and shows what was found. The board waits
    for no compiler, if the game is interpreted."""
    live = Live(console=console, transient=True, auto_refresh=False) if console.is_terminal and not as_json else None
    now_and_then = terminal.NowAndThen()

    def show(each: Analysis) -> None:
        if live:
            live.update(moves_table(add_scores(each, scores), position, LIVE_ROWS), refresh=True)
        else:
            turn = typed.turns_of(position.in_thought(), each.moves[0].actions)[0].text
            best = f"best so far {turn} ({each.moves[0].judgement})"
            now_and_then.say(lambda: f"{each.effort} in {each.seconds:.0f} s, {best}")

    if not as_json:
        console.print(board(position, position.seat if position.game.rules.hidden else 0))
    position.game.compile()
    scores = solve(position)
    with live or nullcontext():
        last, stopped = _last(agent.analyst()(*position.seen_by(agent, seed), EVERY), show)
    model: Any = getattr(agent, "model", None)  # of a search
    if getattr(model, "kind", "") == "ntuple" and not last.moves[0].reasons:
        last = add_reasons(last, position, model)
    found = add_scores(last, scores)
    if as_json:
        print(json.dumps({"game": str(position.game), "agent": str(agent), "stopped": stopped, **asdict(found)}))
    else:
        console.print(moves_table(found, position))
    _end(stopped)


class Explainer:
    """The best moves of a position with what a search says of them, for `play --explain`."""

    def __init__(self, game: Game) -> None:
        self.analyst = make_analyst(game, "", None, None).analyst()

    def find(self, position: Position) -> Analysis:
        return search_and_solve(self.analyst, position)

    def show(self, position: Position) -> None:
        console.print(moves_table(self.find(position), position, EXPLAINED))


def moves_table(found: Analysis, position: Position, rows: int = 0) -> Group:
    """The moves of a position as people write them, the best first, with the columns that the agent can fill; 0 rows:
    all."""
    position = position.in_thought()
    turns = {move.action: typed.turns_of(position, move.actions) for move in found.moves}
    lines = {action: [turn.text for turn in line] for action, line in turns.items()}
    columns: dict[str, Callable[[MoveAnalysis], str]] = {"move": lambda move: lines[move.action][0]}
    valued = [move for move in found.moves if move.value is not None or move.words]
    known = valued or [move for move in found.moves if move.prior > 0.0]
    if not valued and len(known) == 1 < len(found.moves):
        return Group(Text(f"It would {turns[known[0].action][0].advice}, and gives no values to moves."))
    if len({move.prior for move in known}) > 1:
        columns["prior"] = lambda move: f"{move.prior:.1%}" if move.prior >= 0.001 else "<0.1%"
    if found.simulations:
        columns["visits"] = lambda move: f"{move.visits:,}"
    if any(move.value is not None for move in found.moves):
        columns["value"] = lambda move: move.judgement
    if any(move.words for move in found.moves):
        columns["solver"] = lambda move: move.words
    if any(len(line) > 1 for line in lines.values()):
        columns["principal variation"] = lambda move: " ".join(lines[move.action][:SHORT])
    table = titled(f"{found.side} moves", *columns)
    shown = known[: rows or None]
    for number, move in enumerate(shown):
        table.add_row(*(cell(move) for cell in columns.values()), style="" if number else "bold")
    left = len(found.moves) - len(shown)
    rate = (found.simulations or found.nodes) / max(found.seconds, 1e-9)
    seconds = f"{found.seconds:.1f}" if found.seconds >= 1 else f"{found.seconds:.3f}"
    line = [f"{found.effort} in {seconds} s ({rate:,.0f} a second)"] * bool(rate)
    line += [f"value of the position {found.value:+z.2f}"] * (not rate and "value" not in columns and found.value != 0)
    line += ["values from -1 to 1"] * ("value" in columns)
    line += [f"proven: a {found.proven}"] * bool(found.proven)
    line += [f"{counted(left, 'move')} not shown"] * bool(left)
    why = [reasons_text(shown[0], position)] if shown and shown[0].reasons else []
    if len(shown) > 1 and len({move.judgement for move in shown}) == 1 and shown[0].value is not None:
        result = {1.0: "each game that was tried was won", -1.0: "each game that was tried was lost"}.get(
            shown[0].value
        )
        tried = f": {result}" if result and shown[0].visits and not shown[0].proven else ""
        told = f"It sees no difference between these {len(shown)} moves{tried}."
        return Group(table, Text(", ".join(line)), Text(told), *why)
    return Group(table, Text(", ".join(line)), *why)


def reasons_text(move: MoveAnalysis, position: Position) -> Text:
    """Why an n-tuple network likes a move: the position after it, marked, and what is marked."""
    scene, turn = with_reasons(position, move), typed.turns_of(position, move.actions)[0].text
    board, lines = scene.zones[0], [f"\nWhy {turn}: the network's value after it without a marked cell"]
    if any(cell.marks for cell in board.cells):
        lines.append(characters(board))
    return Text("\n".join([*lines, scene.status]))


# ---- a game ----


def check_open(game: Game) -> None:
    """Raise InvalidValue if something is hidden or left to chance: a move cannot be blamed for its luck."""
    if not can_search_trees(game):
        raise InvalidValue(
            f"the analysis of a whole game is for {TREE_GAMES}; {game} is not one: name a position by --position"
        )


def analyse_game(agent: Any, saved: SavedGame, seed: int, as_json: bool, picture: Path | None) -> None:
    """Search each position of a game and show its mistakes; Ctrl-C ends the search and shows the plies so far."""
    start, actions, positions = saved.start, saved.actions, saved.line.positions
    with terminal.progress(len(actions), "plies", hide=as_json) as advance:

        def show(each: GameAnalysis) -> None:
            last, first = each.plies[-1], _turns(each.plies)[-1][0].ply - 1
            turn = typed.turns_of(positions[first], actions[first : last.ply])[0]
            advance(last.ply, title=f"{last.number or last.side} {turn.text} {last.mistake}".rstrip())

        found, stopped = _last(analyses_of_game(agent.analyst(), start, actions, seed), show)
    if as_json:
        worst = [each.ply for each in found.worst()]
        print(json.dumps({"agent": str(agent), "stopped": stopped, "worst": worst, **asdict(found)}))
    else:
        show_game(as_written(found, positions[: len(actions)], actions), start.game, saved.players)
        if saved.place:
            say(f"\nThis is {saved.place}: --number N analyses another one.")
    if picture:
        from plyground.report.pictures import save_values

        save_values(picture, found)
        print(f"wrote {picture}", file=sys.stderr)
    _end(stopped)


def as_written(found: GameAnalysis, positions: Sequence[Position], actions: Sequence[int]) -> GameAnalysis:
    """The same with moves as people write them, and one row for a turn of several plies; `positions` are those before
    each ply."""
    if positions[0].game.rules.turn_text is None:
        return replace(found, plies=[_as_one([each], each.ply, positions, actions) for each in found.plies])
    length = 1 + sum(before.to_move != after.to_move for before, after in pairwise(positions))
    turns = [_as_one(plies, number, positions, actions) for number, plies in enumerate(_turns(found.plies), start=1)]
    return replace(found, plies=turns, length=length)


def _turns(plies: Sequence[PlyAnalysis]) -> list[list[PlyAnalysis]]:
    """The plies of each turn."""
    return [list(turn) for _, turn in groupby(plies, key=lambda each: each.side)]


def _as_one(
    plies: Sequence[PlyAnalysis], number: int, positions: Sequence[Position], actions: Sequence[int]
) -> PlyAnalysis:
    """The plies of a turn as one: it has lost what all of them have, and would be better from the worst of them on."""
    first, last, worst = plies[0], plies[-1], max(plies, key=lambda each: each.lost)
    here, lost = positions[first.ply - 1], sum(each.lost for each in plies)
    better = [*actions[first.ply - 1 : worst.ply - 1], *worst.actions]
    line = [turn.text for turn in typed.turns_of(here, better)]
    played = typed.turns_of(here, actions[first.ply - 1 : last.ply])[0].text
    return replace(
        last,
        ply=number,
        played=played,
        best=line[0] if lost else played,
        line=line,
        actions=better,
        lost=lost,
        mistake=name_mistake(lost),
        words=worst.words,
        position=first.position,
    )


def show_game(found: GameAnalysis, game: Game, players: tuple[str, str]) -> None:
    """All plies, or turns, then the worst mistakes with the command that analyses each."""
    sides, unit = game.rules.SIDES, "ply" if game.rules.turn_text is None else "turn"
    solved = any(each.words for each in found.plies)
    named = " against ".join(f"{side} {player}" for side, player in zip(sides, players, strict=True) if player)
    first = "move" if game.rules.move_number else unit
    columns = [first, "side", "played", f"value for {sides[0]}", *(["solver"] if solved else []), "lost", "", "better"]
    table = titled(f"{game}: {named}" if named else str(game), *columns)
    for each in found.plies:
        value = each.result or f"{each.value:+z.2f}"
        lost = f"{each.lost:.2f}" if each.lost >= 0.005 else ""
        exact = [f"{each.exact:+d}" if each.exact else "" if each.exact is None else "0"] * solved
        better = each.best if each.mistake else ""
        style = "bold" if each.mistake == "blunder" else ""
        cells = [each.number or str(each.ply), each.side, each.played, value, *exact, lost, each.mistake, better]
        table.add_row(*cells, style=style)
    console.print(table)
    limits = ", ".join(f"{name} from {least:g}" for name, least in reversed(THRESHOLDS.items()))
    console.print(f"{len(found.plies)} of {counted(found.length, unit)}. Lost of a value between -1 and 1: {limits}.")
    counts = {side: [each for each in found.worst() if each.side == side] for side in sides}
    for side, mistakes in counts.items():
        number = ", ".join(counted(sum(each.mistake == name for each in mistakes), name) for name in THRESHOLDS)
        say(f"{side}: {number}")
    for each in found.worst()[:WORST]:
        which = each.number or f"{unit} {each.ply}: {each.side}"
        exact = f" ({each.words})" if each.words else ""
        say(f"\n{which} {each.played}, {each.mistake}: lost {each.lost:.2f}{exact}")
        say(f"  better: {' '.join(each.line[:SHORT])}")
        say(f"  {command('analyse', game, '--position', each.position)}")


def _last(answers: Iterator[Answer], show: Callable[[Answer], None]) -> tuple[Answer, bool]:
    """The last answer of a search, and whether Ctrl-C has ended it. Before the first one Ctrl-C ends the command."""
    found = list[Answer]()
    try:
        with interruptible():
            for each in answers:
                found[:] = [each]
                show(each)
    except KeyboardInterrupt:
        if not found:
            raise
        return found[0], True
    return found[0], False


def _end(stopped: bool) -> None:
    if stopped:
        say_stopped("this is what was found so far")
        sys.exit(130)
