"""Configs: the settings that learners share, their bounds, and the defaults that depend on game and machine.

A learner's own config is a frozen dataclass in its file: `class DQN(NetworkConfig, RunConfig)`. The sentence below a
field is its help text. An annotation states the bounds of a number; a number without one has those of UNBOUNDED.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_type_hints

import numpy as np

from plyground.agents.agent import make, usual
from plyground.backend import device as devices
from plyground.backend.view import View
from plyground.batch import Batch
from plyground.errors import InvalidValue, shown
from plyground.game import Game, load
from plyground.learners.evaluation import GAMES_PER_CYCLE
from plyground.learners.selfplay import make_opponents, opponent_shares
from plyground.networks import make_network, suitable
from plyground.tables import Table

DEFAULT_CYCLES, CYCLES_OF_TIMED_RUN = 10, 20
MOST_OPENING_PLIES, RANDOM_GAMES = 60, 64
Notify = Callable[[str], None]


class Bounds(NamedTuple):
    """The smallest and the largest value of a setting."""

    low: float
    high: float = math.inf


Share = Annotated[float, Bounds(0, 1)]
Count = Annotated[int, Bounds(1)]
Threads = Annotated[int, Bounds(0, 1024)]  # with many more, torch ends the process
OpeningPlies = Annotated[int, Bounds(-1, 10_000)]
UNBOUNDED = Bounds(0, 1e30)  # of a number that states no bounds: what the network's numbers can hold


@dataclass(frozen=True)
class RunConfig:
    """The settings of every run."""

    game: str = "connect_four"
    """a game's name, with settings as name:key=value, or a path to its .py file"""
    seed: int = 0
    """the same seed gives the same run, on the same machine with the same `threads`"""
    init: str = ""
    """a run whose best checkpoint initialises the network or the table"""
    cycles: int = 0
    """cycles of play, updates and evaluation (0: no limit if `seconds` is set, else 10)"""
    seconds: float = 0.0
    """stop after this many seconds of play and updates (0: no limit); such a run cannot be repeated exactly"""
    games_per_cycle: int = 0
    """finished games in a cycle (0: 2000, or as many as `seconds_per_cycle` allow)"""
    seconds_per_cycle: float = 0.0
    """seconds of play and updates in a cycle, if `games_per_cycle` is 0 (0: a twentieth of `seconds`)"""
    max_plies: int = 0
    """truncate a game after this many plies; its last position keeps its value (0: never)"""
    openings: str = ""
    """a file of openings that games begin with, at random: .pgn, or moves or a position on each line; with it,
    `opening_plies` is how many plies of each are played (0: all)"""
    eval_opponents: tuple[str, ...] = ()
    """agent specs to evaluate against; by default random, and greedy where the game has it"""
    eval_games: Annotated[int, Bounds(2)] = 200
    """games against each of them, and against the best checkpoint so far"""
    checkpoint_interval: Count = 1
    """cycles between evaluations and checkpoints"""
    keep_last: Count = 2
    """newest checkpoints to keep, beside the best"""
    keep_every: int = 0
    """keep every n-th checkpoint too (0: none)"""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.eval_games % 2:
            raise InvalidValue(f"eval_games is even, not {self.eval_games}: matches are played in pairs")


@dataclass(frozen=True)
class NetworkConfig:
    """The settings of every learner that plays games with a network."""

    encoder: str = ""
    """the network's observation (empty: the game's first encoder)"""
    network: str = "512-256"
    """hidden sizes of an MLP, or a residual net such as b4c64"""
    outputs: int = 0
    """actions that the network has outputs for, the first ones; it never plays others (0: all)"""
    device: str = "cpu"
    """where network, games and replay buffer are: cpu, cuda, or auto (cuda if there is one)"""
    threads: Threads = 1
    """torch threads on a CPU: more can be faster where cores are idle, and are far slower where they are not; they
    change the last bits of sums, and so the weights (0, in configs of older versions: 1)"""
    num_envs: Count = 512
    """environments: games that are played in parallel"""
    opening_plies: OpeningPlies = -1
    """games begin after a random number of random plies, up to this many (-1: as many as random games of this game
    usually have, at most 60)"""
    opponents: tuple[str, ...] = ("1 self",)
    """weight and agent spec of each opponent; also self, and snapshot (an earlier version of the network)"""
    snapshots: Count = 3
    """earlier versions of the network that are kept as opponents"""
    snapshot_interval: Count = 5
    """cycles between two snapshots"""
    batch_size: Count = 256
    """plies in a minibatch"""
    learning_rate: float = 2e-3
    """learning rate of Adam"""
    learning_rate_final: Share = 0.05
    """final learning rate as a share of the initial one; it falls linearly over the second half of the run"""
    gamma: Share = 0.99
    """discount, applied each time the turn passes to the other side"""
    max_grad_norm: float = 10.0
    """clip the gradient to this norm (0: no clipping)"""
    rollback_grad_norm: float = 1000.0
    """roll back to the last checkpoint if the gradient's norm exceeds this"""
    rollback_entropy: float = 0.01
    """roll back if the policy's entropy falls below this, in nats"""

    def __post_init__(self) -> None:
        super().__post_init__()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  (RunConfig's)
        opponent_shares(self.opponents)


C = TypeVar("C")


def check_bounds(config: Any) -> None:
    """Refuse a number outside the bounds that its field states."""
    hints = get_type_hints(cast(type[Any], type(config)), include_extras=True)
    for name, value in asdict(config).items():
        if not isinstance(value, int | float):
            continue
        bounds = next(
            (each for each in getattr(hints[name], "__metadata__", ()) if isinstance(each, Bounds)), UNBOUNDED
        )
        if not bounds.low <= value < math.inf:
            raise InvalidValue(f"{name} is a number of at least {bounds.low}, not {shown(value)}")
        if value > bounds.high:
            raise InvalidValue(f"{name} is at most {bounds.high}, not {shown(value)}")
    if config.seed >= 2**63:
        raise InvalidValue(f"seed is below 2**63, not {shown(config.seed)}")


def resolve(config: C, notify: Notify = lambda text: None) -> C:
    """The config with the defaults that depend on game and machine filled in, as config.toml states them.

    `notify` is told which device was chosen and why.
    """
    given = cast(Any, config)
    game, names = load(given.game), asdict(given)
    found: dict[str, Any] = {"game": game.full}
    if "eval_opponents" in names:
        found["eval_opponents"] = given.eval_opponents or usual(game)
        for spec in found["eval_opponents"]:
            make(spec, game)  # an unknown spec is an error now, not after the first cycle
    if names.get("cycles", 1) == 0 and not given.seconds:
        found["cycles"] = DEFAULT_CYCLES
    if not names.get("games_per_cycle", 1):
        found |= _resolve_cycle(given)
    if names.get("opening_plies", 0) < 0:
        found["opening_plies"] = 0 if given.openings else usual_length(game, MOST_OPENING_PLIES)
    if "opponents" in names:
        found["opponents"] = given.opponents or _sparring_partners(game)
        make_opponents(found["opponents"], game)
    if "key" in names:
        found["key"] = str(Table(game, given.key).key)
    if "network" in names:
        found |= _resolve_network(given, game, notify)
    return replace(given, **found)


def _resolve_cycle(config: Any) -> dict[str, Any]:
    """The length of a cycle: by time where a clock ends the run, else by games."""
    if config.seconds_per_cycle or config.seconds:
        return {"seconds_per_cycle": config.seconds_per_cycle or config.seconds / CYCLES_OF_TIMED_RUN}
    return {"games_per_cycle": GAMES_PER_CYCLE}


def _sparring_partners(game: Game) -> tuple[str, ...]:
    """The network itself and, where the game has it, a scripted agent that punishes mistakes from the first game on."""
    return ("0.7 self", "0.3 greedy") if "greedy" in usual(game) else ("1 self",)


def usual_length(game: Game, most: int) -> int:
    """The plies after which half of some random games have ended; at most `most`."""
    batch, running = Batch(game, RANDOM_GAMES, seed=0), np.ones(RANDOM_GAMES, bool)
    for ply in range(1, most):
        step = batch.step(batch.random_actions())
        running &= ~(step.terminated | step.truncated)
        if 2 * running.sum() <= RANDOM_GAMES:
            return ply
    return most


def _resolve_network(config: Any, game: Game, notify: Notify) -> dict[str, Any]:
    device, message = devices.choose(config.device)
    if message:
        notify(message)
    view = View(game, config.encoder, config.outputs)
    spec = config.network or suitable(view.shape, view.outputs)
    make_network(spec, view.shape, view.outputs, parts=view.parts)  # an unknown one is an error now
    found = {"device": device, "encoder": str(view.encoder), "outputs": view.outputs, "threads": config.threads or 1}
    return {**found, "network": spec}
