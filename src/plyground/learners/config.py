"""Configs: the settings of every learner and their bounds. Nothing here imports torch or numba: the command line reads
its line, and shows its help, by these classes alone.

Each is a frozen dataclass: `class DQN(NetworkConfig, RunConfig)`. The sentence below a field is its help text. An
annotation states the bounds of a number; a number without one has those of UNBOUNDED. Defaults that depend on game and
machine are filled in by `defaults.py`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast, get_type_hints

from plyground.errors import InvalidValue, command, shorten, shown
from plyground.specs import WITH_VALUE
from plyground.teaching.config import BadLines

LEARNER, SNAPSHOT = "self", "snapshot"  # opponents that are not agent specs


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
    """a run whose best checkpoint initialises the network or the table; latest: the newest imitation run in runs/ whose
    network fits"""
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


@dataclass(frozen=True)
class PolicyConfig:
    """The settings of every policy-gradient learner."""

    network: str = "256-128+value"
    """hidden sizes of an MLP, a residual net such as b4c64, or connect_zero; each with a value head: +value"""
    opponents: tuple[str, ...] = ()
    """weight and agent spec of each opponent; also self, and snapshot (an earlier version of the network)
    (none: 0.7 self and 0.3 greedy, where the game has it)"""
    rollout_length: Annotated[int, Bounds(2)] = 16
    """plies of every environment between two updates"""
    batch_size: Annotated[int, Bounds(1)] = 1024
    """plies that the network processes at once"""
    learning_rate: float = 2e-3
    """learning rate of Adam"""
    entropy_coef: float = 0.03
    """initial coefficient of the entropy bonus in the loss"""
    entropy_coef_final: Share = 0.1
    """final entropy_coef as a share of the initial one; it falls linearly"""
    value_coef: float = 0.5
    """coefficient of the value loss"""
    symmetries: bool = True
    """show the network each position under a random symmetry of the game"""

    def __post_init__(self) -> None:
        super().__post_init__()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        if not self.network.endswith(WITH_VALUE):
            name = shorten(self.network)
            raise InvalidValue(f"a policy gradient needs a network with a value head: {name}{WITH_VALUE}, not {name}")


@dataclass(frozen=True)
class DQN(NetworkConfig, RunConfig):
    """Train a deep Q-network by self-play."""

    dueling: bool = False
    """split the network's head into the state's value and the actions' advantages"""
    exploration: Literal["epsilon", "boltzmann"] = "epsilon"
    """ε-greedy, or actions sampled from the softmax of their values"""
    exploration_initial_eps: Share = 0.4
    """initial ε of the most exploratory environment"""
    exploration_final_eps: Share = 0.4
    """final ε of the most exploratory environment"""
    exploration_fraction: Share = 0.5
    """share of the run over which ε goes from its initial to its final value"""
    exploration_spread: float = 3.0
    """the least exploratory environment uses ε to this power; the others lie between"""
    exploration_temperature: float = 0.1
    """temperature of boltzmann exploration"""
    buffer_size: int = 400_000
    """plies in the replay buffer"""
    learning_starts: int = 5000
    """plies played before the first update"""
    replay_ratio: Annotated[float, Bounds(0, 10_000)] = 2.0
    """plies sampled for each ply played"""
    n_step: Count = 1
    """plies of the n-step return"""
    bootstrap: Literal["next", "own_turn"] = "next"
    """bootstrap from the next state, or from the same side's next turn, with the opponent as part of the environment"""
    truncation_penalty: float = 0.0
    """subtracted from the return of a truncated game"""
    double_dqn: bool = False
    """select the next action with the network and evaluate it with the target network"""
    target_update_interval: Count = 200
    """updates between two copies of the network to the target network"""
    tau: Share = 0.0
    """soft update: move the target network by this share at each update instead (0: hard updates)"""
    loss: Literal["huber", "mse"] = "huber"
    """loss function of the TD error"""
    huber_delta: Annotated[float, Bounds(1e-6)] = 1.0
    """TD errors beyond it have a linear loss"""
    prioritized_replay: bool = False
    """sample plies in proportion to a power of their TD error"""
    priority_alpha: Share = 0.6
    """that power: 0 is uniform sampling"""
    priority_beta: Share = 0.4
    """exponent of the importance-sampling weights"""
    decided_share: Share = 0.0
    """share of the minibatch from decided games (the high-quality buffer)"""
    undecided_share: Share = 1.0
    """share of the drawn and truncated games that is learned from; the others leave the buffer when they end"""
    recent_share: Share = 0.0
    """share of the minibatch from the newest plies (the recent buffer)"""
    recent_size: Count = 50_000
    """plies in the recent buffer"""
    shaping_coef: float = 0.0
    """initial weight of the game's `evaluate` as a potential for reward shaping"""
    imitation_coef: float = 0.0
    """initial reward for playing an action that a teacher would choose"""
    imitation_top_k: Count = 1
    """how many of the teacher's best actions earn it"""
    imitation_depth: int = 2
    """search depth of that teacher, in plies"""
    shaping_fraction: Share = 1.0
    """share of the run over which both fall to 0"""
    rollback_q: float = 10.0
    """roll back to the last checkpoint if the mean value exceeds this"""

    def __post_init__(self) -> None:
        super().__post_init__()
        capacity = self.buffer_size // self.num_envs * self.num_envs  # whole rows, one ply of each environment
        needed = max(self.learning_starts, self.batch_size)
        if capacity < needed:
            why = f"buffer_size holds {capacity} plies, but updates begin with {needed}"
            raise InvalidValue(f"{why}: learning_starts or batch_size")
        if self.undecided_share < 1 and self.prioritized_replay:
            raise InvalidValue("undecided_share below 1 needs uniform sampling: leave prioritized_replay out")
        if self.decided_share + self.recent_share > 1:
            raise InvalidValue("decided_share and recent_share are at most 1 together")


@dataclass(frozen=True)
class Reinforce(PolicyConfig, NetworkConfig, RunConfig):
    """Train a policy with REINFORCE."""

    rollout_length: Annotated[int, Bounds(2)] = 64
    """plies of every environment between two updates; plies of a game further back than twice that are not used"""
    baseline: bool = True
    """subtract the value from the return; otherwise the return alone is the advantage"""


@dataclass(frozen=True)
class A2C(PolicyConfig, NetworkConfig, RunConfig):
    """Train a policy with advantage actor-critic."""

    n_steps: Count = 2
    """own turns of the n-step return"""


@dataclass(frozen=True)
class PPO(PolicyConfig, NetworkConfig, RunConfig):
    """Train a policy with proximal policy optimization."""

    gae_lambda: Share = 0.7
    """λ of generalised advantage estimation: 0 trusts the value of the next ply, 1 only the end of the game"""
    clip_range: Share = 0.2
    """limit of the change of an action's probability, as a ratio"""
    epochs: Count = 5
    """passes over a rollout"""
    target_kl: float = 0.1
    """end the passes once the policy has moved further than this (0: never)"""


@dataclass(frozen=True)
class AlphaZero(NetworkConfig, RunConfig):
    """Train a network by self-play with tree search."""

    network: str = "512-256+value"
    """hidden sizes of an MLP or a residual net such as b4c64, with a value head: +value"""
    num_envs: Count = 128
    """environments: games that are played in parallel"""
    simulations: Annotated[int, Bounds(2, 100_000)] = 32
    """simulations of the search in each position, at the end of the run"""
    simulations_initial: int = 0
    """simulations at its beginning; they grow linearly (0: always the same number)"""
    considered: Annotated[int, Bounds(2, 1024)] = 16
    """actions among which the search chooses at the root"""
    value_scale: Annotated[float, Bounds(1e-6, 100)] = 0.1
    """c_scale of Gumbel search: how far values outweigh the network's policy"""
    opening_share: Share = 1.0
    """share of the games that begin after up to `opening_plies` random plies; the others begin at the start"""
    buffer_size: Count = 100_000
    """plies in the replay buffer"""
    learning_starts: Count = 4000
    """plies of finished games before the first update"""
    replay_ratio: Annotated[float, Bounds(0, 10_000)] = 4.0
    """plies sampled for each ply played"""
    gamma: Share = 1.0
    """discount of a result, applied each time the turn passes to the other side"""
    td_lambda: Share = 0.85
    """λ of the value target: 1 is the result of the game, 0 the search's own value of the position"""
    value_coef: float = 0.5
    """coefficient of the value loss"""
    weight_decay: float = 0.0
    """decoupled weight decay: each update makes the weights smaller by this share of the learning rate"""
    symmetries: bool = True
    """learn from each position under a random symmetry of the game"""
    gate: bool = False
    """play with the best network so far, which the present one replaces when it scores half in a paired match"""
    save_buffer: bool = True
    """checkpoints hold the replay buffer and the games: exact resume. Without them it refills after a resume"""
    learning_rate: float = 1e-3
    """learning rate of Adam"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.network.endswith(WITH_VALUE):
            name = shorten(self.network)
            raise InvalidValue(f"AlphaZero needs a network with a value head: {name}{WITH_VALUE}, not {name}")
        if self.simulations_initial > self.simulations:
            most = self.simulations
            raise InvalidValue(f"simulations_initial is at most simulations, {most}, not {self.simulations_initial}")
        capacity = self.buffer_size // self.num_envs * self.num_envs  # whole rows, one ply of each environment
        needed = max(self.learning_starts, self.batch_size)
        if capacity < needed:
            why = f"buffer_size holds {capacity} plies, but updates begin with {needed}"
            raise InvalidValue(f"{why}: learning_starts or batch_size")


@dataclass(frozen=True)
class Tabular(RunConfig):
    """Train a table of action values."""

    method: Literal["q", "sarsa", "monte_carlo"] = "q"
    """Q-learning bootstraps from the best next action, SARSA from the one that is played; Monte Carlo returns take the
    rewards and the result that followed, at the end of the game"""
    key: str = ""
    """what the table distinguishes of a state and an action (empty: the game's first key)"""
    num_envs: Count = 256
    """environments: games that are played in parallel"""
    opening_plies: OpeningPlies = -1
    """games begin after a random number of random plies, up to this many (-1: as many as random games of this game
    usually have, at most 60)"""
    opponents: tuple[str, ...] = ("1 self",)
    """weight and agent spec of each opponent, or self"""
    alpha: Share = 0.1
    """initial learning rate"""
    alpha_final: Share = 0.01
    """final learning rate"""
    rate: Literal["visits", "alpha"] = "visits"
    """1 / visits of an entry while that is above alpha, so that its first targets are averaged; or alpha alone"""
    gamma: Share = 0.95
    """initial discount, applied each time the other players have moved in between"""
    gamma_final: Share = 0.95
    """final discount"""
    epsilon: Share = 0.1
    """initial probability of a random action"""
    epsilon_final: Share = 0.02
    """final probability of a random action"""
    score_scale: Literal["log", "raw"] = "log"
    """an action's score as a reward: by its logarithm, 1 for the best that is usual, or as it is"""
    score_weight: float = 0.4
    """weight of an action's immediate effect and of the card it draws, in a choice"""
    value_weight: float = 0.6
    """weight of an action's value, in a choice"""
    value_scale: float = 10.0
    """factor of values in a choice, so that values of different actions lie as far apart as their scores"""
    draw_weight: float = 0.5
    """weight of the card that an action draws, beside its immediate effect"""
    reward_weight: float = 0.1
    """weight of the immediate effect in an action's value, beside the game's result of 1 or -1"""
    prior: float = 0.0
    """number of visits that a guess from similar entries counts as (0: no guesses)"""

    device: ClassVar[str] = NetworkConfig.device

    def __post_init__(self) -> None:
        super().__post_init__()
        if SNAPSHOT in opponent_shares(self.opponents):
            raise InvalidValue("a table has no snapshots to play against; opponents are self and agent specs")


@dataclass(frozen=True)
class TD(RunConfig):
    """Train an n-tuple network by TD(λ)."""

    tuples: Count = 80
    """groups of neighbouring cells; each has a table of all values that its cells can hold together"""
    length: Annotated[int, Bounds(1, 18)] = 9
    """cells of a tuple, or as many as its table has room for: 2**18 entries"""
    shared: bool = False
    """one network for both sides, each with its own eyes; otherwise one for each side to move"""
    alpha: Annotated[float, Bounds(0, 10)] = 2.0
    """initial step size, divided among the entries that a position meets; that of each entry falls as its errors cancel
    out (temporal coherence)"""
    alpha_final: Share = 0.1
    """final step size as a share of the initial one; it falls linearly over the second half of the run"""
    coherence_memory: Share = 0.97
    """share of its past that each update of an entry leaves to temporal coherence; 1: an entry forgets nothing, and
    hardly moves any more after an early coming and going"""
    epsilon: Share = 0.1
    """initial probability of a random action, before which nothing is learned"""
    epsilon_final: Share = 0.1
    """final epsilon as a share of the initial one; it falls linearly over the second half of the run"""
    td_lambda: Share = 0.8
    """λ of the target: 0 is the value of the next position, 1 the result of the game"""
    opening_plies: OpeningPlies = -1
    """games begin after a random number of random plies, up to this many (-1: as many as random games of this game
    usually have, at most 60)"""
    opening_share: Share = 0.75
    """share of the games that begin so; the others begin at the start"""
    redraws: Count = 1
    """where chance decides or cards are hidden: over how many redraws of that an action is valued while it learns; in
    play over at least 8"""
    games_per_round: Count = 256
    """games that are played with the same weights before anything is learned from them"""
    memory: Count = 2048
    """megabytes that tables may take while they learn"""
    threads: Threads = 0
    """processor cores, with the same result for any number (0: all)"""

    device: ClassVar[str] = NetworkConfig.device


@dataclass(frozen=True)
class Sparse(RunConfig):
    """Train a sparse network, an evaluation for alpha-beta, on what a search finds."""

    data: tuple[str, ...] = ()
    """datasets of searched positions, of which a cycle is an epoch (none: it plays against itself; a cycle is a round
    of games and `epochs` passes over the positions of the last rounds)"""
    units: Annotated[int, Bounds(32, 256)] = 64
    """width of the hidden layer, for each side's view: 32, 64, 128 or 256"""
    from_: Literal["evaluate", "nothing"] = "evaluate"
    """whose games it learns from at first: those of the game's own evaluation, until the network is as strong; or, with
    nothing but the rules, of the network itself with random weights"""
    nodes: Count = 1000
    """nodes of each search, in games against itself"""
    rounds_kept: Count = 20
    """rounds that are learned from"""
    epochs: Count = 4
    """passes over their positions after each round"""
    result_share: Share = 0.0
    """share of the game's result in the target; the rest is the value that the search found"""
    batch_size: Count = 4096
    """positions in a minibatch"""
    learning_rate: float = 2e-3
    """initial learning rate of Adam; it falls as a cosine, over the run or, in games against itself, over each round"""
    weight_decay: float = 0.01
    """decoupled weight decay: each update shrinks the first weights by learning rate times this"""
    validation_split: Share = 0.05
    """share of the games that is held out"""
    opening_plies: OpeningPlies = 12
    """games begin after a random number of random plies, up to this many"""
    threads: Threads = 0
    """processor cores, with the same result for any number (0: all)"""

    device: ClassVar[str] = NetworkConfig.device

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.validation_split < 1:
            raise InvalidValue(f"validation_split is between 0 and 1, not {self.validation_split}: it is measured on")


@dataclass(frozen=True)
class Imitation:
    """Train a network to choose as a teacher does."""

    data: tuple[str, ...] = ()
    """one dataset or several"""
    game: str = "chess"
    """the game they are about"""
    encoder: str = ""
    """the network's observation (empty: the game's first encoder)"""
    network: str = ""
    """hidden sizes of an MLP, or a residual net such as b4c64 (empty: b3c32-pairs where the encoder writes planes and
    the actions are pairs of squares, else 512-256-128)"""
    dueling: bool = True
    """split the network's head into the state's value and the actions' advantages"""
    outputs: int = 0
    """actions that the network has outputs for, the first ones (0: all); 4096 in chess: promotions to a queen only"""
    epochs: Count = 3
    """passes over the examples"""
    batch_size: Count = 64
    """examples in a minibatch"""
    learning_rate: float = 1e-3
    """learning rate of Adam; it falls linearly to a twentieth"""
    label_smoothing: Share = 0.05
    """share of the target that is spread evenly over the legal actions"""
    target_top_k: int = 0
    """the teacher's best actions to learn from (0: all that the data has)"""
    target_temperature: Annotated[float, Bounds(1e-3)] = 1.0
    """temperature of the teacher's policy as a target, relative to that of the data: below 1 it is sharper"""
    value_coef: float = 1.0
    """coefficient of the value loss"""
    action_value_coef: float = 0.0
    """coefficient of the squared error of the values of all the teacher's actions (data of temperature 1)"""
    weight_decay: float = 0.0
    """decoupled weight decay: each update shrinks the weights by learning rate times this"""
    validation_split: Share = 0.1
    """share of the games, or of the positions, that is held out"""
    held_out: Literal["games", "positions"] = "games"
    """hold out whole games, or single positions, between whose neighbours the network then learns"""
    validation_data: tuple[str, ...] = ()
    """datasets to measure on, of another seed than the data, instead of a share of its games"""
    patience: Count = 2
    """epochs without a lower divergence on held-out games after which the run ends"""
    init: str = ""
    """a run whose best checkpoint initialises the network"""
    bad_lines: BadLines = "stop"
    """stop at lines that are not valid, or skip them; either way they go to FILE.rejected"""
    device: str = NetworkConfig.device
    """where the network is: cpu, cuda, or auto (cuda if there is one)"""
    threads: Threads = NetworkConfig.threads
    """torch threads on a CPU: more can be faster where cores are idle, and are far slower where they are not; they
    change the last bits of sums, and so the weights (0, in configs of older versions: 1)"""
    seed: Annotated[int, Bounds(0)] = 0
    """the same seed gives the same run"""

    seconds: ClassVar[float] = 0.0
    snapshots: ClassVar[int] = 0
    max_grad_norm: ClassVar[float] = 10.0
    eval_opponents: ClassVar[tuple[str, ...]] = ()
    checkpoint_interval: ClassVar[int] = 1
    keep_last: ClassVar[int] = 2
    keep_every: ClassVar[int] = 10**9  # of the pruned checkpoints only the first is kept, which is untrained

    @property
    def cycles(self) -> int:
        return self.epochs

    def __post_init__(self) -> None:
        check_bounds(self)
        for name in ("label_smoothing", "validation_split"):
            if getattr(self, name) == 1:
                raise InvalidValue(f"{name} is below 1, not 1")
        if not self.data:
            raise InvalidValue(f"imitation needs a dataset: --data FILE; `{command('teach', 'collect')}` makes one")
        if not self.validation_split and not self.validation_data:
            raise InvalidValue("validation_split is above 0: without held-out games nothing can be measured")


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


def opponent_shares(mix: tuple[str, ...]) -> dict[str, float]:
    """{agent spec: share} of the opponents, from texts such as `0.2 greedy`; the learner itself if none is named."""
    found: dict[str, float] = {}
    for item in mix:
        weight, _, spec = item.partition(" ")
        try:
            found[spec] = float(weight)
        except ValueError:
            spec = ""
        if not spec or not 0 < found[spec] < math.inf:
            raise InvalidValue(
                f"an opponent is a weight and an agent spec, such as '0.2 greedy', not {shorten(item)!r}"
            )
    if not found:
        return {LEARNER: 1.0}
    return {spec: weight / sum(found.values()) for spec, weight in found.items()}
