"""Connect Four beside its peers: random play with legal mask and observation at each ply, plies per CPU-second.

One process, one thread of ours; the peers may use what they like, since CPU time counts all threads. Rounds are
interleaved, so that a slow moment of the machine hits everybody; medians are compared.
"""

# The peers need not be installed, and have no types:
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import plyground as pg
from plyground.checks.speed import rate, stepper

ROUNDS, SECONDS, BATCH = 7, 0.5, 4096


def open_spiel(name: str = "connect_four") -> Callable[[], int]:
    """C++ rules behind Python calls, as a Python learner uses them. The random choice is the cheapest we know."""
    import pyspiel

    game, draw = pyspiel.load_game(name), random.Random(0).random
    states = [game.new_initial_state() for _ in range(64)]

    def step() -> int:
        for row, state in enumerate(states):
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            if state.is_terminal():
                states[row] = state = game.new_initial_state()
            state.legal_actions_mask()
            state.observation_tensor()
        return len(states)

    return step


def pgx(batch: int = BATCH) -> Callable[[], int]:
    """JAX rules, one compiled step for the whole batch: choice, move, reset, mask and observation."""
    import jax
    import jax.numpy as jnp
    import pgx as peer

    env = peer.make("connect_four")
    init, move = jax.vmap(env.init), jax.vmap(env.step)

    @jax.jit
    def advance(state, key):
        key, choose, fresh = jax.random.split(key, 3)
        actions = jax.random.categorical(choose, jnp.log(state.legal_action_mask.astype(jnp.float32)), axis=1)
        after = move(state, actions)
        new = init(jax.random.split(fresh, batch))
        over = after.terminated

        def pick(a, b):
            return jnp.where(over.reshape((batch,) + (1,) * (a.ndim - 1)), b, a)

        return jax.tree_util.tree_map(pick, after, new), key

    holder = [jax.jit(init)(jax.random.split(jax.random.PRNGKey(0), batch)), jax.random.PRNGKey(1)]

    def step() -> int:
        holder[:] = advance(*holder)
        jax.block_until_ready(holder[0].observation)
        return batch

    step()
    return step


def pettingzoo() -> Callable[[], int]:
    from pettingzoo.classic import connect_four_v3

    env: Any = connect_four_v3.env()
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def step() -> int:
        for _ in range(16):
            observation, _, terminated, _, _ = env.last()
            if terminated:
                env.reset()
                observation, *_ = env.last()
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        return 16

    return step


def main() -> None:
    """Measure everybody who can be imported, round by round, and print the table."""
    game = pg.load("connect_four")
    players = {f"Plyground, {name}": stepper(game, name, BATCH, 1) for name in ("planes", "signed")}
    peers = {"OpenSpiel": open_spiel, "pgx": pgx, "PettingZoo": pettingzoo}
    for name, make in peers.items():
        try:
            players[name] = make()
        except ImportError as error:
            print(f"{name} is not installed ({error}); left out")
    rates: dict[str, list[float]] = {name: [] for name in players}
    for _ in range(ROUNDS):
        for name, step in players.items():
            rates[name].append(rate(step, SECONDS, time.process_time))
    ours = statistics.median(rates["Plyground, planes"])
    table = Table("", "M plies per CPU-second", "lowest", "highest", "Plyground (planes) is faster by")
    for name, found in rates.items():
        middle = statistics.median(found)
        low, high = min(found), max(found)
        table.add_row(name, f"{middle / 1e6:.3f}", f"{low / 1e6:.3f}", f"{high / 1e6:.3f}", f"{ours / middle:.1f}x")
    Console().print(f"Connect Four, batch {BATCH}, random play, legal mask and observation; medians of {ROUNDS} rounds")
    Console().print(table)


if __name__ == "__main__":
    main()
