"""Agents from a person's own file: `file:PATH.py:NAME`, an agent or a torch module.

NAME is an agent (an object with `act`), a torch module, or a function or class that makes one: it is called with the
game if it takes an argument, otherwise without. A module maps an encoder's observations [B, *shape], in the encoder's
own number type, to one number for each action [B, actions]; the attribute `encoder` of the module, its class or its
file names that encoder. It plays the legal action with the highest number or, with `sample=true`, samples from their
softmax. `weights=FILE` fills a module: a safetensors file, or a state dict that `torch.save` wrote; nothing is
unpickled.

The file is code and runs with the rights of the person who names it.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plyground.errors import Error, InvalidValue, shorten, shown, unknown
from plyground.game import Game, module_of_file
from plyground.games.signatures import misfit
from plyground.specs import read_flag

OPTIONS = {
    "weights": "a safetensors file or a state dict, for a torch module",
    "sample": "true: sample from the softmax of a module's outputs (false)",
}


def make_agent(game: Game, path: str, options: Mapping[str, str]) -> Any:
    """an agent or a torch module from your own file"""
    file, colon, name = path.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise InvalidValue(f"file:{shorten(path)} names no agent: write file:PATH.py:NAME")
    module = module_of_file(file, "agent file")
    if not hasattr(module, name):
        # those that may be meant are what the file defines itself, not what it imports
        own: dict[str, Any] = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        makers = {name for name, value in own.items() if getattr(value, "__module__", "") == module.__name__}
        agents = {name for name, value in own.items() if hasattr(value, "act") and not inspect.isclass(value)}
        raise unknown(f"agent in {file}", name, [each for each in own if each in makers | agents])
    made = _made(getattr(module, name), game, f"{name} of {file}")
    if hasattr(made, "act"):
        odd = next(iter(options), None)
        if odd:
            raise InvalidValue(f"{odd} is for torch modules; {name} of {file} is an agent with `act`")
        return _checked(made)
    encoder = getattr(made, "encoder", getattr(module, "encoder", None))
    return _module_agent(made, encoder, game, f"{name} of {file}", options)


def agent_of(made: Any, game: Game, encoder: str = "") -> Any:
    """The agent that plays by an object: a torch module, which is put into evaluation mode, or an agent itself."""
    if hasattr(made, "act") and not inspect.isclass(made):
        return _checked(made)
    if not _is_module(made):
        what = "a spec such as 'random', an object with a method `act`, or a torch module"
        maker = inspect.isclass(made) and hasattr(made, "act")  # a class of agents
        how = f"; make one: {made.__name__}({'game' if _takes_game(made) else ''})" if maker else ""
        raise InvalidValue(f"an agent is {what}, not {shown(made)}{how}")
    return _module_agent(made, encoder or getattr(made, "encoder", None), game, type(made).__name__, {})


def _checked(agent: Any) -> Any:
    """An agent, if its `act` can be called as `act(states, rngs)`."""
    for fault in misfit("act", agent.act, "(states, rngs)"):
        code = getattr(inspect.unwrap(agent.act), "__code__", None)
        where = f"; see {code.co_filename}, line {code.co_firstlineno}" if code else ""
        raise InvalidValue(f"{fault.replace('`act`', f'`act` of {type(agent).__name__}', 1)}{where}")
    return agent


def _is_module(made: Any) -> bool:
    """Whether this is a torch module; none can be where nobody has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(made, torch.nn.Module)


def _made(found: Any, game: Game, what: str) -> Any:
    """The object itself, or what a class or function makes."""
    if not (inspect.isclass(found) or inspect.isfunction(found)):
        return found
    factory: Any = found
    try:
        return factory(game) if _takes_game(factory) else factory()
    except Error:
        raise
    except Exception as error:
        raise InvalidValue(f"{what} cannot be made: {type(error).__name__}: {error}") from error


def _takes_game(factory: Any) -> bool:
    """Whether a class or function cannot be called without an argument."""
    return any(
        each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        for each in inspect.signature(factory).parameters.values()
    )


def _module_agent(made: Any, encoder: Any, game: Game, what: str, options: Mapping[str, str]) -> Any:
    """The agent that plays by a torch module, which sees what `encoder` writes."""
    if not _is_module(made):
        kind = type(made).__name__
        raise InvalidValue(f"{what} is neither an agent (it has no `act`) nor a torch module, but {kind}")
    if not isinstance(encoder, str):
        names = ", ".join(dict.fromkeys(map(str, game.encoders.values())))
        raise InvalidValue(f"{what} does not say what it sees: give it an attribute `encoder`, one of {names}")
    from plyground.agents.module import ModuleAgent, load_file

    sample = read_flag("file", "sample", options.get("sample", "false"))
    if "weights" in options:
        load_file(made, Path(options["weights"]))
    return ModuleAgent(game, encoder, made.eval(), what, sample)
