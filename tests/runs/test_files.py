"""Atomic writes, checksums and locks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plyground.errors import Error, InvalidValue
from plyground.runs import files


def test_a_crash_while_writing_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    files.write_whole(path, b"old")

    def crash(handle: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", crash)
        with pytest.raises(KeyboardInterrupt):
            files.write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    files.write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"], "the temporary file was renamed"


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing there")
def test_a_file_keeps_its_mode_and_a_new_one_is_private_unless_it_is_made_to_be_shared(tmp_path: Path) -> None:
    (tmp_path / "old").touch(mode=0o640)
    before = os.umask(0o022)
    try:
        for name, shared in (("old", False), ("new", False), ("shared", True)):
            files.write_whole(tmp_path / name, b"x", shared)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("old", "new", "shared")] == [0o640, 0o600, 0o644]


def test_a_target_that_cannot_be_written_is_named_before_the_work(tmp_path: Path) -> None:
    files.check_writable(tmp_path / "a.txt")
    with pytest.raises(Error, match="it is a folder"):
        files.check_writable(tmp_path)
    with pytest.raises(Error, match="there is no folder"):
        files.check_writable(tmp_path / "none" / "a.txt")


def test_a_file_is_read_only_if_size_and_checksum_fit(tmp_path: Path) -> None:
    path, content = tmp_path / "a.bin", b"content"
    path.write_bytes(content)
    assert files.read_checked(path, len(content), files.checksum(content)) == content
    with pytest.raises(files.DamagedFile, match="has 7 bytes; 8 were written"):
        files.read_checked(path, 8, files.checksum(content))
    with pytest.raises(files.DamagedFile, match="checksum differs"):
        files.read_checked(path, 7, files.checksum(b"CONTENT"))
    for name in ("b.bin", "x" * 5000, "a\0b"):
        with pytest.raises(files.DamagedFile, match="is missing") as caught:
            files.read_checked(tmp_path / name, 7, "")
        assert len(str(caught.value)) < 400


def test_a_text_is_in_utf_8_with_or_without_its_mark_or_in_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        path.write_text("Müller", encoding=encoding)
        assert files.read_text(path, "a game") == "Müller"
    with pytest.raises(InvalidValue, match="cannot read a game from"):
        files.read_text(tmp_path, "a game")


def test_a_lock_is_held_until_it_is_closed(tmp_path: Path) -> None:
    held = files.lock(tmp_path / "lock")
    with pytest.raises(files.Busy, match="another process works on"):
        files.lock(tmp_path / "lock")
    held.close()
    files.lock(tmp_path / "lock").close()
