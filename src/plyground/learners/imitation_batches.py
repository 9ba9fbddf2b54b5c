"""What imitation learns from and is measured by: a dataset's examples as batches for a network, loss and measures.

In losses and measures: `logits` [B, A], `legal` [B, A], `top` [B, K] the teacher's actions as outputs (0 where there
are fewer) and `policy` [B, K] their probabilities (0 there).
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import safetensors.numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.agents.teacher import UNIT
from plyground.backend.view import View
from plyground.errors import InvalidValue, plain_os_errors
from plyground.networks import Network, Valued, entropy, masked
from plyground.private_folder import open_private
from plyground.runs import files
from plyground.runs.directory import HELD_OUT
from plyground.runs.files import DamagedFile
from plyground.runs.trust import read_own, remember_data
from plyground.teaching.config import BadLines
from plyground.teaching.dataset import map_packed, read_dataset
from plyground.teaching.lines import Lines
from plyground.teaching.packed import is_packed, with_columns

LOG = logging.getLogger("plyground")

Records = NDArray[np.void]
Rows = NDArray[np.int64]
MANY_HELD_OUT = 20_000  # as many are kept with a run
CHECKED = 1 << 16  # examples that are checked at a time
SECONDS = 5.0  # between two notices of a file that is being read
KS = (1, 3, 5)  # match@k is reported for these
FIELDS = ("state", "top", "policy", "value")  # of a record, that a network learns from
LEAST = 1e-6  # the last digit of a probability in a dataset


def read_examples(
    paths: Sequence[Path], others: Sequence[Path], lines: Lines, target: Path, bad_lines: BadLines, processes: int = 1
) -> tuple[Records, int]:
    """[N] all examples of the files, mapped into memory, and how many of them are not of `others`, which come last: a
    single packed file itself, or `target`, into which all are written."""
    if is_packed(paths[0]) and not (paths[1:] or others):
        found = map_packed(paths[0], lines, bad_lines, _notice(paths[0]))
        counts = [len(found)]
    else:
        counts = [0] * (len(paths) + len(others))
        with plain_os_errors(f"write {target}"), open_private(target, "wb") as file:
            for k, path in enumerate((*paths, *others)):
                for part in read_dataset(path, lines, bad_lines, processes, _notice(path)):
                    file.write(with_columns(part, lines.learned).tobytes())
                    counts[k] += len(part)
        found = np.memmap(target, lines.learned, "c") if sum(counts) else np.empty(0, lines.learned)  # torch may write
    if not len(found):
        raise InvalidValue(f"there is no example in {', '.join(map(str, (*paths, *others)))}")
    return found, sum(counts[: len(paths)])


def _notice(path: Path) -> Callable[[int, int], None]:
    """Tells now and then how far a file is read."""
    told = [time.monotonic()]

    def report(done: int, total: int) -> None:
        if time.monotonic() - told[0] > SECONDS:
            told[0] = time.monotonic()
            LOG.info("reading %s: %s of about %s positions", path, f"{done:,}", f"{total:,}")

    return report


def learned(examples: Records, lines: Lines) -> Iterator[Records]:
    """The examples in parts: what a network learns from, with probabilities that sum to 1."""
    for first in range(0, len(examples), CHECKED):
        found = with_columns(examples[first : first + CHECKED], lines.learned).copy()
        found["policy"] /= found["policy"].sum(1, keepdims=True)
        yield found


def held_out_of(examples: Records, first: int) -> tuple[Rows, Rows]:
    """The same for examples of which those from `first` on are held out: data of another seed."""
    known = np.unique(examples["key"][first:])
    learn = np.flatnonzero(~np.isin(examples["key"][:first], known))
    if not len(learn) or first == len(examples):
        raise InvalidValue("there is no position to learn from that is not in the validation data, or none in that")
    return learn, np.arange(first, len(examples))


def in_weak_games(examples: Records) -> NDArray[np.bool_]:
    """[N] which examples are of games against a random side: of these a dataset has one side's positions only."""
    _, games = np.unique(examples["game"], return_inverse=True)
    counts = np.bincount(games)
    second = np.bincount(games, examples["state"]["to_move"])
    return ((second == 0) | (second == counts))[games] & (counts > 1)[games]


def split(examples: Records, share: float, by: Literal["games", "positions"] = "games") -> tuple[Rows, Rows]:
    """The rows to learn from and those held out: whole games or single positions, and no position is in both.

    The name of a game, or a position, decides, not the run: what one run holds out, no other that goes on with it has
    learned from.
    """
    held = examples["game" if by == "games" else "key"] < np.uint64(share * 2**64)  # [N]; both are hashed
    known = np.unique(examples["key"][held])
    learn = ~held & ~np.isin(examples["key"], known)
    if not learn.any() or (share and not held.any()):
        why = f"{len(examples)} examples cannot be split so that {share:.0%} of the {by} are held out"
        raise InvalidValue(f"{why}: collect more games, or give another validation_split")
    return np.flatnonzero(learn), np.flatnonzero(held)


@dataclass(frozen=True)
class Lesson:
    """A batch as a network sees it."""

    shown: Tensor  # [B, *shape]
    legal: Tensor  # [B, outputs]
    top: Tensor  # [B, K] the teacher's actions as outputs, best first; 0 where there are fewer
    policy: Tensor  # [B, K] its chances; 0 there
    values: Tensor  # [B]


class Examples:
    """Examples as rows of bytes on a view's device: on a GPU a batch needs nothing of the CPU."""

    def __init__(self, view: View, records: Records) -> None:
        self.view = view
        places = {name: (records.dtype[name].itemsize, records.dtype.fields[name][1]) for name in FIELDS}  # pyright: ignore
        self.places: dict[str, tuple[int, int]] = places  # size and first byte of each field
        rows = records.view(np.uint8).reshape(len(records), records.dtype.itemsize)
        self.rows = torch.from_numpy(rows).to(view.device)  # [N, bytes]
        self.width = int((records["top"] >= 0).sum(1).max())  # the most actions that an example names
        self._check_outputs()

    def _check_outputs(self) -> None:
        for first in range(0, len(self.rows), CHECKED):
            _, top = self._actions(self.rows[first : first + CHECKED])
            if int(top.max()) >= self.view.outputs:
                why = f"the data has action {int(top.max())}"
                raise InvalidValue(f"{why}, but the network only {self.view.outputs} outputs")

    def _field(self, rows: Tensor, name: str, dtype: torch.dtype) -> Tensor:
        """[B, *] one field of rows of bytes."""
        size, first = self.places[name]
        return rows[:, first : first + size].contiguous().view(dtype)

    def _actions(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The states [B, bytes], and the teacher's actions as outputs [B, K], 0 where there are fewer."""
        states = self._field(rows, "state", torch.uint8)
        actions = self._field(rows, "top", torch.int32)[:, : self.width]
        columns = [self.view.output_of(states, actions[:, k].clamp(min=0)) for k in range(self.width)]
        return states, torch.where(actions >= 0, torch.stack(columns, 1), 0)

    def lesson(self, rows: Tensor) -> Lesson:
        """The batch of some rows [B]."""
        chosen = self.rows[rows]
        states, top = self._actions(chosen)
        policy = self._field(chosen, "policy", torch.float32)
        policy = (policy / policy.sum(1, keepdim=True))[:, : self.width]
        values = self._field(chosen, "value", torch.float32)[:, 0]
        return Lesson(self.view.observe(states), self.view.legal(states), top, policy, values)

    def lessons(self, rows: Rows, batch: int) -> Iterator[Lesson]:
        """All rows in batches; the next one is prepared while one is used."""
        chosen = torch.from_numpy(np.ascontiguousarray(rows)).to(self.view.device)
        with ThreadPoolExecutor(1) as ahead:
            coming = deque[Future[Lesson]]()
            for first in range(0, len(chosen), batch):
                coming.append(ahead.submit(self.lesson, chosen[first : first + batch]))
                if len(coming) > 1:
                    yield coming.popleft().result()
            yield from (last.result() for last in coming)


# ---- the examples that are kept with a run ----


def keep_held_out(folder: Path, examples: Records, lines: Lines) -> None:
    """Some of the held-out examples, so that a run can be verified wherever it is."""
    chosen = np.concatenate([*learned(examples[:: -(-len(examples) // MANY_HELD_OUT)], lines)])
    content = safetensors.numpy.save({"records": chosen.view(np.uint8).reshape(len(chosen), -1)})
    files.write_whole(folder / HELD_OUT, content)
    remember_data(folder, [(HELD_OUT, content)])


def read_held_out(folder: Path, lines: Lines) -> Records:
    try:
        found = safetensors.numpy.load(read_own(folder, folder / HELD_OUT))["records"]
        return found.view(lines.learned).reshape(-1)  # a row of another size is refused
    except (DamagedFile, KeyError, ValueError, safetensors.SafetensorError):
        raise InvalidValue(f"{folder} has no {HELD_OUT} of this version; name a dataset with --data") from None


# ---- loss and measures ----


def said(network: nn.Module, shown: Tensor, best: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """What a network says: logits [B, A], its outputs times `scale`; and the value [B] of the actions `best` [B].

    Logits are UNIT to one value, the teacher's own scale. A network with a value head says the state's value apart, and
    its outputs are logits as they are.
    """
    if isinstance(network, Network) and isinstance(network.head, Valued):
        return network.with_value(shown)
    logits = network(shown) * scale
    return logits, UNIT * logits.gather(1, best[:, None])[:, 0]


def policy_loss(logits: Tensor, legal: Tensor, top: Tensor, policy: Tensor, smooth: float) -> Tensor:
    """[B] cross-entropy to the teacher's policy over the legal actions; `smooth` of it is spread evenly over them."""
    logs = torch.log_softmax(masked(logits, legal), 1)
    teacher = _expected(policy, logs.gather(1, top))
    even = torch.where(legal, logs, 0.0).sum(1) / legal.sum(1)
    return -(1 - smooth) * teacher - smooth * even


def sharpened(policy: Tensor, top_k: int, temperature: float) -> Tensor:
    """[B, K] the teacher's policy over its `top_k` best actions (0: all), at another temperature than the data's: its
    softmax of scores is to the power of 1 / temperature."""
    policy = policy[:, : top_k or policy.shape[1]] ** (1 / temperature)
    return policy / policy.sum(1, keepdim=True)


def action_values(policy: Tensor, values: Tensor) -> Tensor:
    """[B, K] the values of the teacher's actions, from the policy at temperature 1 and the value [B] of the best."""
    lost = UNIT * (policy.clamp(min=LEAST) / policy[:, :1]).log()
    return (values[:, None] + lost).clamp(-1.0, 1.0)


def _expected(policy: Tensor, values: Tensor) -> Tensor:
    """[B] the mean of `values` [B, K] under the policy; what has no chance may be infinite."""
    return torch.where(policy > 0, policy * values, 0.0).sum(1)


def measures(logits: Tensor, legal: Tensor, top: Tensor, policy: Tensor) -> dict[str, Tensor]:
    """[B] each: whether the teacher's best action is among the network's k best, the Kullback-Leibler divergence from
    the teacher to the network, the network's entropy over legal actions and that of an even choice."""
    values = masked(logits, legal)
    best = values.gather(1, top[:, :1])  # [B, 1]
    indices = torch.arange(values.shape[1], device=values.device)
    ahead = ((values > best) | ((values == best) & (indices < top[:, :1]))).sum(1)  # of equal ones the lowest is played
    logs = torch.log_softmax(values, 1)
    found = {f"match@{k}": (ahead < k).float() for k in KS}
    found["kl"] = _expected(policy, policy.log() - logs.gather(1, top))
    found["entropy"], found["even_entropy"] = entropy(logits, legal), legal.sum(1).float().log()
    return found


def all_measures(
    network: nn.Module, batches: Iterable[Lesson], scale: float, smooth: float = 0.0
) -> dict[str, NDArray[np.float32]]:
    """[N] the loss, the measures and the error of the best action's value of every example in the batches."""
    found: list[dict[str, Tensor]] = []
    for taught in batches:
        with torch.inference_mode():
            logits, values = said(network, taught.shown, taught.top[:, 0], scale)
            loss = policy_loss(logits, taught.legal, taught.top, taught.policy, smooth)
            error = (values - taught.values).abs()
            measured = measures(logits, taught.legal, taught.top, taught.policy)
            found.append({"loss": loss, **measured, "value_error": error})
    return {name: torch.cat([each[name] for each in found]).cpu().numpy() for name in found[0]}


def mean_measures(network: nn.Module, batches: Iterable[Lesson], scale: float) -> dict[str, float]:
    """Their means."""
    found = all_measures(network, batches, scale)
    return {name: float(values.mean(dtype=np.float64)) for name, values in found.items()}
