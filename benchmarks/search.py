"""Simulations per CPU-second of tree search on one core, beside OpenSpiel's MCTS where it is installed.

`python benchmarks/search.py` · one tree from the start of a game; simulations after the root is proven do not exist.
`python benchmarks/search.py --gpu` · lockstep with a network on a GPU, beside the network alone: see `gpu` below.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import plyground as pg
from plyground.search.tree_config import SearchConfig
from plyground.search.tree_search import TreeSearch

ROUNDS = 5
CASES = {
    "connect_four, random play": ("connect_four", SearchConfig(100_000, leaf="random", lookahead=False), 1_500_000),
    "connect_four, random play, looking for wins": ("connect_four", SearchConfig(100_000, leaf="random"), 0),
    "chess, evaluate": ("chess", SearchConfig(100_000, leaf="evaluate", lookahead=False), 300_000),
    "chess, evaluate, looking for wins": ("chess", SearchConfig(100_000, leaf="evaluate"), 0),
    "chess, random play": ("chess", SearchConfig(3_000, leaf="random", lookahead=False), 7_000),
    "chess, 100 random plies": (
        "chess",
        SearchConfig(10_000, leaf="random", rollout_plies=100, lookahead=False),
        20_000,
    ),
}


def rates(run: Callable[[int], int]) -> list[float]:
    """Simulations per CPU-second in each round; `run(seed)` returns how many there were."""
    run(0)  # compiles, and touches the memory
    found: list[float] = []
    for seed in range(ROUNDS):
        start = time.process_time()
        found.append(run(seed) / (time.process_time() - start))
    return found


def ours(word: str, config: SearchConfig) -> list[float]:
    game = pg.load(word)
    searcher, states = TreeSearch(game, config, threads=1), game.start().states
    return rates(lambda seed: int(searcher.search(states, np.full(1, seed, np.uint64)).simulations[0]))


def open_spiel(name: str, simulations: int) -> list[float]:
    """OpenSpiel's C++ MCTS with one random game from each leaf."""
    import pyspiel  # pyright: ignore[reportMissingImports]

    game = pyspiel.load_game(name)

    def run(seed: int) -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        kind = pyspiel.ChildSelectionPolicy.UCT
        bot = pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, True, seed, False, kind)
        bot.step(game.new_initial_state())
        return simulations

    return rates(run)


def line(title: str, found: list[float], wanted: int = 0) -> str:
    middle, low, high = statistics.median(found), min(found), max(found)
    goal = f", at least {wanted:,} is wanted" if wanted else ""
    return f"{title:45s} {middle:12,.0f} simulations per CPU-second ({low:,.0f} to {high:,.0f}{goal})"


def gpu(word: str, network: str, games: int, simulations: int) -> None:
    """A search of many games in lockstep on a GPU, and the network alone on as many positions."""
    import torch

    from plyground.backend.graph import repeatable
    from plyground.backend.view import View
    from plyground.models.network import NetworkEvaluator
    from plyground.networks import make_network
    from plyground.search.network_search import NetworkSearch

    game = pg.load(word)
    view = View(game, "", device="cuda")
    net = make_network(f"{network}+value", view.shape, view.outputs).to(view.device).eval()
    evaluator = NetworkEvaluator(view, net)
    batch = pg.Batch(game, games, device="cuda")
    for _ in range(6):
        batch.step(batch.random_actions())
    observed = view.observe(view.on.heads(batch.states)).to(evaluator.dtype)
    with torch.no_grad():
        alone = repeatable("cuda", lambda: evaluator.function(observed))
        rate_alone = games * 50 / seconds(lambda: [alone() for _ in range(50)])
    config = SearchConfig(simulations, leaf="network", selection="gumbel")
    search = NetworkSearch(view, evaluator, config, games)
    rngs = batch.rngs.clone()
    search.search(batch.states, rngs)
    found = [games * simulations / seconds(lambda: search.search(batch.states, rngs)) for _ in range(ROUNDS)]
    share = statistics.median(found) / rate_alone
    print(line(f"{word}, {network}, {games} games", found), f"= {share:.0%} of the network alone, {rate_alone:,.0f}")


def seconds(work: Callable[[], object]) -> float:
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def main() -> None:
    if "--gpu" in sys.argv:
        gpu("connect_four", "b6c128", 16_384, 64)
        gpu("chess", "b6c128-pairs", 8_192, 32)
        return
    for title, (word, config, wanted) in CASES.items():
        print(line(title, ours(word, config), wanted), flush=True)
    if importlib.util.find_spec("pyspiel"):
        for name, simulations in (("connect_four", 100_000), ("chess", 500)):
            print(line(f"OpenSpiel's MCTS, {name}, random play", open_spiel(name, simulations)), flush=True)


if __name__ == "__main__":
    main()
