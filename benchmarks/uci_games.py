"""Games of the UCI engine against Stockfish at its weakest level, with clocks: results, forfeits, faults, processes,
and how long `uciok` and `stop` take.

    python benchmarks/uci_games.py --games 200

python-chess is the referee: it starts both engines as programs, keeps the clocks, and refuses illegal moves. Each
opening of four random plies is played from both sides. Engines are started anew every ten games; then their processes
must be gone.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.engine

from plyground.agents.uci import find

ENGINE = [sys.executable, "-m", "plyground", "uci"]
OPENING_PLIES, GAMES_EACH, MOST_PLIES = 4, 10, 400


@dataclass
class Report:
    """What has happened so far."""

    results: Counter[str] = field(default_factory=Counter[str])
    faults: list[str] = field(default_factory=list[str])
    least_left: list[float] = field(default_factory=list[float])  # [games] the lowest clock of ours
    starts: list[float] = field(default_factory=list[float])  # seconds to `uciok`
    stops: list[float] = field(default_factory=list[float])  # seconds from `stop` to `bestmove`
    moves: int = 0


def opening(seed: int) -> chess.Board:
    """Four random plies after which the game goes on."""
    rng, board = random.Random(seed), chess.Board()
    for _ in range(OPENING_PLIES):
        board.push(rng.choice(list(board.legal_moves)))
    return board if any(board.legal_moves) else opening(seed + 1_000_000)


def play_game(
    board: chess.Board, engines: dict[chess.Color, chess.engine.SimpleEngine], clock: float, increment: float
) -> tuple[str, dict[chess.Color, float], str]:
    """The result, the lowest clock of each side, and what went wrong."""
    left, least, game = {True: clock, False: clock}, {True: clock, False: clock}, object()
    while not board.is_game_over(claim_draw=True) and board.ply() < MOST_PLIES:
        side = board.turn
        limit = chess.engine.Limit(
            white_clock=left[True], black_clock=left[False], white_inc=increment, black_inc=increment
        )
        begun = time.perf_counter()
        try:
            played = engines[side].play(board, limit, game=game)
        except chess.engine.EngineError as error:
            return "0-1" if side else "1-0", least, f"{chess.COLOR_NAMES[side]}: {error}"
        left[side] -= time.perf_counter() - begun
        least[side] = min(least[side], left[side])
        if left[side] < 0:
            return "0-1" if side else "1-0", least, f"{chess.COLOR_NAMES[side]} lost on time"
        left[side] += increment
        assert played.move  # noqa: S101
        board.push(played.move)
    return board.result(claim_draw=True), least, ""


def measure_stops(engine: chess.engine.SimpleEngine, first: int, report: Report) -> None:
    """Stop an endless analysis of several lines after a moment."""
    for seed in range(first, first + GAMES_EACH):
        with engine.analysis(opening(seed), multipv=1 + seed % 3) as endless:
            time.sleep(0.1)
            begun = time.perf_counter()
            endless.stop()
            endless.wait()
            report.stops.append(time.perf_counter() - begun)


def play_some(first: int, count: int, args: argparse.Namespace, report: Report) -> None:
    """Some games with a fresh pair of engines, whose processes end afterwards."""
    begun = time.perf_counter()
    ours = chess.engine.SimpleEngine.popen_uci([*ENGINE, *args.options], timeout=60)
    report.starts.append(time.perf_counter() - begun)
    theirs = chess.engine.SimpleEngine.popen_uci(args.stockfish)
    theirs.configure({"Skill Level": 0} if args.elo == 0 else {"UCI_LimitStrength": True, "UCI_Elo": args.elo})
    if args.our_elo:
        ours.configure({"UCI_LimitStrength": True, "UCI_Elo": args.our_elo})
    ours.ping()  # compiled and loaded
    measure_stops(ours, first, report)
    for number in range(first, first + count):
        color = number % 2 == 0
        board = opening(number // 2)
        result, least, fault = play_game(board, {color: ours, not color: theirs}, args.seconds, args.increment)
        won = {"1-0": color, "0-1": not color}.get(result)
        report.results["draw" if won is None else "win" if won else "loss"] += 1
        report.least_left.append(least[color])
        report.moves += len(board.move_stack) // 2
        if fault:
            whose = "ours" if fault.startswith(chess.COLOR_NAMES[color]) else "Stockfish's"
            report.faults.append(f"game {number}, {whose}: {fault}")
    for engine in (ours, theirs):
        pid = engine.transport.get_pid()  # pyright: ignore
        engine.quit()
        engine.close()
        time.sleep(0.2)
        if Path(f"/proc/{pid}").exists():
            report.faults.append(f"process {pid} is still there")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first game")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--increment", type=float, default=0.01)
    parser.add_argument("--elo", type=int, default=0, help="Stockfish's UCI_Elo; 0: its skill level 0")
    parser.add_argument("--our-elo", type=int, default=0, help="our UCI_Elo; 0: full strength")
    parser.add_argument("--stockfish", default=find("stockfish"))
    parser.add_argument("options", nargs="*", help="options of `plyground uci`")
    args = parser.parse_args()
    report = Report()
    for first in range(args.first, args.first + args.games, GAMES_EACH):
        play_some(first, min(GAMES_EACH, args.first + args.games - first), args, report)
        found = {
            "games": sum(report.results.values()),
            **report.results,
            "moves": report.moves,
            "least_clock_s": round(min(report.least_left), 3),
            "median_least_clock_s": round(statistics.median(report.least_left), 3),
            "uciok_s": round(statistics.median(report.starts), 2),
            "stop_ms": [round(1000 * each, 1) for each in (statistics.median(report.stops), max(report.stops))],
            "faults": report.faults,
        }
        print(json.dumps(found), flush=True)
    sys.exit(1 if any("Stockfish's" not in fault for fault in report.faults) else 0)


if __name__ == "__main__":
    main()
