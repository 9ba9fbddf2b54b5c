"""Environments: games in lockstep, each against an opponent drawn from a mix, the learner on either side; and how the
games of a cycle ended."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from plyground.agents.agent import Agent, OnDevice, ask
from plyground.agents.registry import make
from plyground.agents.turns import Turns, packed, unpacked
from plyground.arena.openings import read_openings
from plyground.backend.device import SIMULATED, is_gpu
from plyground.backend.games import DeviceGame
from plyground.backend.parts import restore
from plyground.backend.runner import get
from plyground.backend.view import View
from plyground.batch import Batch
from plyground.errors import IllegalAction, InvalidValue, shown
from plyground.game import Game
from plyground.games.interface import DRAW, FIRST_WINS, SECOND_WINS
from plyground.games.rng import agent_seeds
from plyground.learners.config import LEARNER, SNAPSHOT, opponent_shares

MAX_REASONS = 1000  # games of a cycle whose reasons are counted: enough to tell, and texts cost time
MAX_REASONS_PER_PLY = 50  # where many games begin together, the first that end are all short
COUNTS = ("games", "plies", "truncated", "draws", "first_wins", "second_wins")
READ_INTERVAL = 16  # plies between two readings of the counts on a GPU, since each reading waits for it


class Transition(NamedTuple):
    """One ply of every environment."""

    states: Tensor  # [N, bytes of a head]
    actions: Tensor  # [N] int32
    rewards: Tensor  # [N] float32, for the side that acted
    next_states: Tensor  # [N, bytes of a head]; of a finished game its final position
    terminated: Tensor  # [N] bool
    truncated: Tensor  # [N] bool
    own: Tensor  # [N] bool: the learner acted, not an opponent
    lengths: Tensor  # [N] int32 plies of the game, this one included


def make_opponents(mix: tuple[str, ...], game: Game) -> dict[str, Agent]:
    """{agent spec: agent} of the opponents that are not the learner itself."""
    return {spec: make(spec, game) for spec in opponent_shares(mix) if spec not in (LEARNER, SNAPSHOT)}


class SelfPlay:
    """The environments, and the opponent in each."""

    def __init__(self, game: Game, device: str, config: Any, rng: torch.Generator) -> None:
        """`config` has num_envs, seed, max_plies, opening_plies, openings, opponents and, where used, snapshots."""
        n, shares = config.num_envs, opponent_shares(config.opponents)
        self.game, self.config, self.rng = game, config, rng
        limit = config.max_plies or None
        self.batch = Batch(game, n, config.seed, device=device, max_plies=limit, check=False)
        self.agent_rngs = torch.empty_like(self.batch.rngs)  # [N] the opponents' generators
        self.turns = Turns()  # that opponents are in, by environment
        self.seed_agents(config.seed)
        self.device, self.results = self.batch.on.device, GameResults(game, device, n)
        self.agents = {
            spec: agent.to(device) if isinstance(agent, OnDevice) else agent
            for spec, agent in make_opponents(config.opponents, game).items()
        }
        self.book = self._read_book()
        self.specs = list(shares)
        self.limits = torch.tensor(list(shares.values()), device=self.device).cumsum(0)[:-1]  # [specs - 1]
        self.is_other = torch.tensor([spec != LEARNER for spec in shares], device=self.device)  # [specs]
        self.opponent = torch.zeros(n, dtype=torch.int64, device=self.device)  # [N] index into `specs`
        self.snapshot = torch.zeros(n, dtype=torch.int64, device=self.device)  # [N] which one, if that is the opponent
        self.side = torch.zeros(n, dtype=torch.int8, device=self.device)  # [N] the learner's side
        self.begin_games(torch.ones(n, dtype=torch.bool, device=self.device))

    @property
    def choosing_rngs(self) -> Tensor:
        """[N] generators for whoever chooses actions: where something can be foreseen, never those that decide it. In
        other games runs stay those of older versions."""
        return self.agent_rngs if self.game.uncertain else self.batch.rngs

    def seed_agents(self, seed: int) -> None:
        self.agent_rngs.copy_(torch.from_numpy(agent_seeds(seed, len(self.agent_rngs))))

    def state(self) -> dict[str, Any]:
        games = {"states": self.batch.states, "rngs": self.batch.rngs, "plies": self.batch.plies}
        others = {"opponent": self.opponent, "snapshot": self.snapshot, "side": self.side}
        return {**games, "agent_rngs": self.agent_rngs, **others, "turns": self._packed_turns()}

    def _packed_turns(self) -> Tensor:
        """[N, 1 + LONGEST] int64, or no rows where no opponent needs its unfinished turns."""
        searches = (agent for agent in self.agents.values() if not isinstance(agent, OnDevice))
        needed = any(getattr(agent, "leaves_circles", False) for agent in searches)
        return torch.from_numpy(packed(self.turns, len(self.batch) if needed else 0).view(np.int64))

    def load_state(self, state: Mapping[str, Any]) -> None:
        older = {"agent_rngs": self.agent_rngs.cpu().numpy()}  # runs whose opponents drew from the games' generators
        own = self.state()
        older["turns"] = own["turns"].numpy()
        for name, tensor in own.items():
            restore(name, tensor, {**older, **state}, {})
        self.turns = unpacked(own["turns"].numpy().view(np.uint64))
        limits = {"opponent": len(self.specs), "side": 2, "snapshot": 2**31, "plies": 2**31 - 1}
        for name, tensor in self.state().items():
            if name in limits and not ((tensor >= 0) & (tensor < limits[name])).all():
                low, high = int(tensor.min()), int(tensor.max())
                raise InvalidValue(f"the games' {name} is from 0 to {limits[name] - 1}, not from {low} to {high}")

    def parts(self) -> dict[str, Any]:
        return {"games": self, "results": self.results}

    def watched(self) -> dict[str, Any]:
        """The first game as a picture of characters, and who plays it."""
        rules = self.game.rules
        (state,) = self.batch.on.to_records(self.batch.states[:1])
        opponent, side = self.specs[int(self.opponent[0])], int(self.side[0])
        names = ["the learner", "itself" if opponent == LEARNER else opponent]
        players = " against ".join(f"{names[k]} ({rules.SIDES[(side + k) % 2]})" for k in (0, 1))
        return {"board": rules.draw(state), "styles": dict(rules.STYLES), "players": f"now playing: {players}"}

    def begin_games(self, begins: Tensor) -> None:
        """New games where `begins` [N]: after a random opening, against an opponent drawn from the mix."""
        n, config = len(begins), self.config
        if self.book is not None:
            drawn = self.book[self._integers(len(self.book), n).long()]
            self.batch.states.copy_(torch.where(begins[:, None], drawn, self.batch.states))
        elif config.opening_plies > 0:
            self.batch.begin_games(begins, self._opening_plies(n))
        if self.specs != [LEARNER]:
            drawn = torch.bucketize(torch.rand(n, generator=self.rng, device=self.device), self.limits)
            earlier = self._integers(max(1, getattr(config, "snapshots", 1)), n)
            for kept, new in ((self.opponent, drawn), (self.snapshot, earlier), (self.side, self._integers(2, n))):
                kept.copy_(torch.where(begins, new.to(kept.dtype), kept))

    def _opening_plies(self, n: int) -> Tensor:
        """[N] int32 random plies before a game; none in the share of games that begin at the start."""
        plies, share = self._integers(self.config.opening_plies + 1, n), getattr(self.config, "opening_share", 1.0)
        if share < 1:
            plies *= torch.rand(n, generator=self.rng, device=self.device) < share
        return plies

    def _read_book(self) -> Tensor | None:
        """[openings, bytes] the positions that games begin with, where the config names a file of them."""
        if not self.config.openings:
            return None
        found = read_openings(Path(self.config.openings), self.game, max(0, self.config.opening_plies))
        rows = torch.from_numpy(found.view("u1").reshape(len(found), -1).copy())
        return rows.to(self.device)

    def _integers(self, below: int, n: int) -> Tensor:
        return torch.randint(below, (n,), generator=self.rng, device=self.device, dtype=torch.int32)

    # ---- a ply ----

    def step(self, actions: Tensor, snapshots: Sequence[OnDevice] = ()) -> Transition:
        """One ply in every environment: the learner's `actions` [N], or its opponent's where it is that one's turn.
        Finished games are counted and replaced by new ones."""
        ply = self.advance(actions, snapshots)
        self.results.count(self.batch.on, ply)
        return ply

    def advance(self, actions: Tensor, snapshots: Sequence[OnDevice] = ()) -> Transition:
        """`step` on the device alone, for graphs: whoever runs one calls `results.count` each time."""
        games, batch = self.batch.on, self.batch
        own = self._answer(actions, snapshots)
        states, lengths = games.heads(batch.states), batch.plies + 1
        illegal = games.find_illegal(batch.states, actions)
        rewards, terminated, truncated = batch.step(actions)
        next_states = batch.next_states
        ply = Transition(states, actions, rewards, next_states, terminated, truncated, own, lengths)
        self.results.add(games, ply, illegal)
        self.begin_games(terminated | truncated)
        return ply

    def check_every_ply(self, view: View) -> None:
        """A network without an output for every action may have none for the legal ones: an illegal action must be
        noticed before the next ply."""
        if view.outputs < self.game.num_actions:
            self.results.interval = 1

    @property
    def on_device(self) -> bool:
        """Whether all opponents act on the device of the games, so that a ply can be captured in a graph."""
        return all(isinstance(agent, OnDevice) for agent in self.agents.values())

    def _answer(self, actions: Tensor, snapshots: Sequence[OnDevice]) -> Tensor:
        """Fill in the opponents' actions where it is their turn; returns where the learner acts itself [N]."""
        own = self.own_turns()
        for place, spec in enumerate(self.specs):
            turn = ~own & (self.opponent == place)
            if spec == SNAPSHOT and snapshots:
                which = self.snapshot % len(snapshots)
                for number, agent in enumerate(snapshots):
                    self._ask(agent, turn & (which == number), actions)
            elif spec in self.agents:
                self._ask(self.agents[spec], turn, actions)
        return own

    def own_turns(self) -> Tensor:
        """[N] bool: where the learner acts, not its opponent."""
        return (self.side == self.batch.to_move) | ~self.is_other[self.opponent]

    def _ask(self, agent: Agent, turn: Tensor, actions: Tensor) -> None:
        """Let an agent act where `turn` [N] is set; on the CPU, if it must, which costs a copy of the states."""
        if isinstance(agent, OnDevice):
            agent.act_on(self.batch, turn, self.agent_rngs, self.rng, actions)
            return
        act = partial(ask, agent, self.game, games=turn.nonzero()[:, 0].cpu().numpy(), turns=self.turns)
        self.batch.ask(act, self.agent_rngs, turn, actions)


class GameResults:
    """Counts of the games that ended since the cycle began. They are added up on the device, and read there at every
    ply on a CPU, at every READ_INTERVAL-th on a GPU."""

    def __init__(self, game: Game, device: str, n: int) -> None:
        self.game, self.n = game, n
        self.interval, self.unread = READ_INTERVAL if is_gpu(device) and not SIMULATED else 1, 0  # plies
        self.sums = torch.zeros(len(COUNTS), dtype=torch.int64, device=get(device).device)  # since the last reading
        self.extremes = torch.tensor([0, n], device=self.sums.device)  # the longest game, the first illegal row
        self.clear()

    def clear(self) -> None:
        self.counts, self.reasons = Counter[str](), Counter[str]()

    @property
    def games(self) -> int:
        return self.counts["games"]

    def state(self) -> dict[str, Any]:
        unread = {"sums": self.sums, "extremes": self.extremes, "unread": self.unread}
        return {"counts": self.counts, "reasons": self.reasons, **unread}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.clear()
        if "unread" in state:  # not in older checkpoints, where everything was read
            self.unread = _count("unread", state["unread"])
            for name in ("sums", "extremes"):
                restore(name, getattr(self, name), dict(state), {})
            least, row = int(torch.cat([self.sums, self.extremes]).min()), int(self.extremes[1])
            if least < 0 or row > self.n:
                raise InvalidValue(f"sums and extremes of the games' results are at least 0, the row at most {self.n}")
        for key, count in state.items():  # such as `reasons.four in a row`
            which, _, name = key.partition(".")
            if which in ("counts", "reasons"):
                (self.counts if which == "counts" else self.reasons)[name] = _count(key, count)

    def add(self, games: DeviceGame, ply: Transition, illegal: Tensor) -> None:
        """Add up the games that have just ended, on the device. `illegal` [1] is the first row with an illegal action,
        or the number of rows."""
        over, lengths = ply.terminated | ply.truncated, ply.lengths
        outcomes = games.field(ply.next_states, "outcome")
        wins = [(ply.terminated & (outcomes == code)).sum() for code in (DRAW, FIRST_WINS, SECOND_WINS)]
        self.sums += torch.stack([over.sum(), (over * lengths).sum(), ply.truncated.sum(), *wins])
        self.extremes[0] = torch.maximum(self.extremes[0], (over * lengths).max())
        self.extremes[1] = torch.minimum(self.extremes[1], illegal[0])

    def count(self, games: DeviceGame, ply: Transition) -> None:
        """After each `add`, in Python: read the sums if it is time, and put some reasons into words. Raises
        IllegalAction if an action was illegal."""
        self.unread += 1
        if self.unread < self.interval:
            return
        ended, row = self._read()
        if row < self.n:
            when = "" if self.interval == 1 else f", or another action of its last {self.interval} plies"
            raise IllegalAction(f"row {row}: {int(ply.actions[row])} is not legal{when}")
        wanted = min(MAX_REASONS_PER_PLY, MAX_REASONS - self.reasons.total())
        if wanted > 0 and ended:
            rows = ply.terminated.nonzero()[:wanted, 0]
            found = games.to_records(ply.next_states[rows])
            self.reasons.update(self.game.rules.reason(each) or "over" for each in found)

    def _read(self) -> tuple[int, int]:
        """Read the sums, all at once, and begin new ones; how many games they count, and the first illegal row."""
        *counts, longest, row = cast("list[int]", torch.cat([self.sums, self.extremes]).tolist())
        for name, count in zip(COUNTS, counts, strict=True):
            self.counts[name] += count
        self.counts["longest"] = max(self.counts["longest"], longest)
        self.sums.zero_()
        self.extremes.copy_(torch.tensor([0, self.n]))
        self.unread = 0
        return counts[0], row

    def merge(self, counts: Mapping[str, int], reasons: Mapping[str, int]) -> None:
        """Add the games that somebody else has counted."""
        longest = max(self.counts["longest"], counts.get("longest", 0))
        self.counts.update(counts)
        self.counts["longest"] = longest
        self.reasons.update(reasons)

    def record(self) -> dict[str, Any]:
        """Shares, lengths and reasons, for the metrics of a cycle."""
        games = max(1, self.games)
        shares = {name: self.counts[name] / games for name in ("first_wins", "second_wins", "draws", "truncated")}
        lengths = {"mean_length": self.counts["plies"] / games, "longest": self.counts["longest"]}
        return {"games": self.games, **shares, **lengths, "reasons": dict(self.reasons)}


def _count(name: str, value: Any) -> int:
    """A count of a checkpoint."""
    if type(value) is not int or not 0 <= value < 2**63:
        raise InvalidValue(f"{name} of the games' results is a count, not {shown(value)}")
    return value
