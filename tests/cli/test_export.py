"""`plyground export`: what it says, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

pytestmark = pytest.mark.once
TRAINED = ROOT / "src" / "plyground" / "trained"


@pytest.mark.peers
def test_it_says_what_it_has_compared(command: Any, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    code, out, _ = command("export", "onnx", str(TRAINED / "connect_four"), str(tmp_path / "a.onnx"))
    assert code == 0
    assert "the same action as torch in 100.0% of 1,000 positions" in out


@pytest.mark.peers
def test_what_cannot_be_exported_is_one_sentence(command: Any, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    code, _, err = command("export", "onnx", str(tmp_path / "none"), str(tmp_path / "a.onnx"))
    assert (code, "no run " in err) == (2, True)
    code, _, err = command("export", "onnx", str(TRAINED / "chess"), str(tmp_path / "none" / "a.onnx"))
    assert (code, "there is no folder" in err) == (2, True)


def test_formats_that_do_not_exist_are_refused(command: Any) -> None:
    code, _, err = command("export", "tflite", "RUN", "FILE")
    assert code == 2
    assert "onnx" in err
