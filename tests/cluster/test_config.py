"""The settings of a run on a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from plyground.cli.parser import Parser
from plyground.cluster.config import ClusterConfig, from_table
from plyground.errors import InvalidValue, UnknownName

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"actors": -1}, "actors is a whole number from 0"),
        ({"block_rows": 0}, "block_rows is a whole number from 1"),
        ({"deterministic": True}, "a deterministic run states its actors or streams"),
        ({"streams": 8, "max_staleness": 4}, "max_staleness is at least streams, 8"),
    ],
)
def test_impossible_settings_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        ClusterConfig(**changes)


def test_defaults_follow_from_the_cluster_or_from_the_actors() -> None:
    assert ClusterConfig().resolved(16) == {"actors": 15, "streams": 30, "max_staleness": 120}
    assert ClusterConfig(actors=2, deterministic=True).stated().streams == 4
    assert ClusterConfig().stated() == ClusterConfig()


def test_shared_updates_are_gone_and_runs_that_had_them_still_open() -> None:
    def command() -> None:
        """Do nothing."""

    with pytest.raises(InvalidValue, match=r"^--learners is gone: one process makes all updates"):
        Parser("train", command).read(["--learners", "2"])
    table = {"cluster": {"on": "ray", "actors": 2, "learners": 2}}
    assert from_table(table, "config.toml") == ClusterConfig(on="ray", actors=2)
    with pytest.raises(UnknownName, match=r"no setting of config.toml 'learnerz'"):
        from_table({"cluster": {"learnerz": 2}}, "config.toml")
