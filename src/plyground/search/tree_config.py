"""The settings of a tree search, and the schedule of sequential halving."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.search.tree_arrays import EVALUATE, NETWORK, RANDOM, SCRIPTED, Ints, Settings

LEAVES = {"network": NETWORK, "evaluate": EVALUATE, "random": RANDOM}
SELECTIONS = ("puct", "gumbel")
MOST_SIMULATIONS = 100_000_000
MOST_ROLLOUTS = 1000
LONGEST = 1_000_000  # plies of random play


@dataclass(frozen=True)
class SearchConfig:
    """Everything that decides what a search finds. Training and evaluation differ in `noise` alone."""

    simulations: int = 1000
    """the limit; with a limit by time, 0: none"""
    seconds: float = 0.0
    """the limit by time, for one position; 0: none"""
    reuse: bool = False
    """begin with the part of the game's last tree that is below the position"""
    selection: str = "puct"
    """puct, or gumbel: Gumbel search with sequential halving at the root"""
    leaf: str = "random"
    """what evaluates leaves: network, evaluate, random (play to the end), or a scripted agent, which plays on"""
    exploration: float = 2.0
    """puct: the factor of prior * sqrt(visits of the node) / (1 + own visits)"""
    first_play: float = 0.0
    """puct: what an action without visits is worth less than its node (0 with random play)"""
    rollouts: int = 1
    """games that are played from a leaf; their mean result is its value"""
    rollout_plies: int = 0
    """plies of random play, after which `evaluate` decides, or 0 where a game has none; 0: to the end"""
    prior_temperature: float = 0.0
    """priors are softmax(value / this) of what the model says of the states after the actions; 0: equal priors"""
    lookahead: bool = True
    """find actions that win at once as soon as a node is expanded"""
    considered: int = 16
    """gumbel: actions of the root among which sequential halving chooses"""
    visit_offset: float = 50.0
    value_scale: float = 0.1
    """gumbel: c_visit and c_scale; a value counts (c_visit + most visits) * c_scale beside log priors"""
    noise: bool = False
    """explore at the root, for training: Gumbel noise, or Dirichlet noise in the priors"""
    noise_share: float = 0.25
    noise_alpha: float = 0.3
    """puct: the share and the parameter of the Dirichlet noise"""

    def __post_init__(self) -> None:
        if not (0.0 <= self.seconds < math.inf):
            raise InvalidValue(f"the time of a search is a number of seconds above 0, not {self.seconds}")
        if not (0 if self.seconds else 1) <= self.simulations <= MOST_SIMULATIONS:
            raise InvalidValue(f"a search has 1 to {MOST_SIMULATIONS} simulations, not {self.simulations}")
        if self.selection not in SELECTIONS:
            raise InvalidValue(f"a search selects by {' or '.join(SELECTIONS)}, not by {self.selection!r}")
        if not 2 <= self.considered <= 1024:
            raise InvalidValue(f"Gumbel search considers 2 to 1024 actions, not {self.considered}")
        if not 1 <= self.rollouts <= MOST_ROLLOUTS:
            raise InvalidValue(f"1 to {MOST_ROLLOUTS} games are played from a leaf, not {self.rollouts}")
        if not 0 <= self.rollout_plies <= LONGEST:
            raise InvalidValue(f"random play has 0 to {LONGEST} plies, not {self.rollout_plies}")
        if not (self.prior_temperature == 0.0 or 1e-3 <= self.prior_temperature < math.inf):
            raise InvalidValue(f"the temperature of priors is at least 0.001, or 0, not {self.prior_temperature}")
        if not (self.exploration > 0.0 and math.isfinite(self.exploration)):
            raise InvalidValue(f"the exploration of a search is a number above 0, not {self.exploration}")

    def settings(self, game: Game) -> Settings:
        """The numbers that compiled code reads."""
        gumbel = self.selection == "gumbel"
        return Settings(
            leaf=LEAVES.get(self.leaf, SCRIPTED),
            gumbel=gumbel,
            exploration=float(self.exploration),
            first_play=float(self.first_play),
            lookahead=self.lookahead,
            head_size=game.rules.SEARCHED.itemsize // game.rules.STATE.alignment,
            rollouts=self.rollouts,
            rollout_plies=self.rollout_plies or LONGEST,
            temperature=float(self.prior_temperature) if self.leaf == "evaluate" else 0.0,
            visit_offset=float(self.visit_offset),
            value_scale=float(self.value_scale),
            noise=(1.0 if gumbel else float(self.noise_share)) if self.noise else 0.0,
            noise_alpha=float(self.noise_alpha),
        )


# ---- sequential halving ----


@functools.lru_cache(64)
def halving_schedule(considered: int, simulations: int) -> Ints:
    """[considered + 1, simulations] how many visits the action has that each simulation chooses at the root, where so
    many actions are considered. All are visited equally often; then the better half goes on, down to two."""
    schedule = np.zeros((considered + 1, simulations), np.int32)
    schedule[1] = np.arange(simulations)
    for count in range(2, considered + 1):
        due, visits, left, halvings = list[int](), [0] * count, count, math.ceil(math.log2(count))
        while len(due) < simulations:
            for _ in range(max(1, simulations // (halvings * left))):
                due += visits[:left]
                visits[:left] = [each + 1 for each in visits[:left]]
            left = max(2, left // 2)
        schedule[count] = due[:simulations]
    return schedule
