"""The syntax of specs: `name:key=value,key=value`, and paths with options."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyground import specs
from plyground.errors import InvalidValue


def test_a_spec_is_split_and_joined() -> None:
    assert specs.split("random") == ("random", {})
    assert specs.split("minimax:depth=3,table=16") == ("minimax", {"depth": "3", "table": "16"})
    assert specs.split("folder:x/my_game.py:seats=4") == ("folder:x/my_game.py", {"seats": "4"})
    assert specs.split("my.python/a:b/game.py") == ("my.python/a:b/game.py", {})
    assert specs.split("x.py/a:b/game.py:seats=4,rules=boxed") == ("x.py/a:b/game.py", {"seats": "4", "rules": "boxed"})
    assert specs.split("game.py:seats=x.py") == ("game.py", {"seats": "x.py"})
    assert specs.join("a", {"b": True, "c": 2, "d": "e"}) == "a:b=true,c=2,d=e"
    assert specs.split(specs.join("a", {"b": True})) == ("a", {"b": "true"})


@pytest.mark.parametrize(
    "spec",
    ["minimax:", "minimax:depth", "minimax:depth=", "minimax:=3", "minimax:a=1,a=2", "game.py:seats", "game.py:"],
)
def test_a_malformed_spec_is_refused_with_the_syntax(spec: str) -> None:
    with pytest.raises(InvalidValue, match="write name:key=value,key=value"):
        specs.split(spec)


def test_options_behind_a_path_are_split_off_unless_the_path_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert specs.split_path("runs/a,checkpoint=last,learn=true") == (
        "runs/a",
        {"learn": "true", "checkpoint": "last"},
    )
    assert specs.split_path("a.py:Net,weights=x/y.pt") == ("a.py:Net", {"weights": "x/y.pt"})
    assert specs.split_path("runs/a,b") == ("runs/a,b", {})
    Path("a,b=c").mkdir()
    assert specs.split_path("a,b=c") == ("a,b=c", {})


def test_a_typed_value_means_a_choice_of_python() -> None:
    assert specs.same(True, "true")
    assert specs.same(4, "4")
    assert not specs.same("boxed", "course")


def test_a_whole_number_is_one_that_64_bits_hold() -> None:
    assert specs.whole_number("-12") == -12
    assert specs.whole_number(str(2**63 - 1)) == 2**63 - 1
    for text in ("", "x", "1.5", str(2**63), "9" * 5000, "0" * 5000):
        with pytest.raises(ValueError, match=r"invalid literal|no whole number"):
            specs.whole_number(text)
