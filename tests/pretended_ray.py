"""Ray, as far as clusters of ours use it, without processes: it plays here, when somebody waits for it. A test may say
what comes of a call instead (`answers`)."""

from __future__ import annotations

import copy
import itertools
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

from plyground.cluster.connect import Cluster
from plyground.kernels import threads


class RayError(Exception): ...


class RayActorError(RayError): ...


class ObjectLostError(RayError): ...


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__("".join(traceback.format_exception(cause)))
        self.cause = cause


class Call(NamedTuple):
    """A task, or a call of an actor."""

    number: int
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Ref(NamedTuple):
    """To the result of a call, or to a part of it."""

    number: int
    part: int = -1


class PretendedRay:
    """Every CPU is a node of its own."""

    exceptions = SimpleNamespace(
        RayError=RayError, RayTaskError=RayTaskError, RayActorError=RayActorError, ObjectLostError=ObjectLostError
    )

    def __init__(self, cpus: int = 1, order: Callable[[list[Ref]], Ref] = min) -> None:
        """`order`: which of the calls that are waited for is done first."""
        self.cpus, self.order, self.numbers = cpus, order, itertools.count()
        self.calls, self.results = list[Call](), dict[int, Any]()
        self.answers: dict[str, list[Any]] = {}  # {name: of its next calls}; None: none comes
        self.cancelled, self.killed = list[Any](), list[Any]()

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": f"node {k}", "Alive": True, "Resources": {"CPU": 1.0}} for k in range(self.cpus)]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def remote(self, function: Any) -> Any:
        """A function, or an actor's class."""

        def start(*given: Any) -> Any:
            own = function(*given)
            threads.limit(2**31)  # of this process
            names = [name for name in vars(function) if not name.startswith("_")]
            return SimpleNamespace(**{name: self._method(name, getattr(own, name)) for name in names})

        made = SimpleNamespace(remote=start) if isinstance(function, type) else self._method("task", function)
        return SimpleNamespace(options=lambda **_: made)

    def _method(self, name: str, function: Callable[..., Any], returns: int = 1) -> Any:
        def submit(*arguments: Any) -> Any:
            self.calls.append(Call(next(self.numbers), name, function, arguments))
            number = self.calls[-1].number
            return Ref(number) if returns == 1 else [Ref(number, part) for part in range(returns)]

        def options(num_returns: int = 1, **_: Any) -> Any:
            return self._method(name, function, num_returns)

        return SimpleNamespace(remote=submit, options=options)

    def put(self, value: Any) -> Ref:
        self.results[number := next(self.numbers)] = value
        return Ref(number)

    def wait(self, refs: list[Ref], num_returns: int = 1, timeout: float = 0) -> tuple[list[Ref], list[Ref]]:
        names = {call.number: call.name for call in self.calls}
        ready = [ref for ref in refs if self.answers.get(names[ref.number], [...])[:1] != [None]]
        return [self.order(ready)] if ready else [], []

    def get(self, ref: Ref) -> Any:
        if ref.number not in self.results:
            call = next(each for each in self.calls if each.number == ref.number)
            answers = self.answers.get(call.name)
            self.results[ref.number] = answers.pop(0) if answers else self._play(call)
        found = self.results[ref.number]
        if isinstance(found, Exception):
            raise found
        return found if ref.part < 0 else found[ref.part]

    def _play(self, call: Call) -> Any:
        """With one thread, as an actor has it; what it returns are copies, as from another process."""
        used = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            given = [self.get(each) if isinstance(each, Ref) else each for each in call.arguments]
            return copy.deepcopy(call.function(*given))
        except Exception as error:
            return RayTaskError(error)
        finally:
            torch.set_num_threads(used)

    def cancel(self, ref: Any, force: bool) -> None:
        self.cancelled.append(ref)

    def kill(self, handle: Any) -> None:
        self.killed.append(handle)


def pretend(cpus: int) -> Cluster:
    return Cluster(PretendedRay(cpus), "nowhere", ours=False)
