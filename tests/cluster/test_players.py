"""The sides of the learners."""

from __future__ import annotations

import pytest

from plyground.cluster.players import make_sink
from plyground.errors import UnknownName

pytestmark = pytest.mark.once


def test_other_learners_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"no learner on a cluster 'dqn'.*known: alphazero, ppo"):
        make_sink("dqn", None)
