"""Typed reading of JSON and TOML: a value has its declared type, or one sentence names the field and the file.

`fit` checks a value against a type hint. The records below name what Plyground reads in its own files; a key that they
do not name is kept as it is.
"""

from __future__ import annotations

import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar, cast

from plyground.errors import InvalidValue, shown
from plyground.runs.files import DamagedFile, read_bytes

Kind = TypeVar("Kind")
MOST = 2**63


def fit(value: Any, hint: Any, what: str) -> Any:
    """`value`, converted to the type `hint`; `what` names it in the error."""
    if hint is Any:
        return value
    if typing.is_typeddict(hint):
        return _fit_record(value, hint, what)
    if typing.get_origin(hint):
        return _fit_generic(value, hint, what)
    if hint is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise InvalidValue(f"{what} is a number below {math.inf}, not one of {value.bit_length()} bits") from None
    if type(value) is not hint:
        raise InvalidValue(f"{what} is of type {hint.__name__}, not {shown(value)}")
    if hint is str and "\0" in value:  # no path can have one
        raise InvalidValue(f"{what} holds a NUL character, which no text here has: {shown(value)}")
    if hint is int and abs(value) >= MOST:
        raise InvalidValue(f"{what} is a whole number below 2**63, not one of {value.bit_length()} bits")
    return value


def _fit_generic(value: Any, hint: Any, what: str) -> Any:
    """The same for a type that is made of others: list[int], int | None, Literal["a", "b"]."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (NotRequired, typing.Annotated):
        return fit(value, inside[0], what)
    if origin in (typing.Union, types.UnionType):
        return _fit_union(value, inside, what)
    if origin is dict:
        return {key: fit(item, inside[1], f"{key} of {what}") for key, item in _table(value, what).items()}
    if origin is typing.Literal:
        if value not in inside:
            raise InvalidValue(f"{what} is one of {', '.join(map(str, inside))}, not {shown(value)}")
        return value
    if not isinstance(value, list | tuple):
        raise InvalidValue(f"{what} is a list, not {shown(value)}")
    found = [fit(item, inside[0], what) for item in cast("list[Any]", value)]
    return found if origin is list else tuple(found)


def _fit_record(value: Any, kind: Any, what: str) -> dict[str, Any]:
    """A table with the keys of a TypedDict; others are kept."""
    table = dict(_table(value, what))
    for name, hint in _hints(kind).items():
        if name in table:
            table[name] = fit(table[name], hint, f"{name} of {what}")
        elif kind.__total__ and typing.get_origin(hint) is not NotRequired:
            raise InvalidValue(f"{what} has no {name}")
    return table


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of a TypedDict's keys; evaluating them takes ten times as long as checking a line of metrics."""
    return typing.get_type_hints(kind, include_extras=True)


def _fit_union(value: Any, inside: tuple[Any, ...], what: str) -> Any:
    """None where it is allowed; otherwise the first type that fits."""
    others = [each for each in inside if each is not type(None)]
    if value is None and len(others) < len(inside):
        return None
    for each in others[:-1]:
        try:
            return fit(value, each, what)
        except InvalidValue:
            continue
    return fit(value, others[-1], what)


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidValue(f"{what} is a table of names and values, not {shown(value)}")
    return cast("Mapping[str, Any]", value)


def parse_json(text: bytes, kind: type[Kind], where: object) -> Kind:
    """The JSON value in `text`, checked against a type; `where` names the file."""
    try:
        return fit(json.loads(text.decode()), kind, "the file")
    except (ValueError, RecursionError, InvalidValue) as error:  # ValueError: neither UTF-8 nor JSON
        raise DamagedFile(f"{where} cannot be read: {error}") from None


def read_json(path: Path, kind: type[Kind]) -> Kind:
    """The JSON value in a file, checked against a type."""
    return parse_json(read_bytes(path), kind, path)


# ---- the files of a run ----


class Config(TypedDict, total=False):
    """The settings in config.toml that are read without the learner's own class, which checks all of them."""

    learner: str
    game: str
    seed: int
    versions: dict[str, str]
    cluster: dict[str, Any]
    verbose: bool  # of a profile: `train` shows all numbers, as with --verbose
    cycles: int
    epochs: int
    seconds: float
    max_plies: int
    num_envs: int
    keep_last: int
    keep_every: int
    eval_opponents: list[str]
    opponents: list[str]
    encoder: str
    network: str
    outputs: int
    dueling: bool
    validation_split: float
    key: str
    method: str
    alpha: float
    alpha_final: float
    gamma: float
    gamma_final: float
    epsilon: float
    epsilon_final: float
    prior: float
    score_weight: float
    value_weight: float
    value_scale: float
    draw_weight: float
    reward_weight: float


class Entry(TypedDict):
    """A file of a checkpoint."""

    size: int
    sha256: str


class Manifest(TypedDict):
    """manifest.json of a checkpoint."""

    format: int
    number: int
    identity: dict[str, str]
    fingerprints: dict[str, str]
    files: dict[str, Entry]


class Published(Manifest):
    """config.json of a published folder."""

    step: int


class State(TypedDict):
    """state.json of a checkpoint; one that can only play has neither config nor parts."""

    metrics_bytes: int
    config: NotRequired[dict[str, Any]]
    parts: NotRequired[dict[str, Any]]


class Score(TypedDict):
    """A score with the ends of its interval."""

    score: float
    low: float
    high: float
    all_seeing: NotRequired[list[str]]


class Best(TypedDict, total=False):
    """best.json."""

    step: int
    eval_opponents: dict[str, Score]
    kl: Measured


# ---- lines of metrics.jsonl; a number that was not finite is null ----

Measured = float | None


class Record(TypedDict):
    """Any line."""

    event: str
    step: int


class Histogram(TypedDict):
    edges: list[float]
    counts: list[float]


class CycleRecord(Record):
    cycle: int
    plies: int
    updates: int
    illegal_moves: int
    seconds: dict[str, float]
    loss: NotRequired[Measured]
    td_error: NotRequired[Measured]
    entropy: NotRequired[Measured]
    value_error: NotRequired[Measured]
    kl: NotRequired[Measured]
    q: NotRequired[Measured]
    truncated: NotRequired[float]
    distinct: NotRequired[float]
    entries: NotRequired[int]
    table_bytes: NotRequired[int]
    visits: NotRequired[list[int]]
    values: NotRequired[Histogram]
    squares: NotRequired[list[list[int]]]


class EvaluationRecord(Record):
    cycle: int
    eval_opponents: dict[str, Score]
    against_best: Score


EpochRecord = TypedDict(
    "EpochRecord",
    {
        "event": str,
        "step": int,
        "epoch": int,
        "examples": int,
        "seconds": float,
        "kl": Measured,
        "loss": Measured,
        "match@1": Measured,
    },
)
RECORDS: Mapping[str, type[Any]] = {"cycle": CycleRecord, "evaluation": EvaluationRecord, "epoch": EpochRecord}
"""event: the type of its lines"""
