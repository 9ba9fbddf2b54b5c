"""Options of the engine: how they are described, read and refused."""

from __future__ import annotations

import itertools

import pytest

from plyground.errors import Error
from plyground.interop.uci_options import ELO, OPTIONS, Settings, describe


def test_descriptions_are_those_of_the_protocol() -> None:
    told = {option.name: describe(option) for option in OPTIONS}
    assert told["MultiPV"] == "option name MultiPV type spin default 1 min 1 max 64"
    assert told["Ponder"] == "option name Ponder type check default false"
    assert told["Network"] == "option name Network type string default <empty>"
    assert told["Simulations"] == "option name Simulations type spin default 0 min 0 max 10000000"


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("name MultiPV value 3", "lines", 3),
        ("name multipv value 3", "lines", 3),
        ("name Move Overhead value 100", "overhead_ms", 100),
        ("name UCI_LimitStrength value true", "limited", True),
        ("name Network value trained", "network", "trained"),
        ("name Network value a folder/of mine", "network", "a folder/of mine"),
        ("name Network value <empty>", "network", ""),
        ("name Network value", "network", ""),
    ],
)
def test_an_option_is_set(line: str, field: str, value: object) -> None:
    assert getattr(Settings(network="old").set(line.split()), field) == value


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("name MultiPV value 0", "MultiPV is 1 to 64, not '0'"),
        ("name MultiPV value many", "MultiPV is 1 to 64, not 'many'"),
        ("name MultiPV", "MultiPV is 1 to 64, not ''"),
        ("name Ponder value yes", "Ponder is true or false, not 'yes'"),
        ("name Contempt value 3", "no option 'Contempt'.*known: Hash"),
        ("", "no option ''"),
    ],
)
def test_what_cannot_be_set_is_refused(line: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        Settings().set(line.split())


def test_a_limit_of_strength_comes_before_a_level_and_a_level_before_a_network() -> None:
    settings = Settings(network="trained")
    assert settings.chosen("greedy")[0] == "search:model=trained,time=1"
    assert Settings(network="runs/a").chosen("greedy")[0] == "search:model=runs/a,time=1"
    assert Settings().chosen("greedy")[0] == "greedy"
    level = Settings(network="trained", level=3)
    assert level.chosen("greedy")[0] == "level:3"
    limited = Settings(network="trained", level=3, limited=True, elo=1200)
    assert limited.chosen("greedy")[0] == "elo:1200"
    assert limited.chosen("greedy", analysis=True)[0] == "search:model=trained,time=1"


def test_higher_levels_have_more_elo() -> None:
    assert all(low < high for low, high in itertools.pairwise(ELO[level] for level in sorted(ELO)))
