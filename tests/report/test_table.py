"""Pictures and words of a table, as far as something was learned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from plyground.learners.defaults import resolve
from plyground.learners.tabular import TabularLearner
from plyground.report import table
from plyground.report.figures import save_figure
from plyground.report.run import save_curves
from plyground.runs.files import DamagedFile
from plyground.runs.settings import to_toml
from small_runs import short


@pytest.mark.filterwarnings("error")
def test_a_run_without_any_update_draws_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, figures = TabularLearner(resolve(short("tabular"))), list[Figure]()
    records = learner.cycle.end()
    assert records[0]["event"] == "cycle"
    assert "td_error" not in records[0]
    (tmp_path / "config.toml").write_text(to_toml({"learner": "tabular"}))
    (tmp_path / "metrics.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    monkeypatch.setattr(
        table, "save_figure", lambda target, figure, _: (figures.append(figure), save_figure(target, figure))
    )
    save_curves(tmp_path / "x.png", [tmp_path])
    errors, growth = figures[0].axes[1:3]
    assert errors.get_title() == "TD error and mean target"
    assert not errors.lines
    assert len(growth.lines) == 1
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_without_entries_has_words_for_none() -> None:
    empty = TabularLearner(resolve(short("tabular"))).table
    assert table.summary(empty)["entries"] == table.summary(empty)["visited_once"] == 0
    assert list(table.ranked(empty, 3).values()) == [[], [], []]


def test_a_key_that_is_no_state_is_one_error() -> None:
    held = TabularLearner(resolve(short("tabular"))).table
    key = np.full((1, held.key.words), 2**62 + 7, np.uint64)
    held.load_state({"keys": key, "values": np.ones(1, np.float32), "visits": np.ones(1, np.uint32)})
    with pytest.raises(DamagedFile, match=r"entry 0 of the table is of no state of .*three_in_a_row\.py: IndexError"):
        table.ranked(held, 3)
