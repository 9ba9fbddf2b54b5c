"""The code in the README and in the guides runs and says what is written there."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT, run
from plyground.checks import laws
from plyground.cli.words import is_game
from plyground.errors import install
from run_pages import blocks_of, files_of, plain_blocks_of, run_page

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDE, MODEL, OWN, TUTORIAL = (
    ROOT / "docs" / f"{name}.md" for name in ("adding_a_game", "adding_a_model", "own_agents", "tutorial")
)
NEEDS_PEERS = ROOT / "docs" / "interop.md"


def test_the_model_of_the_guide_is_the_example() -> None:
    files = files_of(MODEL.read_text("utf-8"))
    assert files == {"linear_model.py": (ROOT / "examples" / "linear_model.py").read_text("utf-8")}
    assert len(files["linear_model.py"].splitlines()) <= 60


def pieces_of_a_game() -> list[str]:
    """The blocks of the guide that together are a game's file."""
    return plain_blocks_of(GUIDE.read_text("utf-8"))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.peers] if page == NEEDS_PEERS else []) for page in PAGES],
    ids=lambda page: page.name,
)
def test_the_code_of_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch, steady_path: Path) -> None:
    if page == NEEDS_PEERS:
        for package in ("pettingzoo", "pyspiel", "onnx", "sb3_contrib"):
            pytest.importorskip(package)
    text = page.read_text(encoding="utf-8")
    (steady_path / "my_game.py").write_text(pieces_of_a_game()[0])
    monkeypatch.chdir(steady_path if page in (GUIDE, MODEL, OWN, TUTORIAL) else ROOT)
    monkeypatch.syspath_prepend(steady_path)
    tried, names = run_page(page.name, text, steady_path)
    if page.name == "README.md":
        assert tried > 5
    if page == OWN:
        score = pg.match("connect_four", pg.agent(names["network"], "connect_four"), "random", games=100).score
        assert score > 0.65, "the learner of the page learns"
        assert all(len(each.splitlines()) < 45 for each in files_of(text).values())


def test_the_game_of_the_guide_is_the_example(steady_path: Path) -> None:
    """Its rules alone keep the laws, and so does the whole file; both say what the example says."""
    pieces, example = pieces_of_a_game(), pg.load(str(ROOT / "examples" / "three_in_a_row.py"))
    for name, source in (("rules.py", pieces[0]), ("my_game.py", "\n\n".join(pieces))):
        (steady_path / name).write_text(source)
        game = pg.load(str(steady_path / name))
        assert list(laws.check(game, 16))
        one, other = game.start().play("b2").play("a1"), example.start().play("b2").play("a1")
        assert (one.text, one.names()) == (other.text, other.names())
    assert str(one) == str(other)
    assert {name for name in vars(example.rules.module) if name not in vars(game.rules.module)} <= {
        *("annotations", "NDArray", "Actions", "Rng", "State")
    }


def command_lines() -> list[str]:
    """Every command that a page tells to type."""
    lines = [
        line for page in PAGES for block in blocks_of(page.read_text("utf-8"), "sh") for line in block.splitlines()
    ]
    return [line.partition(" #")[0].strip() for line in lines if line.startswith("plyground ")]


def test_commands_of_the_pages_exist_and_their_options_are_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is written in one spelling, and each option is one of that command (and of that learner)."""
    lines = command_lines()
    assert len(lines) > 25
    for line in lines:
        words = line.split()[1:]
        name = words[: 2 if words[0] in ("teach", "train") and not words[1].startswith("--") else 1]
        code, shown, _ = run(capsys, monkeypatch, *name, "--help")
        assert code == 0, line
        assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in shown] == [], line


def test_pages_name_games_and_agents_in_the_order_of_the_grammar() -> None:
    for line in command_lines():
        _, name, *words = line.split()
        assert "--against" not in words, line
        assert [name, *words[:1]] != ["teach", "imitate"], line
        places = [place for place, word in enumerate(words) if is_game(word)]
        assert places[:1] in ([], [int(name in ("train", "bench", "teach", "serve"))]), line


def test_pages_install_from_the_folder_and_name_every_extra() -> None:
    """The package is in no index."""
    static = (ROOT / "src" / "plyground" / "web" / "static").glob("*.js")
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *static):
        assert "plyground[" not in page.read_text(), page
    assert install("web") in " ".join((ROOT / "docs" / "page.md").read_text().replace("`", "").split())
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = (ROOT / "docs" / "install.md").read_text()
    for extra in extras.keys() - {"test", "peers", "browser", "lint", "bench"}:  # those are for developers
        assert f"| `{extra}` |" in table, extra


def test_the_map_of_the_source_names_every_file() -> None:
    """It lists what is there, and nothing else."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^    ([\w/]+(?:\.py|/)) ", text, re.MULTILINE))
    home = ROOT / "src" / "plyground"
    there = {path.name for path in home.glob("*.py")} | {
        f"{path.name}/" for path in home.iterdir() if (path / "__init__.py").exists()
    }
    assert listed == there - {"__init__.py"}


# ---- make ----


def installed_by_make(folder: Path, target: str, *, torch_is_there: bool) -> str:
    """What `make` prints for a target where pip installs nothing."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "lib" / "python3.11" / "site-packages" / ("torch" if torch_is_there else "")).mkdir(
        parents=True
    )
    for program in ("pip", "plyground"):
        (folder / ".venv" / "bin" / program).write_text("#!/bin/sh\n")
        (folder / ".venv" / "bin" / program).chmod(0o755)
    return subprocess.run(
        [shutil.which("make") or "make", target], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def test_make_demo_installs_no_torch_and_make_web_names_its_size_once(tmp_path: Path) -> None:
    for target, extra, size in (("demo", "pictures", ""), ("web", "learn", ": PyTorch is most of it")):
        (tmp_path / target).mkdir()
        printed = installed_by_make(tmp_path / target, target, torch_is_there=False)
        heads = [line for line in printed.splitlines() if line.startswith("Installing Plyground")]
        assert f"[{extra}] into .venv{size}" in heads[0]
        assert heads[1:] == ["Installing Plyground with its extra [web] into .venv"]


def test_make_names_no_size_of_torch_that_is_there(tmp_path: Path) -> None:
    printed = installed_by_make(tmp_path, ".venv/.learn", torch_is_there=True)
    assert "Installing Plyground with its extra [learn] into .venv\n" in printed


def test_pages_say_what_a_line_needs_beyond_the_first_command() -> None:
    onnx = [line for line in (ROOT / "README.md").read_text().splitlines() if "export onnx" in line]
    assert onnx
    assert all("[onnx]" in line for line in onnx)
    assert "jupyter lab docs/notebooks/" in (ROOT / "docs" / "install.md").read_text()
