"""The output of `solve`, `grade` and `ladder`: tables and boards, or one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict

from rich.table import Table

from plyground.arena.grade import Grade, Share
from plyground.arena.ladder import Ladder
from plyground.cli.terminal import board, console, match_numbers
from plyground.errors import command
from plyground.position import Position


def show_solved(position: Position, solved: Mapping[int, tuple[int, str]], as_json: bool) -> None:
    """A position and the exact value of each of its moves for the side to move."""
    score = max(value for value, _ in solved.values())
    best = [position.name(action) for action, (value, _) in solved.items() if value == score]
    if as_json:
        scores = {position.name(action): value for action, (value, _) in solved.items()}
        print(json.dumps({"position": position.text, "score": score, "scores": scores, "best": best}))
        return
    console.print(board(position))
    table = Table("move", "score", "for the side to move", title=f"{_side(position)} moves", title_justify="left")
    for action, (value, words) in solved.items():
        style = "bold" if value == score else ""
        table.add_row(position.name(action), f"{value:+d}" if value else "0", words, style=style)
    console.print(table)


def _side(position: Position) -> str:
    return position.game.rules.SIDES[position.to_move]


def show_grade(report: Grade, agent: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"agent": agent, **grade_numbers(report)}))
        return
    table = Table("", "cases", agent, "random mover", title=f"{report.positions} positions", title_justify="left")

    def row(name: str, share: Share, percent: bool = True) -> None:
        numbers = (share.agent, share.random)
        texts = ["-" if math.isnan(x) else f"{x:.1%}" if percent else f"{x:.2f}" for x in numbers]
        table.add_row(name, str(share.cases), *texts)

    for phase, share in report.wdl.items():
        row(f"keeps win, draw or loss, {phase}", share)
    for phase, share in report.exact.items():
        row(f"best exact score, {phase}", share)
    row("takes the immediate win", report.wins_taken)
    row("blocks the immediate threat", report.threats_blocked)
    row("score lost by a move, mean", report.value_lost, percent=False)
    console.print(table)
    for number, mistake in enumerate(report.mistakes, start=1):
        console.print(f"\nmistake {number}: {mistake.words} ({_side(mistake.position)} moves)")
        console.print(board(mistake.position))
        console.print(f"position: {mistake.text}", soft_wrap=True)
    if report.mistakes:
        console.print(f"\nLook at one of them: {command('solve', 'POSITION')}")
    if report.games:
        games = report.games
        console.print(
            f"\nagainst the perfect player: {games.wins} wins, {games.draws} draws, {games.losses} losses; "
            f"mean length {games.plies:.1f} plies"
        )


def grade_numbers(report: Grade) -> dict[str, object]:
    """A grade as JSON: no boards; a share of no cases is null."""

    def numbers(share: Share) -> dict[str, float | None]:
        return {name: None if math.isnan(value) else value for name, value in asdict(share).items()}

    return {
        "positions": report.positions,
        **{name: {phase: numbers(s) for phase, s in getattr(report, name).items()} for name in ("wdl", "exact")},
        **{name: numbers(getattr(report, name)) for name in ("wins_taken", "threats_blocked", "value_lost")},
        "mistakes": [
            {"position": each.text, "played": each.played, "best": each.best, "lost": each.lost, "words": each.words}
            for each in report.mistakes
        ],
        "games": match_numbers(report.games) if report.games else None,
    }


def show_ladder(ladder: Ladder, as_json: bool) -> None:
    ratings, names = ladder.ratings(), ladder.agents
    order = [int(index) for index in ratings.elo.argsort()[::-1]]
    if as_json:
        rows = [{"agent": names[k], "elo": ratings.elo[k], "error": ratings.error[k]} for k in order]
        print(json.dumps({**asdict(ladder), "ratings": rows}))
        return
    table = Table("", "agent", "Elo", "±", "score", title=f"{ladder.game}, {ladder.games} games for each two")
    for place, index in enumerate(order, start=1):
        mine = [r for r in ladder.results if names[index] in (r.a, r.b)]
        score = sum(r.score if r.a == names[index] else r.games - r.score for r in mine) / sum(r.games for r in mine)
        table.add_row(
            str(place), names[index], f"{ratings.elo[index]:+.0f}", f"{ratings.error[index]:.0f}", f"{score:.1%}"
        )
    console.print(table)
