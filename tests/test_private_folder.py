"""The user's private folder: found without a home, reused, and never one that others can write to."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plyground import private_folder
from plyground.errors import InvalidValue


@pytest.fixture(autouse=True)
def nothing_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private_folder._usable.cache_clear()
    private_folder.secret.cache_clear()
    monkeypatch.delenv("PLYGROUND_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()


def temporary(tmp_path: Path) -> Path:
    return tmp_path / "temporary" / f"plyground-{os.getuid()}"


def test_a_new_folder_is_ours_alone(tmp_path: Path) -> None:
    assert private_folder.cache_folder() == tmp_path / "caches" / "plyground"
    assert private_folder.cache_folder().stat().st_mode & 0o777 == 0o700


def test_a_folder_that_a_umask_has_opened_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "caches" / "plyground"
    folder.mkdir(parents=True)
    folder.chmod(0o775)
    assert private_folder.cache_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_chosen_folder_that_others_can_write_is_not_used_and_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "chosen").mkdir()
    (tmp_path / "chosen").chmod(0o777)
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path / "chosen"))
    assert private_folder.cache_folder() == temporary(tmp_path)
    assert "others can write to it" in caplog.text
    assert (tmp_path / "chosen").stat().st_mode & 0o777 == 0o777


def test_without_a_home_one_folder_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    for _ in range(2):  # two processes
        private_folder._usable.cache_clear()
        assert private_folder.cache_folder() == temporary(tmp_path)
    assert temporary(tmp_path).stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "temporary").iterdir()] == [temporary(tmp_path).name]


@pytest.mark.parametrize("home", ["/proc/caches", "/dev/null/caches", "x" * 5000])
def test_a_home_that_cannot_be_written_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    assert private_folder.cache_folder() == temporary(tmp_path)


def test_what_lies_in_a_folder_that_is_read_only_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = tmp_path / "caches" / "plyground"
    assert private_folder.cache_folder() == usual
    assert private_folder.read_only_folders() == []
    private_folder._usable.cache_clear()
    writable = private_folder._problem
    monkeypatch.setattr(
        private_folder, "_problem", lambda folder, ours: "read-only" if folder == usual else writable(folder)
    )
    assert private_folder.cache_folder() == temporary(tmp_path)
    assert private_folder.read_only_folders() == [usual]
    usual.chmod(0o777)
    assert private_folder.read_only_folders() == [], "others may have written to it"
    monkeypatch.setenv("XDG_CACHE_HOME", "x" * 5000)
    assert private_folder.read_only_folders() == []


def test_a_folder_that_somebody_else_has_prepared_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/caches")
    (tmp_path / "elsewhere").mkdir()
    temporary(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidValue, match="set PLYGROUND_CACHE"):
        private_folder.cache_folder()
    temporary(tmp_path).unlink()
    temporary(tmp_path).mkdir()
    there = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: there + 1)
    monkeypatch.setattr(private_folder, "temporary_folder", lambda: tmp_path / "temporary" / f"plyground-{there}")
    with pytest.raises(InvalidValue, match="others can write to it"):
        private_folder.cache_folder()


# ---- the secret ----


def secrets_of(folder: Path, processes: int) -> set[bytes]:
    """The secrets that so many processes see, all beginning at once."""
    with ThreadPoolExecutor(processes) as pool:
        return set(pool.map(private_folder.secret.__wrapped__, [folder] * processes))


def test_a_secret_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    (found,) = secrets_of(tmp_path, 8)
    assert len(found) == 32
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    assert secrets_of(tmp_path, 1) == {found}
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["secret"]


@pytest.mark.parametrize("spoil", [lambda file: file.write_bytes(b"short"), lambda file: file.chmod(0o644)])
def test_a_secret_that_others_can_read_or_that_is_cut_short_is_replaced(tmp_path: Path, spoil) -> None:
    (before,) = secrets_of(tmp_path, 1)
    spoil(tmp_path / "secret")
    (after,) = secrets_of(tmp_path, 1)
    assert after != before
    assert secrets_of(tmp_path, 1) == {after}
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_where_no_secret_can_be_kept_a_process_has_its_own() -> None:
    nowhere = Path("/proc/nowhere")
    assert private_folder.secret(nowhere) == private_folder.secret(nowhere)
    assert private_folder.secret(None) == private_folder.secret(None) != private_folder.secret(nowhere)


def test_folders_and_files_that_are_made_are_their_owners_alone(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    (there / "old").touch(mode=0o644)
    before = os.umask(0)
    try:
        private_folder.make_folder(there / "a" / "b")
        private_folder.make_folder(there)
        for name in ("old", "new"):
            with private_folder.open_private(there / name, "ab") as file:
                file.write(b"x")
    finally:
        os.umask(before)
    modes = {name: (there / name).stat().st_mode & 0o777 for name in ("", "a", "a/b", "old", "new")}
    assert modes == {"": 0o755, "a": 0o700, "a/b": 0o700, "old": 0o644, "new": 0o600}


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="File exists"):
        private_folder.make_folder(tmp_path / "file")
