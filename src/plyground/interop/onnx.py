"""Networks of runs as ONNX files, for other runtimes; such a file as an agent. Needs the extra `onnx`.

The input `observation` [B, *shape] is float32 and made by the encoder that the metadata name; the output `scores` [B,
outputs] has a number for each action, of which the highest legal one is played; a network with a value head also has
`value` [B], the value of the position for the side to move. Metadata: `game`, `encoder`, `actions` (how many),
`network`, `checkpoint`, `plyground` (its version) and, where the encoder turns the board for a seat, `action_outputs`
(JSON [seats, actions]): which output stands for an action, as each seat sees the board.

With int8, weights and activations are whole numbers of 8 bits: a quarter of the size, and scores that differ a little.
"""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportUnknownVariableType=false

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import plyground
from plyground import specs
from plyground.agents.network import NetworkAgent
from plyground.agents.registry import load_run
from plyground.backend.view import View
from plyground.batch import Batch
from plyground.errors import Error, InvalidValue, install, plain_os_errors, shorten
from plyground.game import Game, load
from plyground.games import GAMES
from plyground.models.network import NetworkModel
from plyground.networks import Network, Valued
from plyground.runs.directory import find_checkpoint, read_config
from plyground.runs.files import check_writable, write_whole

try:
    import onnx
    import onnxruntime
    import onnxscript  # noqa: F401 (torch needs it)  # pyright: ignore[reportUnusedImport]
    from onnxruntime import quantization
except ModuleNotFoundError:
    raise InvalidValue(f"ONNX or its runtime is not installed; {install('onnx')}") from None

INPUT, SCORES, VALUE = "observation", "scores", "value"
CHECKED, ROWS, PLIES = 1000, 50, 2  # positions to check, in groups of ROWS that are PLIES apart
CALIBRATION_SEED, CHECK_SEED = 1, 2
CLOSE = 1e-4  # float32 scores of both runtimes differ by less, as a share of the largest score or of 1


@dataclass(frozen=True)
class Exported:
    """A file that was written, compared with torch on `positions` positions."""

    size: int
    """bytes"""
    positions: int
    difference: float
    """the largest difference between a score here and there"""
    agreement: float
    """the share of positions in which both choose the same action"""
    largest: float
    """the largest score"""


class _Outputs(nn.Module):
    """A network with all its outputs."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, observation: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        valued = isinstance(self.network.head, Valued)
        return self.network.with_value(observation) if valued else self.network(observation)


def export(run: Path, target: Path, which: str = "best", int8: bool = False) -> Exported:
    """Write the network of a run's checkpoint, after comparing it with torch on 1,000 positions of random games."""
    check_writable(target)
    agent = load_run(str(run), None, which)
    if agent.model.kind != "network":
        raise InvalidValue(f"{run} has learned a {agent.model.kind}: ONNX files hold networks")
    model, view = _model_of(agent), agent.view
    if int8:  # the weights of each channel with a scale of their own
        seen = view.observe(view.rows(positions(view.game, CALIBRATION_SEED))).numpy()
        with tempfile.TemporaryDirectory() as folder, _quiet():
            quantized = Path(folder) / "int8.onnx"
            quantization.quantize_static(model, quantized, _Calibration(seen), per_channel=True)
            model = onnx.load(quantized)
    metadata = {
        "plyground": plyground.__version__,
        "game": Path(view.game.word).name + str(view.game).removeprefix(view.game.word),
        "encoder": view.observed,
        "actions": str(view.game.num_actions),
        "network": read_config(run)["network"],
        "checkpoint": str(find_checkpoint(run, which).step),
    }
    if view.turned:
        metadata["action_outputs"] = json.dumps(view.action_outputs.tolist())
    del model.metadata_props[:]
    for name, value in metadata.items():
        model.metadata_props.add(key=name, value=value)
    content = bytes(cast(Any, model).SerializeToString())
    found = _compared(agent, content)
    if not int8 and found.difference > CLOSE * max(1.0, found.largest):
        raise Error(f"{run}: the scores of the exported network differ by {found.difference:.2g} from torch's")
    with plain_os_errors(f"write {target}"):
        write_whole(target, content, shared=True)
    return found


def load_agent(source: Path | bytes, game: Game | None = None) -> NetworkAgent:
    """The agent that plays by an exported file, for its game or a given one of the same rules."""
    name = "the ONNX file" if isinstance(source, bytes) else repr(str(source))
    try:
        content = source if isinstance(source, bytes) else source.read_bytes()
        session = _Session(content)
        meta = session.metadata
        if game is None and specs.split(meta["game"])[0] not in GAMES:  # not one that is code in another file
            named = shorten(meta["game"])
            raise InvalidValue(f"the file is for {named!r}, a game of its own: name that game too, `game=`")
        view = View(game or load(meta["game"]), meta["encoder"], session.outputs)
    except OSError as error:
        raise InvalidValue(f"cannot read {name}: {error.strerror or error}") from None
    except KeyError as error:
        raise InvalidValue(f"{name} has no metadata {error}: it was not exported by Plyground") from None
    if view.shape != session.shape:
        raise InvalidValue(f"{name} takes {session.shape}, but {view.encoder} of {view.game} gives {view.shape}")
    return NetworkAgent(NetworkModel(view, session))


class _Session(nn.Module):
    """An ONNX file in place of a network."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        try:
            session: Any = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # of types that the runtime does not export
            raise InvalidValue(f"not an ONNX file that can be run: {' '.join(str(error).split())}") from None
        self.session = session
        self.metadata: Mapping[str, str] = session.get_modelmeta().custom_metadata_map
        try:
            self.shape: tuple[int, ...] = tuple(session.get_inputs()[0].shape[1:])
            self.outputs = int(session.get_outputs()[0].shape[1])
        except (IndexError, TypeError, ValueError):
            raise InvalidValue("the ONNX file has other inputs and outputs than Plyground writes") from None

    def forward(self, x: Tensor) -> Tensor:
        found: Any = self.session.run([SCORES], {INPUT: x.numpy()})[0]
        return torch.from_numpy(found)


# ---- making the file ----


def _model_of(agent: NetworkAgent) -> onnx.ModelProto:
    """The network as ONNX, for batches of any size."""
    network = cast(Network, agent.network.eval())
    names = [SCORES, VALUE] if isinstance(network.head, Valued) else [SCORES]
    example = torch.zeros(2, *agent.view.shape)
    batch = {0: torch.export.Dim("batch")}
    with _quiet():
        program = torch.onnx.export(
            _Outputs(network),
            (example,),
            dynamo=True,
            input_names=[INPUT],
            output_names=names,
            dynamic_shapes=(batch,),
            verbose=False,
        )
    return cast(torch.onnx.ONNXProgram, program).model_proto  # it is None only where a file was named


@contextmanager
def _quiet() -> Generator[None]:
    """Without the exporter's remarks on packages that we do not use."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir", "root")]
    levels = [each.level for each in loggers]
    try:
        for each in loggers:
            each.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


class _Calibration(quantization.CalibrationDataReader):
    """Observations from which the ranges of activations are measured."""

    def __init__(self, observations: NDArray[np.float32]) -> None:
        self.left = iter(np.array_split(observations, CHECKED // ROWS))

    def get_next(self) -> Any:
        part = next(self.left, None)
        return None if part is None else {INPUT: part}


# ---- comparing it with torch ----


def positions(game: Game, seed: int) -> NDArray[np.void]:
    """[CHECKED] states of random games, from their first plies to their fortieth."""
    batch, found = Batch(game, ROWS, seed), list[NDArray[np.void]]()
    for _ in range(CHECKED // ROWS):
        found.append(batch.states.copy())
        for _ in range(PLIES):
            batch.step(batch.random_actions())
    return np.concatenate(found)


def _compared(agent: NetworkAgent, content: bytes) -> Exported:
    states, other = positions(agent.game, CHECK_SEED), _Session(content)
    observations = agent.view.observe(agent.view.rows(states))
    with torch.inference_mode():
        scores = agent.network(observations)
        difference, largest = (scores - other(observations)).abs().max(), scores.abs().max()
    rngs = np.zeros(len(states), np.uint64)
    same = agent.act(states, rngs) == NetworkAgent(NetworkModel(agent.view, other)).act(states, rngs)
    return Exported(len(content), len(states), float(difference), float(same.mean()), float(largest))
