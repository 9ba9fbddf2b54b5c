"""Everything on one GPU: the rules, the encoders, pgx beside them where it can be imported, and a learner.

    python benchmarks/gpu.py            all of it, in a few minutes; the tables are Markdown, for docs/speed.md

Every figure is the median of several rounds between two synchronisations, without compile time. Nothing is copied to
the CPU unless a row says so.
"""

# The peers need not be installed, and have no types:
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

import plyground as pg
from plyground.backend.clock import Clock
from plyground.backend.device import name as name_of_gpu
from plyground.backend.device import problem
from plyground.learners.config import DQN
from plyground.learners.dqn import DQNLearner

ROUNDS, SECONDS = 5, 0.3
GAMES = {"connect_four": 1 << 22, "chess": 1 << 18, "paco_sako": 1 << 18, "sequence": 1 << 17}
"""games side by side, one ply at a time"""
FUSED = {
    "connect_four": (1 << 20, 1000),
    "chess": (1 << 19, 100),
    "paco_sako": (1 << 19, 100),
    "sequence": (1 << 18, 100),
}
"""games side by side, and the plies that each thread plays on its own"""
PEER = {"connect_four": 1 << 20, "chess": 1 << 14}


def rate(work: Callable[[], int], seconds: float = SECONDS) -> float:
    """Units of work a second: the median of some rounds."""
    work()
    found: list[float] = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begun, units = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            for _ in range(4):
                units += work()
            torch.cuda.synchronize()
        found.append(units / (time.perf_counter() - begun))
    return statistics.median(found)


def table(title: str, *rows: tuple[str, ...]) -> None:
    """Print rows, the first of which has the headings."""
    print(f"\n**{title}**\n")
    for number, row in enumerate(rows):
        print(f"| {' | '.join(row)} |")
        if number == 0:
            print("|" + "---|" * len(row))
    sys.stdout.flush()


def millions(value: float) -> str:
    return f"{value / 1e6:,.1f}" if value < 1e9 else f"{value / 1e6:,.0f}"


# ---- rules ----


def stepper(word: str, n: int) -> Callable[[], int]:
    """One random ply in every game: the choice, the rules, what is legal (chess: as a list) and the observation."""
    game = pg.load(word)
    batch = pg.Batch(game, n, seed=1, device="cuda", check=False)
    encoder = game.encoder(next(iter(game.encoders)))
    shown = torch.empty((n, *encoder.shape), device="cuda")
    mask = torch.empty((n, game.num_actions), dtype=torch.bool, device="cuda") if word != "chess" else None
    batch.random_play(60)

    def step() -> int:
        if mask is None:
            actions, counts = batch.legal_list()
            chosen = (torch.rand(n, device="cuda") * counts).long()[:, None]
            batch.step(actions.gather(1, chosen)[:, 0])
        else:
            batch.step(batch.random_actions())
            batch.legal_mask(out=mask)
        batch.encode(str(encoder), out=shown)
        return n

    return step


def player(word: str, n: int, plies: int) -> Callable[[], int]:
    batch = pg.Batch(pg.load(word), n, seed=1, device="cuda", check=False)

    def play() -> int:
        batch.random_play(plies)
        return n * plies

    return play


def measure_rules() -> None:
    rows = [
        (
            "game",
            "games at once",
            "M plies/s, one at a time with mask (chess: list) and observation",
            "M plies/s, random play in one kernel",
        )
    ]
    for word, n in GAMES.items():
        single, fused = rate(stepper(word, n)), rate(player(word, *FUSED[word]))
        rows.append((word, f"{n:,}", millions(single), millions(fused)))
        torch.cuda.empty_cache()
    table("Rules", *rows)


# ---- pgx ----


def pgx(word: Any, batch: int) -> Callable[[], int]:
    """JAX rules, one compiled step for the whole batch: choice, move, mask, observation. Fresh games are ready-made."""
    import jax
    import jax.numpy as jnp
    import pgx as peer

    env = peer.make(word)
    move = jax.vmap(env.step)
    fresh = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))

    @jax.jit
    def advance(state: Any, key: Any, fresh: Any) -> Any:
        key, choose = jax.random.split(key)
        actions = jax.random.categorical(choose, jnp.log(state.legal_action_mask.astype(jnp.float32)), axis=1)
        after = move(state, actions)

        def pick(a: Any, b: Any) -> Any:
            return jnp.where(after.terminated.reshape((batch,) + (1,) * (a.ndim - 1)), b, a)

        return jax.tree_util.tree_map(pick, after, fresh), key

    holder: list[Any] = [fresh, jax.random.PRNGKey(1)]

    def step() -> int:
        holder[:] = advance(holder[0], holder[1], fresh)
        jax.block_until_ready(holder[0].observation)
        return batch

    return step


def measure_pgx() -> None:
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    try:
        import pgx as peer
    except ImportError as error:
        print(f"\npgx cannot be imported ({error}); left out")
        return
    rows = [(f"pgx {peer.__version__}", "games at once", "M plies/s with mask and observation")]
    for word, n in PEER.items():
        try:
            rows.append((word, f"{n:,}", millions(rate(pgx(word, n)))))
        except Exception as error:  # whatever keeps a peer from running is said, and the rest goes on
            rows.append((word, f"{n:,}", f"did not run: {type(error).__name__}"))
    table("pgx on the same GPU", *rows)


# ---- encoders ----


def measure_encoders() -> None:
    """From the CPU's memory to a tensor on the GPU: dense numbers, or indices that become dense there."""
    rows = [("Paco Ŝako, from pinned memory of the CPU", "bytes a position", "M positions/s")]
    game, n = pg.load("paco_sako"), 1 << 18
    batch = pg.Batch(game, n, seed=1, device="cuda", check=False)
    batch.random_play(100)
    index = batch.encode("index").to(torch.int16).cpu().pin_memory()
    dense = batch.encode("tensor").cpu().pin_memory()
    senders: dict[str, tuple[Any, Callable[[], Any]]] = {
        "dense float32, copied": (dense, lambda: dense.to("cuda", non_blocking=True)),
    }
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        senders[f"int16 indices, expanded to {str(dtype).removeprefix('torch.')}"] = (
            index,
            lambda dtype=dtype: batch.on.expand("index", index, dtype),
        )
    for name, (source, send) in senders.items():
        rows.append((name, str(source[0].nbytes), millions(rate(lambda send=send: (send(), n)[1]))))
    table("Index against dense", *rows)


# ---- a learner ----


PARTS: tuple[str, ...] = ("rules", "encoding", "network", "replay")
LEARNERS = {"512-256": 1 << 15, "128-128": 1 << 16}
"""networks, and games side by side"""


def measure_learner() -> None:
    """One ply in every game, one update from as many samples; and where the GPU's time goes."""
    rows = [("DQN on Connect Four", "games at once", "M plies/s", "M samples/s", *PARTS)]
    for network, n in LEARNERS.items():
        sizes: dict[str, Any] = {"num_envs": n, "batch_size": n, "buffer_size": 64 * n, "learning_starts": 2 * n}
        config = DQN(device="cuda", network=network, threads=1, replay_ratio=1.0, games_per_cycle=1 << 40, **sizes)
        learner, clock = DQNLearner(config), Clock("cuda")
        for _ in range(20):
            learner.iterate()
        torch.cuda.synchronize()
        begun, played, updates = time.perf_counter(), learner.state.plies, learner.state.updates
        while time.perf_counter() - begun < 3:
            with clock:
                learner.iterate()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begun
        plies, samples = (learner.state.plies - played) / seconds, (learner.state.updates - updates) * n / seconds
        spent = [clock.seconds.get(part, 0.0) for part in PARTS]
        shares = [f"{value / sum(spent):.0%}" for value in spent]
        rows.append((network, f"{n:,}", f"{plies / 1e6:.2f}", f"{samples / 1e6:.2f}", *shares))
    table("Learning, with everything on the GPU", *rows)


def main() -> None:
    reason = problem()
    if reason:
        sys.exit(f"no GPU can be used: {reason}")
    begun = time.perf_counter()
    today = time.strftime("%Y-%m-%d", time.gmtime())
    print(f"{today}, {name_of_gpu()}, PyTorch {torch.__version__}, Python {platform.python_version()}")
    warm_up()
    measure_rules()
    measure_encoders()
    measure_learner()
    measure_pgx()
    print(f"\n{time.perf_counter() - begun:.0f} s in all")


WARM_UP = """
import plyground as pg, sys
batch = pg.Batch(pg.load(sys.argv[1]), 64, device="cuda")
batch.random_play(1)
batch.step(batch.random_actions())
batch.legal_mask()
batch.encode(next(iter(batch.game.encoders)))
"""


def warm_up() -> None:
    """Compile every game's kernels at once, each in a process of its own."""
    waiting = [subprocess.Popen([sys.executable, "-c", WARM_UP, word]) for word in GAMES]
    for process in waiting:
        process.wait()


if __name__ == "__main__":
    main()
