"""A plain DQN that learns a board game by playing itself, in one file.

    python examples/dqn.py                                        # Connect Four, a minute
    python examples/dqn.py --game examples/three_in_a_row.py --seconds 15

All games advance in lockstep. Memory keeps states, not observations: what the network sees of them and which actions
are legal in each successor is computed when a batch is drawn. The target is that of negamax: what is good for whoever
moves next is bad for me, unless that is me again.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor, nn

import plyground as pg
from plyground.agents.agent import make
from plyground.arena.match import openings, play_match
from plyground.pictures import save_learning
from plyground.position import Position
from plyground.terminal import board, console, show_match

Records = NDArray[np.void]


@dataclass(frozen=True)
class Config:
    """Learn a game by self-play, then play a match."""

    game: str = "connect_four"
    """a game's name or a path to its file"""
    seconds: float = 60.0
    """how long to learn"""
    seed: int = 0
    games: int = 512
    """games played side by side"""
    batch: int = 256
    updates: int = 4
    """gradient steps for each ply of all games"""
    memory: int = 400_000
    learning_rate: float = 2e-3
    """falls to a twentieth over the second half"""
    discount: float = 0.99
    """for each time the turn passes"""
    sync: int = 200
    """updates between copies of the network to its target"""
    picture: Path = Path("demo.png")


class QNetwork(nn.Module):
    """Values of all actions, from what the game's first encoder shows: [B, *shape] -> [B, A]."""

    def __init__(self, game: pg.Game) -> None:
        super().__init__()
        self.game, self.encoder = game, next(iter(game.encoders))
        inputs = int(np.prod(game.encoder(self.encoder).shape))
        hidden = nn.Linear(inputs, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU()
        self.layers = nn.Sequential(nn.Flatten(), *hidden, nn.Linear(256, game.num_actions))

    def forward(self, states: Records) -> Tensor:
        return self.layers(torch.from_numpy(self.game.encode(self.encoder, states)))

    @torch.no_grad()
    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[B] the best legal action of each state: the network as an agent."""
        return self(states).masked_fill(~legal(self.game, states), -torch.inf).argmax(1).int().numpy()


class Memory:
    """The last plies of all games, as records: where each began, what was played, what it brought, where it led."""

    def __init__(self, game: pg.Game, size: int) -> None:
        self.states, self.after = np.zeros(size, game.rules.HEAD), np.zeros(size, game.rules.HEAD)
        self.actions, self.rewards = np.zeros(size, np.int64), np.zeros(size, np.float32)
        self.stored = 0

    def add(self, states: Records, actions: NDArray[np.int32], rewards: NDArray[np.float32], after: Records) -> None:
        rows = np.arange(self.stored, self.stored + len(states)) % len(self.states)
        self.states[rows], self.actions[rows], self.rewards[rows], self.after[rows] = states, actions, rewards, after
        self.stored += len(states)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Records, Tensor, Tensor, Records]:
        rows = rng.integers(0, min(self.stored, len(self.states)), n)
        actions, rewards = torch.from_numpy(self.actions[rows]), torch.from_numpy(self.rewards[rows])
        return self.states[rows], actions, rewards, self.after[rows]


def legal(game: pg.Game, states: Records) -> Tensor:
    """[B, A] which actions are legal."""
    return torch.from_numpy(game.legal_mask(states))


def targets(rewards: Tensor, same_side: Tensor, next_values: Tensor, next_legal: Tensor, discount: float) -> Tensor:
    """[B] the reward, and what the best legal action after it is worth to the side that acted; nothing at the end."""
    best = next_values.masked_fill(~next_legal, -torch.inf).amax(1)
    best = torch.where(next_legal.any(1), best, 0.0)  # a finished game has no legal action
    return rewards + torch.where(same_side, best, -discount * best)


def learn(config: Config, game: pg.Game, report: Callable[[float, QNetwork], None]) -> QNetwork:
    """Play and learn until the time is up; `report` is told ten times on the way."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    network, target = QNetwork(game), QNetwork(game)
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), config.learning_rate, fused=True)
    memory, batch, updates, reports = Memory(game, config.memory), pg.Batch(game, config.games, config.seed), 0, 0
    epsilon = 0.4 ** np.linspace(1, 3, config.games)  # some games explore much, some little
    opening = rng.integers(0, game.rules.MAX_PLIES // 2, config.games)  # random plies at the start of each game
    begun = time.perf_counter()
    while (done := (time.perf_counter() - begun) / config.seconds) < 1:
        # Play one ply in every game.
        exploring = (rng.random(config.games) < epsilon) | (batch.plies < opening)
        actions = np.where(exploring, batch.random_actions(), network.act(batch.states, batch.rngs))
        states = game.heads(batch.states)
        rewards, over, _ = batch.step(actions)
        memory.add(states, actions, rewards, batch.after)
        opening[over] = rng.integers(0, game.rules.MAX_PLIES // 2, over.sum())

        # Learn from what was stored.
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * min(1.0, 1.95 - 1.9 * done)
        for _ in range(config.updates if memory.stored > 10 * config.games else 0):
            states, actions, rewards, after = memory.draw(config.batch, rng)
            same_side = torch.from_numpy(states["to_move"] == after["to_move"])
            with torch.no_grad():
                wanted = targets(rewards, same_side, target(after), legal(game, after), config.discount)
            loss = nn.functional.smooth_l1_loss(network(states).gather(1, actions[:, None])[:, 0], wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updates += 1
            if updates % config.sync == 0:
                target.load_state_dict(network.state_dict())
        if done * 10 >= reports:
            report(done * config.seconds, network)
            reports += 1
    report(config.seconds, network)
    return network


def main(config: Config) -> None:
    """Learn, show the curve, play a match, and draw a game's end."""
    torch.set_flush_denormal(True)  # before torch starts its threads; denormals slow Adam threefold
    game = pg.load(config.game)
    opponents = {name: make(name, game) for name in ("random", "greedy")}
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in opponents}
    console.print(f"Learning {game} by self-play for {config.seconds:.0f} seconds. Score: wins and half the draws.")

    def report(seconds: float, network: QNetwork) -> None:
        line = f"{seconds:5.0f} s"
        for name, opponent in opponents.items():
            scores[name].append((seconds, play_match(game, network, opponent, 200, seed=1).score))
            line += f"   {name} {scores[name][-1][1]:4.0%} {'█' * round(20 * scores[name][-1][1]):20}"
        console.print(line)

    network = learn(config, game, report)
    for name, opponent in opponents.items():
        show_match(play_match(game, network, opponent, 1000, seed=2), "dqn", name, game, as_json=False)
    console.print("A game of the network against itself, from a random opening, ends like this:")
    position, rngs = Position(game, openings(game, 1, seed=3)[0]), np.zeros(1, np.uint64)
    while not position.over:
        position.play(int(network.act(position.states, rngs)[0]))
    console.print(board(position))
    console.print(f"{position.outcome} ({position.reason})" if position.reason else str(position.outcome))
    save_learning(config.picture, scores, position)
    console.print(f"The curve and the board as a picture: {config.picture}")


if __name__ == "__main__":
    main(tyro.cli(Config))
