"""`make audit`: what is installed is pinned, and its licence is listed."""

from __future__ import annotations

import runpy
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

import pytest

from conftest import ROOT

pytestmark = pytest.mark.once
AUDIT = runpy.run_path(str(ROOT / "tools" / "audit.py"))


class Fake(Distribution):
    """A package with this metadata."""

    def __init__(self, **fields: str) -> None:
        self.fields = fields

    @property
    def metadata(self) -> Any:
        message = Message()
        for name, value in self.fields.items():
            message[name.replace("_", "-")] = value
        return message

    def read_text(self, filename: str) -> None: ...

    def locate_file(self, path: Any) -> Any: ...


def test_what_is_missing_or_differs_is_a_problem() -> None:
    packages = [
        Fake(Name="Some_Package", Version="1.0", License_Expression="MIT"),
        Fake(Name="torch", Version="2.13.0+cpu", Classifier="License :: OSI Approved :: BSD License"),
        Fake(Name="other", Version="2.0", License="GPLv3\nlong text"),
        Fake(Name="nvidia-cublas", Version="13.0"),
    ]
    lines, problems = AUDIT["audit"](packages, {"torch": ["2.13.0"], "other": ["1.0", "1.1"]})
    assert problems == ["other 2.0 is pinned to 1.0 or 1.1", "some-package 1.0 is not pinned"]
    assert [" ".join(line.split()) for line in lines] == [
        "nvidia-cublas 13.0 not stated",
        "other 2.0 GPLv3 (pinned to 1.0 or 1.1; copyleft: for tests and comparisons only)",
        "some-package 1.0 MIT (not pinned)",
        "torch 2.13.0+cpu BSD License",
    ]


def test_every_pin_is_a_version_and_the_installed_ones_agree() -> None:
    text = (ROOT / "constraints.txt").read_text()
    pins = AUDIT["read_pins"](text)
    assert sum(map(len, pins.values())) == len([line for line in text.splitlines() if not line.startswith("#")])
    for name in ("numpy", "numba", "torch", "rich"):
        try:
            installed = distribution(name).version
        except PackageNotFoundError:
            continue
        assert not AUDIT["problem_of"](installed, pins[name])
