"""A sparse network learns to judge positions as a search does that looks further, in compiled code, without torch.

    target = (1 - result_share) * probability(value that the search found) + result_share * result of the game
    loss   = (probability(network) - target)², over quiet positions: no check, no loud action is best

The positions come from datasets: then a cycle is an epoch, and the version with the lowest loss on held-out games is
the best. Or from rounds of games in which the newest version searches against itself: then a cycle is a round, and the
best version is replaced by one that scores at least half of the points against it. Such a run begins with games of the
game's own evaluation, until the network scores half of the points against that; or with those of random weights.

The same seed gives the same bits for any number of threads, on every processor: gradients are added up in a fixed
order, and sine and exponential are our own.

Differences from the networks of chess engines (NNUE): any game with cells; one hidden layer; trained where it plays.

Metrics: `train_loss`; on held-out games `loss`, and `hand_loss`, that of the game's own `evaluate`.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.agents.sparse import NODES
from plyground.errors import InvalidValue
from plyground.game import Game, load
from plyground.games.rng import scatter
from plyground.kernels.cache import load_kernels
from plyground.kernels.threads import available, over_slices
from plyground.learners.config import Sparse as Config
from plyground.learners.evaluation import GAMES_PER_CYCLE, Event, evaluate_in_matches
from plyground.learners.state import Metrics, TrainingState
from plyground.learners.versions import Versions
from plyground.models.compiled import handwritten
from plyground.models.numbers import cosine
from plyground.models.sparse import CLIP, Sparse, of_config
from plyground.models.sparse_training import Examples, Step, working_memory
from plyground.runs.learned import begin_with
from plyground.search.minimax import check_searchable
from plyground.search.timed import TimedMinimax
from plyground.teaching.dataset import map_packed
from plyground.teaching.searched import SearchedGames, SearchedLines

PARTS = 8  # of a minibatch, each with gradients of its own
CHUNK = 1 << 16  # positions whose features are listed at a time
WEIGHTS_FOR_A_THREAD = 1 << 14  # in a step of Adam
UPDATES, GAMES = 20, 32  # of an iteration
WARM_UP, FINAL_RATE = 50, 0.01  # updates of growing rate; share of the rate at the end
LONGEST = 200  # plies of a game, where the config sets no limit
Records = NDArray[np.void]


class Positions(NamedTuple):
    """P positions to learn from."""

    features: Any  # [all of them] uint16: the inputs that are 1, of each view in turn
    starts: Any  # [2 P + 1] int64: where those of each view begin
    keys: Any  # [P] uint64: equal for equal positions
    targets: Any  # [P] float32: the probability of winning, for the side to move
    hand: Any  # [P] float32: the same by the game's own evaluation
    held_out: Any  # [P] bool
    rounds: Any  # [P] int32: in which they were played

    def only(self, kept: NDArray[np.bool_]) -> Positions:
        """Those of a mask [P]."""
        sizes = np.diff(self.starts).reshape(-1, 2)  # [P, 2]
        features = self.features[np.repeat(np.repeat(kept, 2), sizes.reshape(-1))]
        starts = np.concatenate([[0], np.cumsum(sizes[kept].reshape(-1))])
        return Positions(features, starts, *(each[kept] for each in self[2:]))

    def and_those(self, others: Positions) -> Positions:
        starts = np.concatenate([self.starts, others.starts[1:] + self.starts[-1]])
        rest = [np.concatenate(each) for each in zip(self[2:], others[2:], strict=True)]
        return Positions(np.concatenate([self.features, others.features]), starts, *rest)


TYPES = (np.uint16, np.int64, np.uint64, np.float32, np.float32, np.bool_, np.int32)
NO_POSITIONS = Positions._make(np.zeros(int(kind is np.int64), kind) for kind in TYPES)  # of no view the end is 0


class Reader:
    """Makes positions to learn from of searched ones."""

    def __init__(self, game: Game, network: Sparse, config: Config) -> None:
        self.config, self.network, self.kernels = config, network, network.kernels("plyground.models.sparse_features")
        self.evaluation = handwritten(game, fine=True) if "evaluate" in game.rules.compiled else None
        self.training = load_kernels("plyground.models.sparse_training", {}, "sparse networks")

    def read(self, records: Records, number: int = 0) -> Positions:
        """The quiet ones, each once, in order; `number` is that of the round."""
        records = records[records["quiet"] == 1]
        records = records[np.sort(np.unique(records["key"], return_index=True)[1])]
        heads, values = np.ascontiguousarray(records["state"]), records["value"].astype(np.float64)
        hand = np.zeros(len(records)) if self.evaluation is None else self.evaluation.judge(heads)
        share = self.config.result_share
        targets = (1 - share) * self._probabilities(values) + share * (records["result"] + 1) / 2
        with np.errstate(over="ignore"):
            drawn = (scatter(records["game"] ^ np.uint64(self.config.seed)) >> np.uint64(32)).astype(np.int64)
        features, starts = self._features(heads)
        return Positions(
            features,
            starts,
            keys=records["key"].copy(),
            targets=targets.astype(np.float32),
            hand=self._probabilities(hand).astype(np.float32),
            held_out=drawn <= max(self.config.validation_split * 2**32, drawn.min(initial=2**32)),  # one game at least
            rounds=np.full(len(records), number, np.int32),
        )

    def _probabilities(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.empty(len(values))
        self.training.probabilities(values, found)
        return found

    def _features(self, heads: Records) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """The features and starts of positions [P]."""
        row, count = self.network.game.cells.features - 1, self.network.game.cells.count
        cells, room = np.zeros(count, np.int16), np.empty(2 * CHUNK * count, np.uint16)
        features, starts = [np.zeros(0, np.uint16)], [np.zeros(1, np.int64)]
        for first in range(0, len(heads), CHUNK):
            part = heads[first : first + CHUNK]
            ends = np.empty(2 * len(part), np.int64)
            self.kernels.list_features(part, row, cells, room, ends)
            features.append(room[: ends[-1]].copy())
            starts.append(ends + starts[-1][-1])
        return np.concatenate(features), np.concatenate(starts)


class SparseLearner:
    """A network, the best version of it so far, and the positions that it learns from."""

    limits = ("cycles", "seconds")

    def __init__(self, config: Config) -> None:
        self.config, self.state, self.game = config, TrainingState(), load(config.game)
        self.network = of_config(asdict(config), self.game)
        check_searchable(self.game, self.network if config.from_ == "nothing" or config.data else None)
        if config.init:
            begin_with(self.network, config.init)
            self.floats = self.network.floats()
        else:
            self.floats = self.network.floats()
            rng = np.random.default_rng(config.seed)
            for name, size in (("first", 0.1), ("second", 0.17)):
                self.floats[name] = rng.uniform(-size, size, self.floats[name].shape)
            self.floats["bias"] = 0.1
            self.network.quantise(self.floats)
        self.model = Versions(self.network)
        self.threads = min(config.threads or available(), available())
        self.reader = Reader(self.game, self.network, config)
        self.optimizer = Optimizer(self.floats, config, self.network.units, self.threads)
        self.round = Round(own=config.from_ == "nothing" or bool(config.init))
        self.pass_, self.order = -1, np.zeros(0, np.int64)  # of the present pass, which is made when it is needed
        self.data = self._read_data() if config.data else NO_POSITIONS
        self.kept = Fingerprint(self.data, config.data) if config.data else Replay(self)
        self.players = dict[bool, list[SearchedGames]]()  # for each thread; whether the network plays
        self.cycle = Cycles(self)

    def _read_data(self) -> Positions:
        lines, found = SearchedLines(self.game), list[Records]()
        for path in self.config.data:
            found.append(map_packed(Path(path), lines, needed=lines.learned.names))
        data = self.reader.read(np.concatenate(found) if len(found) > 1 else found[0])
        for held_out, what in ((False, "to learn from"), (True, "of held-out games")):
            if not (data.held_out == held_out).any():
                raise InvalidValue(f"{', '.join(self.config.data)}: there are no quiet positions {what}")
        return data

    # ---- iterations ----

    def iterate(self) -> Metrics:
        """A few games, or a few updates."""
        if not self.config.data and self.round.games < self.games_in_round:
            return self._play()
        return self._learn()

    @property
    def games_in_round(self) -> int:
        return self.config.games_per_cycle or GAMES_PER_CYCLE

    @property
    def updates_in_pass(self) -> int:
        """The last positions, too few for a minibatch, are left out of this pass."""
        return max(1, int((~self.data.held_out).sum()) // self.config.batch_size)

    @property
    def updates_in_cycle(self) -> int:
        return self.updates_in_pass * (1 if self.config.data else self.config.epochs)

    def _play(self) -> Metrics:
        """Games of the network against itself or, until it is as strong, of the game's own evaluation."""
        config, state, played = self.config, self.state, dict[int, tuple[Records, str]]()
        if not self.round.games:
            self.data = self.data.only(self.data.rounds > state.cycle - config.rounds_kept)
        begin = state.cycle * self.games_in_round + self.round.games
        numbers = range(begin, begin + min(GAMES, self.games_in_round - self.round.games))
        if self.round.own not in self.players:
            self.players[self.round.own] = [self._player() for _ in range(self.threads)]
        players = self.players[self.round.own]

        def play(threads: slice) -> None:
            for k in range(threads.start, threads.stop):
                for number in numbers[k :: self.threads]:
                    played[number] = players[k].play(config.seed, number)

        over_slices(play, self.threads, self.threads, 1)
        records = np.concatenate([played[number][0] for number in numbers])
        found = self.reader.read(records, state.cycle)
        self.data = self.data.and_those(found.only(~np.isin(found.keys, self.data.keys)))
        self.round.games += len(numbers)
        state.plies += len(records)
        return {}

    def _player(self) -> SearchedGames:
        model = self.network if self.round.own else None
        search = TimedMinimax(self.game, nodes=self.config.nodes, threads=1, model=model)
        return SearchedGames(self.game, search, self.config.opening_plies, self.config.max_plies or LONGEST)

    def _learn(self) -> Metrics:
        """A few updates of the weights in floats, and then the network in integers."""
        state, config, data, round_ = self.state, self.config, self.data, self.round
        examples, losses, size = Examples(data.features, data.starts, data.targets), list[float](), config.batch_size
        for _ in range(min(UPDATES, self.updates_in_cycle - round_.updates)):
            number, place = divmod(round_.updates, self.updates_in_pass)
            if number != self.pass_:
                rng = np.random.default_rng([config.seed, state.cycle, number])
                self.pass_, self.order = number, rng.permutation(np.flatnonzero(~data.held_out))
            rows = self.order[place * size : (place + 1) * size]
            round_.updates += 1
            if len(rows):
                losses.append(self.optimizer.update(rows, examples, self._rate()))
                state.updates += 1
                state.plies += len(rows) if config.data else 0
        round_.losses += sum(losses)
        self.network.quantise(self.floats)
        return {"train_loss": sum(losses) / len(losses)} if losses else {}

    def _rate(self) -> float:
        """The learning rate: it grows for a few updates, then falls as a cosine."""
        done = self.state.progress if self.config.data else self.round.updates / self.updates_in_cycle
        fallen = FINAL_RATE + (1 - FINAL_RATE) * 0.5 * (1 + cosine(np.pi * done))
        begun = min(1.0, (self.state.updates + 1) / WARM_UP)
        return self.config.learning_rate * begun * fallen / 2**self.state.rollbacks

    # ---- for the training loop ----

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        own = {"data" if self.config.data else "replay": self.kept}  # first, so that a refused load changes nothing
        return {**own, "state": self.state, "round": self.round, "optimizer": self.optimizer, **self.model.parts()}

    def measure(self) -> dict[str, float]:
        """The mean squared errors of the probabilities on held-out games."""
        rows = np.flatnonzero(self.data.held_out)
        if not len(rows):
            return {}
        targets = self.data.targets[rows].astype(np.float64)
        examples = Examples(self.data.features, self.data.starts, self.data.targets)
        found = {"loss": float(np.square(self.optimizer.judge(rows, examples) - targets).mean())}
        if self.reader.evaluation is not None:
            found["hand_loss"] = float(np.square(self.data.hand[rows] - targets).mean())
        return found


@dataclass
class Round:
    """How far the present cycle is."""

    own: bool
    """whether the network plays; otherwise the game's own evaluation does"""
    games: int = 0
    updates: int = 0
    losses: float = 0.0
    """the sum of theirs"""


class Optimizer:
    """Adam on the weights in floats, in several threads."""

    def __init__(self, floats: Records, config: Config, units: int, threads: int) -> None:
        self.floats, self.config, self.threads = floats, config, threads
        self.kernels = load_kernels("plyground.models.sparse_training", {}, "sparse networks")
        self.weights = floats.view(np.float32)  # [W]
        self.decayed = floats["first"].size
        self.means, self.squares = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.powers = np.ones(2)  # of the two betas
        self.gradients = np.zeros(PARTS, floats.dtype)
        self.flat = self.gradients.view(np.float32).reshape(PARTS, -1)  # [PARTS, W]
        self.memory = working_memory(units, PARTS)
        self.losses = np.zeros(PARTS)

    def update(self, rows: NDArray[np.int64], examples: Examples, rate: float) -> float:
        """A step on a minibatch; returns its mean loss."""
        edges = [len(rows) * k // PARTS for k in range(PARTS + 1)]
        self.powers *= (0.9, 0.999)
        unbias1, unbias2 = (1.0 / (1.0 - self.powers)).tolist()
        decay = self.config.weight_decay
        step = Step(*(np.float32(x) for x in (rate, 1.0 / len(rows), unbias1, unbias2, decay, CLIP)))

        def learn(parts: slice) -> None:
            for k in range(parts.start, parts.stop):
                own, memory = self.gradients[k : k + 1], self.memory[k : k + 1]
                part = rows[edges[k] : edges[k + 1]]
                self.losses[k] = self.kernels.learn_part(part, examples, self.floats, own, memory)

        def move(part: slice) -> None:
            self.kernels.step(
                part.start, part.stop, self.decayed, self.weights, self.flat, self.means, self.squares, step
            )

        over_slices(learn, PARTS, self.threads, 1)
        over_slices(move, len(self.weights), self.threads, WEIGHTS_FOR_A_THREAD)
        return sum(self.losses.tolist()) / len(rows)

    def judge(self, rows: NDArray[np.int64], examples: Examples) -> NDArray[np.float64]:
        """[len(rows)] the probabilities of winning."""
        found = np.empty(len(rows))
        self.kernels.judge_rows(rows, examples, self.floats, self.memory[:1], found)
        return found

    def state(self) -> dict[str, Any]:
        return {"weights": self.weights, "means": self.means, "squares": self.squares, "powers": self.powers}

    def load_state(self, state: dict[str, Any]) -> None:
        for name, array in self.state().items():
            if state[name].shape != array.shape or not np.isfinite(state[name]).all():
                raise InvalidValue(f"{name} of the optimizer are {array.shape} finite numbers")
            array[:] = state[name]


class Replay:
    """The positions of the last rounds, as a part of a checkpoint."""

    def __init__(self, learner: SparseLearner) -> None:
        self.learner = learner

    def state(self) -> dict[str, Any]:
        return self.learner.data._asdict()

    def load_state(self, state: dict[str, Any]) -> None:
        found = Positions(**{name: state[name] for name in Positions._fields})
        count, cells = len(found.keys), self.learner.game.cells
        sizes = {len(each) for each in found[2:]} | {(len(found.starts) - 1) // 2}
        rising = found.starts[0] == 0 and found.starts[-1] == len(found.features) and (np.diff(found.starts) >= 0).all()
        types = [each.dtype for each in found] == [each.dtype for each in NO_POSITIONS]
        if sizes != {count} or not types or not rising or (found.features >= cells.num_features).any():
            raise InvalidValue(f"positions to learn from have features below {cells.num_features}, in order")
        self.learner.data, self.learner.pass_ = found, -1


class Fingerprint:
    """Of the data: a run goes on with those that it was begun with."""

    def __init__(self, data: Positions, files: tuple[str, ...]) -> None:
        found = hashlib.blake2b(digest_size=16)
        for part in data:
            found.update(part.view(np.uint8).data)
        self.data, self.files = found.hexdigest(), files

    def state(self) -> dict[str, Any]:
        return {"fingerprint": self.data}

    def load_state(self, state: dict[str, Any]) -> None:
        if state["fingerprint"] != self.data:
            raise InvalidValue(f"{', '.join(self.files)}: not the data that this run was begun with")


class Cycles:
    """A cycle is an epoch of the data, or a round of games and what is learned from it."""

    def __init__(self, learner: SparseLearner) -> None:
        self.learner = learner

    def begin(self) -> list[Event]:
        return []

    def progress(self) -> float:
        learner = self.learner
        learned = learner.round.updates / learner.updates_in_cycle
        if learner.config.data:
            return learned
        played = learner.round.games / learner.games_in_round
        return 0.5 * (played + (learned if played == 1 else 0.0))

    def end(self) -> list[Event]:
        """The record of the cycle, and what becomes of the best version."""
        learner, state, config = self.learner, self.learner.state, self.learner.config
        found, round_, data = learner.measure(), learner.round, learner.data
        place = {"step": state.step, "cycle": state.cycle, "cycles": config.cycles}
        counts = {"updates": state.updates, "plies": state.plies, "illegal_moves": 0, "games": round_.games}
        size = {"positions": len(data.keys), "held_out": int(data.held_out.sum())}
        losses = {"train_loss": round_.losses / max(1, round_.updates), **found}
        events: list[Event] = [
            {"event": "cycle", **place, **counts, **size, **losses, "seconds": {"total": state.seconds}}
        ]
        learner.round, learner.pass_ = Round(round_.own), -1
        if config.data:
            if found["loss"] <= state.best.get("loss", found["loss"]):
                learner.model.keep_best()
                state.best = {"step": state.step, **found}
        elif state.checkpoint_due(config):
            events.append({"event": "evaluation", **place, **self._evaluate()})
        return events

    def _evaluate(self) -> Event:
        """While the game's own evaluation plays, it is one of the opponents: at half of the points the network does."""
        learner, config = self.learner, self.learner.config
        specs = config.eval_opponents if learner.round.own else (*config.eval_opponents, f"minimax:nodes={NODES}")
        found = evaluate_in_matches(learner.game, replace(config, eval_opponents=specs), learner.state, learner.model)
        learner.round.own = learner.round.own or found["eval_opponents"][specs[-1]]["score"] >= 0.5
        return found

    def summary(self) -> str:
        return f"{len(self.learner.data.keys):,} positions"
