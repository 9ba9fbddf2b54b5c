"""How Sequence's pretrained network was improved after PPO: by values of actions from games that `window` plays on.

    python tools/sequence_rollouts.py collect rollouts-1.npz --seconds 1080 --seed 1
    python tools/sequence_rollouts.py learn rollouts-*.npz --out runs/improved

`collect` plays the network against itself and against `window`. In every second position of the network its five
likeliest actions are tried in the same 28 determinizations, with the same random numbers (as `search:net=` does); the
mean results are their values. `learn` adds STRENGTH times an action's advantage, its value less the mean of the five,
to its logit. The values are mostly luck: within a position their standard deviation is 0.12, of whose square a network
predicts 6%. A regression learns only what many positions agree on. Held-out positions tell the gain of a move, without
bias.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

import plyground as pg
from plyground.agents.network import NetworkAgent
from plyground.agents.registry import load_run, make
from plyground.games.rng import seeds
from plyground.runs.directory import MANIFEST, find_checkpoint
from plyground.search.determinized_search import Searcher

TRAINED = Path(pg.__file__).parent / "trained" / "sequence"
CANDIDATES, DETERMINIZATIONS = 5, 28
GAMES, SELF_PLAY, SAMPLED, TEMPERATURE, SEARCHED = 256, 0.35, 0.3, 0.7, 0.5
STRENGTH = 80.0  # logits for an advantage of 1
SCALE = 0.05  # a usual advantage
DRIFT = 0.1  # weight of the change of the other actions' logits
HELD_OUT, BATCH = 15_000, 256


class Rollouts(NamedTuple):
    """Positions with the values of a few actions."""

    states: Tensor  # [N, bytes]
    outputs: Tensor  # [N, CANDIDATES] the network's outputs of the actions, then -1
    values: Tensor  # [N, CANDIDATES] their mean results for the side to move


# ---- collect ----


class Collector:
    """The network's games, and the values of its likeliest actions."""

    def __init__(self, agent: NetworkAgent, seed: int) -> None:
        self.agent, self.view, self.game = agent, agent.view, agent.game
        self.window, self.batch = make("window", self.game), pg.Batch(self.game, GAMES, seed=seed)
        self.rng, self.torch_rng = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
        self.self_play = self.rng.random(GAMES) < SELF_PLAY  # [GAMES]
        self.side = self.rng.integers(0, 2, GAMES)  # of the network in the others
        search: Any = make("search:sims=1000000", self.game)
        self.log_probs = np.empty(0)  # [A] of the position that is searched
        self.searcher = Searcher(self.game, replace(search.config, considered=CANDIDATES), lambda _: self.log_probs)
        self.found = list[tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.float32]]]()

    def ply(self) -> None:
        """Search half of the network's positions, then play one ply in every game."""
        states = self.batch.states.copy()
        rows = self.view.rows(states)
        with torch.inference_mode():
            legal = self.view.legal(rows)
            logits = self.agent.network(self.view.observe(rows)).masked_fill(~legal, -torch.inf)
        own = self.self_play | (states["to_move"] == self.side)
        for row in np.flatnonzero(own & (self.rng.random(GAMES) < SEARCHED)).tolist():
            if int(legal[row].sum()) > 1:
                self._search(states[row : row + 1], rows[row : row + 1], logits[row])
        others = self.window.act(states, seeds(int(self.rng.integers(1 << 40)), GAMES))
        self.batch.step(np.where(own, self._choose(rows, logits), others).astype(np.int32))

    def _choose(self, rows: Tensor, logits: Tensor) -> NDArray[np.int32]:
        """The network's best actions, some of them sampled instead."""
        drawn = torch.multinomial(torch.softmax(logits / TEMPERATURE, 1), 1, generator=self.torch_rng)[:, 0]
        sampled = torch.from_numpy(self.rng.random(GAMES) < SAMPLED)
        return self.view.action_of(rows, torch.where(sampled, drawn, logits.argmax(1))).numpy()

    def _search(self, state: NDArray[np.void], row: Tensor, logits: Tensor) -> None:
        """Play the candidates on in the same determinizations."""
        count = min(CANDIDATES, int((logits > -torch.inf).sum()))
        outputs = logits.topk(count).indices  # [C]
        actions = self.view.action_of(row.expand(count, *row.shape[1:]), outputs).numpy()
        self.log_probs = np.full(self.game.num_actions, -np.inf)
        self.log_probs[actions] = logits[outputs].numpy()
        searcher = self.searcher
        searcher.begin(state, self.rng.integers(1 << 62, size=1).astype(np.uint64))
        sims = count * DETERMINIZATIONS
        searcher.kernels.play_determinizations(searcher.search, sims, searcher.settings, searcher.work)
        found = searcher.search.candidates[:count]
        order = [actions.tolist().index(action) for action in found["action"].tolist()]
        places, values = np.full(CANDIDATES, -1), np.zeros(CANDIDATES, np.float32)
        places[:count], values[:count] = outputs.numpy()[order], found["total"] / found["visits"]
        self.found.append((row[0].numpy().copy(), places, values))

    def save(self, path: Path) -> None:
        states, outputs, values = (np.stack(each) for each in zip(*self.found, strict=True))
        np.savez(path, states=states, outputs=outputs, values=values)


def collect(agent: NetworkAgent, path: Path, seed: int, seconds: float) -> None:
    collector, end, told = Collector(agent, seed), time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        collector.ply()
        if time.monotonic() > told + 60.0:
            told = time.monotonic()
            print(f"{len(collector.found):,} positions, {end - told:.0f} s left", flush=True)
    collector.save(path)
    print(f"{len(collector.found):,} positions in {path}")


# ---- learn ----


def read(paths: list[Path]) -> Rollouts:
    files = [np.load(path) for path in paths]
    return Rollouts(*(torch.from_numpy(np.concatenate([file[name] for file in files])) for name in Rollouts._fields))


def centred(numbers: Tensor, there: Tensor) -> Tensor:
    """[B, C] less the mean of those that are there; 0 elsewhere."""
    mean = (numbers * there).sum(1, keepdim=True) / there.sum(1, keepdim=True)
    return (numbers - mean) * there


class Improvement:
    """The network that learns, beside the one that it began with."""

    def __init__(self, agent: NetworkAgent, data: Rollouts, seed: int) -> None:
        self.view, self.data, self.before = agent.view, data, agent.network
        self.network = copy.deepcopy(agent.network)
        order = torch.randperm(len(data.states), generator=torch.Generator().manual_seed(seed))
        self.held_out, self.rows = order[:HELD_OUT], order[HELD_OUT:]

    def loss(self, rows: Tensor) -> Tensor:
        data = Rollouts(*(each[rows] for each in self.data))
        there, places = data.outputs >= 0, data.outputs.clamp(min=0)
        shown, legal = self.view.observe(data.states), self.view.legal(data.states)
        logits, values = self.network.with_value(shown)
        with torch.no_grad():
            old_logits, old_values = self.before.with_value(shown)
        change = (logits - old_logits).masked_fill(~legal, 0.0)  # [B, outputs]
        learned = centred(change.gather(1, places), there) / STRENGTH
        advantages = centred(data.values, there)
        others = legal.scatter(1, places, False)
        drift = (change * others).square().sum() / others.sum() / (STRENGTH * SCALE) ** 2
        fit = ((learned - advantages)[there] / SCALE).square().mean()
        return fit + DRIFT * drift + (values - old_values).square().mean()

    def learn(self, epochs: int, rate: float, seed: int) -> None:
        optimizer = torch.optim.AdamW(self.network.parameters(), lr=rate, weight_decay=0.01)
        generator = torch.Generator().manual_seed(seed)
        steps, step = epochs * (len(self.rows) // BATCH), 0
        for _ in range(epochs):
            for rows in self.rows[torch.randperm(len(self.rows), generator=generator)].split(BATCH):
                if len(rows) < BATCH:
                    continue
                for group in optimizer.param_groups:
                    group["lr"] = rate * min(1.0, (step + 1) / 50) * (1.0 - 0.97 * step / steps)
                optimizer.zero_grad()
                loss = self.loss(rows)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
                optimizer.step()
                step += 1
                if step % 200 == 0:
                    print(f"{step} of {steps}: loss {float(loss.detach()):.3f}", flush=True)
                if step % (steps // 4) == 0:
                    print(self.gain(), flush=True)

    @torch.inference_mode()
    def gain(self) -> str:
        """How much better the best of the candidates is by the new network's choice, on held-out positions."""
        gains, changed = list[Tensor](), 0
        for rows in self.held_out.split(1000):
            data = Rollouts(*(each[rows] for each in self.data))
            there, places = data.outputs >= 0, data.outputs.clamp(min=0)
            shown = self.view.observe(data.states)
            old, new = (
                each(shown).gather(1, places).masked_fill(~there, -torch.inf).argmax(1, keepdim=True)
                for each in (self.before, self.network)
            )
            gains.append((data.values.gather(1, new) - data.values.gather(1, old))[:, 0])
            changed += int((old != new).sum())
        found = torch.cat(gains)
        error = float(found.std()) / len(found) ** 0.5
        return f"gain of a move {float(found.mean()):+.4f} ± {1.96 * error:.4f}; {changed / len(found):.1%} are others"

    def save(self, init: Path, out: Path) -> None:
        """The run that it began with, with the new weights in half precision, as they ship."""
        shutil.copytree(init, out)
        folder, name = find_checkpoint(out, "best").path, "network.safetensors"
        weights = {key: values.half().contiguous() for key, values in self.network.state_dict().items()}
        content = safetensors.torch.save(weights)
        (folder / name).write_bytes(content)
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        manifest["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("collect", "learn"))
    parser.add_argument("files", type=Path, nargs="+", help="collect: where positions are written; learn: to read")
    parser.add_argument("--init", type=Path, default=TRAINED, help="the run whose network is improved")
    parser.add_argument("--out", type=Path, default=Path("runs/improved"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1080.0)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    agent = load_run(str(chosen.init), pg.load("sequence"))
    if chosen.what == "collect":
        collect(agent, chosen.files[0], chosen.seed, chosen.seconds)
        return
    improvement = Improvement(agent, read(chosen.files), chosen.seed)
    improvement.learn(chosen.epochs, chosen.rate, chosen.seed)
    print(improvement.gain())
    improvement.save(chosen.init, chosen.out)


if __name__ == "__main__":
    main()
