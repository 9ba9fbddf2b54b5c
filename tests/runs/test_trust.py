"""Trust: code and programs that a run names are used only where the user has named or trusted them."""

from __future__ import annotations

import base64
import hmac
import importlib.util
import os
import py_compile
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.errors import InvalidText
from plyground.private_folder import secret
from plyground.runs import trust
from plyground.runs.directory import check_trusted, create, find_checkpoint, game_of, trust_run
from plyground.runs.files import lock
from plyground.runs.pack import pack, slim, unpack
from plyground.runs.settings import to_toml
from plyground.runs.trust import Untrusted, programs_of, seal, unseal

EXAMPLE = ROOT / "examples" / "three_in_a_row.py"
EVIL = "from pathlib import Path\nPath(__file__).with_name('executed').touch()\n"


@pytest.fixture(autouse=True)
def no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who has trusted nothing yet."""
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path / "private"))
    monkeypatch.setattr(trust, "_REMEMBERED", set())


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A run of somebody else, with the code that it names."""
    run = tmp_path / "foreign"
    run.mkdir()
    (run / "config.toml").write_text(to_toml({"learner": "tabular", "game": "evil.py", "key": "exact-v1"}))
    (run / "evil.py").write_text(EVIL)
    return run


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in another process of the same user."""
    monkeypatch.setattr(trust, "_REMEMBERED", set())


def test_code_of_a_foreign_run_is_not_imported(foreign: Path, connect_four: pg.Game) -> None:
    with pytest.raises(
        Untrusted, match=r"would run the game file .*evil\.py: if you trust its author, add --trust once"
    ):
        game_of(foreign)
    with pytest.raises(pg.InvalidValue, match=r"has learned .*evil\.py, not connect_four"):
        game_of(foreign, connect_four)
    with pytest.raises(pg.InvalidValue, match="has learned"):
        game_of(foreign, pg.load(EXAMPLE))
    assert not (foreign / "executed").exists()


def test_trust_is_remembered_for_the_content(foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(EXAMPLE, foreign / "evil.py")
    trust_run(foreign)
    forget(monkeypatch)
    assert game_of(foreign).label == "evil"
    shutil.copytree(foreign, tmp_path / "copy")
    check_trusted(tmp_path / "copy")
    (tmp_path / "copy" / "helper.txt").write_text("what the game may read and execute")
    with pytest.raises(Untrusted):
        check_trusted(tmp_path / "copy")
    (foreign / "evil.py").write_text(EVIL)
    with pytest.raises(Untrusted):
        game_of(foreign)
    assert not (foreign / "executed").exists()


@pytest.mark.parametrize("name", ["checkpoints/evil.py", "games/evil.py"])
def test_code_among_the_files_of_plyground_counts_too(foreign: Path, name: str) -> None:
    (foreign / name).parent.mkdir()
    shutil.copy(EXAMPLE, foreign / name)
    (foreign / "config.toml").write_text(to_toml({"game": name}))
    trust_run(foreign)
    check_trusted(foreign)
    (foreign / name).with_name("helper.py").write_text("")
    with pytest.raises(Untrusted):
        check_trusted(foreign)
    (foreign / name).with_name("helper.py").unlink()
    (foreign / name).write_text(EVIL)
    with pytest.raises(Untrusted):
        game_of(foreign)


def test_what_plyground_writes_itself_needs_no_new_trust(foreign: Path) -> None:
    shutil.copy(EXAMPLE, foreign / "evil.py")
    trust_run(foreign)
    own = "checkpoints/12/manifest.json", "checkpoints/12/network.safetensors", "games/12.txt", "verify.md", "lock"
    for name in (*own, "tensorboard/events.out.tfevents.1.host.2.0"):
        (foreign / name).parent.mkdir(parents=True, exist_ok=True)
        (foreign / name).touch()
    check_trusted(foreign)


def test_bytecode_is_neither_executed_nor_written(
    foreign: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    game = foreign / "evil.py"
    shutil.copy(EXAMPLE, game)
    trust_run(foreign)
    game_of(foreign)
    check_trusted(foreign)
    (foreign / "other.py").write_text(EXAMPLE.read_text() + "print('executed')\n")
    cached = importlib.util.cache_from_source(str(game))
    py_compile.compile(str(foreign / "other.py"), cached, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    game.write_text(game.read_text() + "# another version\n")
    pg.load(game)
    assert "executed" not in capsys.readouterr().out


def test_own_runs_need_no_trust_even_after_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = tmp_path / "mine.py"
    shutil.copy(EXAMPLE, game)
    with create(tmp_path / "run", {"game": str(game), "opponents": ["0.5 self", "0.5 uci:stockfish,elo=1350"]}) as run:
        run.log({"event": "x", "step": 0})
    forget(monkeypatch)
    check_trusted(run.path)
    game.write_text(game.read_text() + "\n# edited\n")
    assert game_of(run.path).label == "mine"
    pack(run.path, tmp_path / "run.zip")
    unpack(tmp_path / "run.zip", tmp_path / "again")
    check_trusted(tmp_path / "again")
    shutil.rmtree(tmp_path / "private")
    with pytest.raises(Untrusted, match="the program uci:stockfish,elo=1350"):
        check_trusted(tmp_path / "again")


def test_a_game_file_that_was_moved_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = tmp_path / "mine.py"
    shutil.copy(EXAMPLE, game)
    with create(tmp_path / "run", {"game": str(game)}) as run:
        pass
    forget(monkeypatch)
    moved = game.rename(run.path / "mine.py")
    check_trusted(run.path)
    moved.write_text(moved.read_text() + "\n# edited\n")
    with pytest.raises(Untrusted):
        check_trusted(run.path)


def test_programs_are_found_wherever_specs_are_named() -> None:
    config = {"opponents": ("0.3 self", "0.7 uci:/a b/c"), "eval_opponents": ["uci:x,elo=3"], "other": "uci:y", "n": 3}
    assert programs_of(config) == ["uci:/a b/c", "uci:x,elo=3", "uci:y"]
    assert programs_of({"opponents": ["1 file:a.py:Net"]}) == ["file:a.py:Net"], "its file is code"
    for weight in ("\t1", "\n1", "\u00a01"):
        assert programs_of({"opponents": [f"{weight} uci:x"]}) == ["uci:x"], "float() reads such a weight"
    two = "file:evil.py:X,weights=a uci:stockfish"
    assert programs_of({"eval_opponents": [two]}) == [two, "uci:stockfish"], "the last words alone may be trusted"


@pytest.mark.parametrize("relative", ["file:mine.py:Agent", "uci:./engine,elo=1350"])
def test_code_with_a_relative_path_is_trusted_where_it_lies(tmp_path: Path, monkeypatch, relative: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    specs = [relative, "uci:stockfish,elo=1350", "uci:/opt/engine"]
    with create(tmp_path / "run", {"game": "connect_four", "eval_opponents": specs}) as run:
        forget(monkeypatch)
        check_trusted(run.path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(Untrusted, match=f"would run the program {re.escape(relative)}: if"):
        check_trusted(run.path)


@pytest.mark.parametrize("on", ["ray://evil:10001", "10.0.0.1:6379", "address"])
def test_the_cluster_of_a_foreign_run_needs_trust(foreign: Path, monkeypatch: pytest.MonkeyPatch, on: str) -> None:
    """Whoever receives our token can run code on our clusters, and what it answers is unpickled here."""
    monkeypatch.chdir(foreign)
    (foreign / "address").write_text("evil:6379")
    (foreign / "config.toml").write_text(to_toml({"learner": "ppo", "game": "connect_four", "cluster": {"on": on}}))
    with pytest.raises(Untrusted, match=f"would join the cluster {on}, which receives your token: if you trust"):
        check_trusted(foreign)
    check_trusted(foreign, cluster=False)
    with pytest.raises(Untrusted):
        slim(foreign, foreign / "slim")
    trust_run(foreign)
    forget(monkeypatch)
    check_trusted(foreign)
    if on == "address":  # another folder, another file
        (foreign / "other").mkdir()
        (foreign / "other" / on).write_text("other:6379")
        monkeypatch.chdir(foreign / "other")
        with pytest.raises(Untrusted):
            check_trusted(foreign)


@pytest.mark.parametrize("cluster", [{"on": ""}, {"on": "ray"}, {"on": "ray:nodes=2,cpus=1"}, {"actors": 2}, {}])
def test_a_cluster_of_our_own_needs_no_trust(foreign: Path, cluster: dict[str, Any]) -> None:
    (foreign / "config.toml").write_text(to_toml({"game": "connect_four", "cluster": cluster}))
    check_trusted(foreign)


def test_a_link_out_of_the_run_is_named_by_its_target(foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(EVIL)
    (foreign / "evil.py").unlink()
    (foreign / "evil.py").symlink_to(tmp_path / "own.py")
    with pytest.raises(Untrusted):
        game_of(foreign)
    assert not (tmp_path / "executed").exists()


def test_a_slim_run_does_not_launder_code(foreign: Path, tmp_path: Path) -> None:
    with pytest.raises(Untrusted):
        slim(foreign, tmp_path / "slim")


# ---- files with positions ----


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A run of this user with one checkpoint."""
    with create(tmp_path / "own", {"game": "connect_four"}) as run:
        run.save(1, {"game": "connect_four"}, {"replay": {"states": np.zeros(3, np.uint8)}}, {}, {})
    return run.path


def check_data(run: Path) -> None:
    find_checkpoint(run, "last").check_trusted()


def other_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path / "other user"))
    forget(monkeypatch)


def test_own_checkpoints_are_used_wherever_they_lie(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    check_data(own)
    pack(own, tmp_path / "run.zip")
    unpack(tmp_path / "run.zip", tmp_path / "again")
    check_data(tmp_path / "again")


def test_a_foreign_checkpoint_waits_for_trust(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_user(tmp_path, monkeypatch)
    with pytest.raises(
        Untrusted, match=r"own was not trained here by you.* checkpoints/1/manifest\.json unchecked: .* --mine` adds it"
    ):
        check_data(own)
    trust_run(own)
    forget(monkeypatch)
    check_data(own)
    manifest = own / "checkpoints" / "1" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b" ")
    with pytest.raises(Untrusted):
        check_data(own)


def test_a_valid_signature_of_an_earlier_version_counts_once(own: Path, tmp_path: Path, monkeypatch) -> None:
    manifest = own / "checkpoints" / "1" / "manifest.json"
    signature = manifest.with_suffix(".signature")
    text = trust._hash(trust.identity_of(own), manifest.name.encode(), manifest.read_bytes()).encode()
    valid = hmac.digest(secret(tmp_path / "private"), text, "sha256").hex().encode() + b"\n"
    (tmp_path / "private" / "own.txt").unlink()
    forget(monkeypatch)
    for wrong in (b"", b"\xff\xe9", b"0" * 64, valid[::-1], None):
        signature.write_bytes(wrong) if wrong is not None else (signature.unlink(), signature.mkdir())
        with pytest.raises(Untrusted):
            check_data(own)
    signature.rmdir()
    signature.write_bytes(valid)
    check_data(own)
    signature.unlink()
    forget(monkeypatch)
    check_data(own)


def test_what_an_earlier_version_kept_as_files_still_counts(own: Path, tmp_path: Path, monkeypatch) -> None:
    keys = (tmp_path / "private" / "own.txt").read_text().split()
    (tmp_path / "private" / "own.txt").unlink()
    forget(monkeypatch)
    (tmp_path / "private" / "trusted").mkdir(mode=0o700)
    for key in keys:
        (tmp_path / "private" / "trusted" / key).touch(mode=0o600)
    check_data(own)
    (tmp_path / "private" / "trusted").chmod(0o777)
    with pytest.raises(Untrusted):
        check_data(own)


@pytest.mark.parametrize("changed", [{"game": "chess"}, {"game": "connect_four", "seed": 2}])
def test_a_checkpoint_of_another_own_run_needs_trust(
    own: Path, changed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with create(tmp_path / "other", changed) as other:
        shutil.copytree(own / "checkpoints" / "1", other.path / "checkpoints" / "1")
    trust_run(own)
    with pytest.raises(Untrusted, match="--mine` adds it to your list"):
        check_data(other.path)
    trust_run(other.path)
    forget(monkeypatch)
    check_data(other.path)


def test_a_run_with_a_later_end_or_a_moved_game_file_is_the_same_run(tmp_path: Path) -> None:
    with create(tmp_path / "run", {"game": str(EXAMPLE), "seconds": 60.0, "versions": {"numpy": "2"}}) as run:
        run.save(1, {}, {}, {}, {})
        run.write("config.toml", to_toml({"game": EXAMPLE.name, "seconds": 120.0}))
    check_data(run.path)


@pytest.mark.parametrize("folder", ["/proc/nowhere", ""])
def test_where_nothing_can_be_kept_a_process_remembers(own: Path, foreign: Path, monkeypatch, folder: str) -> None:
    def nowhere() -> Path:
        if folder:
            return Path(folder)
        raise pg.InvalidValue("compiled games cannot be kept anywhere")

    monkeypatch.setattr(trust, "cache_folder", nowhere)
    for run, check in ((foreign, check_trusted), (own, check_data)):
        forget(monkeypatch)
        with pytest.raises(Untrusted):
            check(run)
        trust_run(run)
        check(run)


# ---- the list ----


@pytest.fixture
def listed(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list, with a checkpoint of `own` in it."""
    forget(monkeypatch)
    check_data(own)
    return tmp_path / "private" / "own.txt"


SPOILED: dict[str, Callable[[Path], object]] = {
    "gone": lambda file: file.unlink(),
    "cut": lambda file: os.truncate(file, 20),
    "noise": lambda file: file.write_bytes(os.urandom(5000)),
    "writable by others": lambda file: file.chmod(0o666),
    "in a folder that others can write": lambda file: file.parent.chmod(0o777),
    "a link": lambda file: file.rename(file.with_name("x")).rename(file.parents[1] / "x") and file.symlink_to("../x"),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_list_costs_a_word_and_is_repaired(own: Path, listed: Path, monkeypatch, how: str) -> None:
    SPOILED[how](listed)
    with pytest.raises(Untrusted, match=f"if it is your own, `plyground resume {own} --mine` adds it to your list"):
        check_data(own)
    trust_run(own)
    check_data(own)
    if how not in ("in a folder that others can write", "a folder"):
        forget(monkeypatch)
        check_data(own)
        assert listed.stat().st_mode & 0o777 == 0o600
        assert not listed.is_symlink()


def test_damage_costs_the_damaged_lines_alone(own: Path, listed: Path) -> None:
    listed.write_bytes(b"\x00\xff torn 01ab\n" + listed.read_bytes() + b"0123")
    check_data(own)


def test_a_list_in_a_home_that_is_read_only_now_still_counts(
    own: Path, listed: Path, tmp_path: Path, monkeypatch
) -> None:
    (tmp_path / "temporary").mkdir(mode=0o700)
    monkeypatch.setattr(trust, "cache_folder", lambda: tmp_path / "temporary")
    with pytest.raises(Untrusted):
        check_data(own)
    monkeypatch.setattr(trust, "read_only_folders", lambda: [listed.parent])
    check_data(own)


def test_the_list_keeps_its_newest_digests_and_needs_no_clock(own: Path, listed: Path, monkeypatch) -> None:
    monkeypatch.setattr("time.time", lambda: -1e12)
    first = listed.read_text().split()
    others = [f"{number:064x}" for number in range(100_000)]
    trust._remember(others)
    assert listed.read_text().split() == others[-trust.MOST_LISTED :]
    forget(monkeypatch)
    with pytest.raises(Untrusted):
        check_data(own)
    trust_run(own)
    assert listed.read_text().split()[-1] in first
    assert len(listed.read_text().split()) == trust.MOST_LISTED


def test_processes_that_write_at_once_lose_nothing(listed: Path) -> None:
    code = "import sys; from plyground.runs.trust import _remember as add; first = int(sys.argv[1])\n"
    code += "for k in range(50): add([f'{first + k:064x}'])"
    others = [subprocess.Popen([sys.executable, "-c", code, str(1000 * place)]) for place in range(4)]
    assert [other.wait() for other in others] == [0] * 4
    assert {f"{1000 * place + k:064x}" for place in range(4) for k in range(50)} <= set(listed.read_text().split())


def test_a_process_that_holds_the_list_for_ever_stops_nobody(own: Path, listed: Path, monkeypatch) -> None:
    monkeypatch.setattr(trust, "LONGEST_WAIT", 0.05)
    with lock(listed.with_suffix(".lock")):
        trust._remember(["f" * 64])
    assert trust._known("f" * 64)
    assert "f" * 64 not in listed.read_text()


# ---- sealed texts ----


def test_a_sealed_text_is_read_again_and_tells_nothing() -> None:
    one, other = "position: ace\ngenerator: 1", "position: king of hearts\ngenerator: 12345"
    assert [unseal(seal(text)) for text in (one, other)] == [one, other]
    assert seal(one) == seal(one)
    assert len(seal(one)) == len(seal(other))
    assert b"ace" not in base64.b64decode(seal(one))


def test_a_sealed_text_that_was_changed_or_comes_from_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = base64.b64decode(seal("position: ace"))
    for place in (0, 31, 32, len(sealed) - 1):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        with pytest.raises(InvalidText, match="the line has changed"):
            unseal(base64.b64encode(changed).decode())
    for text in ("", "x", "é", base64.b64encode(b"short").decode()):
        with pytest.raises(InvalidText, match="the line has changed"):
            unseal(text)
    monkeypatch.setattr("plyground.runs.trust.secret", lambda folder: b"another user's key" * 2)
    with pytest.raises(InvalidText, match="another user"):
        unseal(base64.b64encode(sealed).decode())
