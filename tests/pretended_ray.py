"""Ray, as far as tasks use it, without processes: it plays them here and at once."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from plyground.cluster.connect import Cluster


class RayError(Exception): ...


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__(f"Traceback\n  File\n{type(cause).__name__}: {cause}")
        self.cause = cause


class PretendedRay:
    """Every CPU is a node of its own."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, cpus: int) -> None:
        self.cpus, self.submitted, self.cancelled = cpus, list[Any](), list[Any]()

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 1.0}}] * self.cpus

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def put(self, value: Any) -> Any:
        return value

    def remote(self, function: Callable[..., Any]) -> Any:
        def submit(*arguments: Any) -> Any:
            self.submitted.append((function, arguments))
            return self.submitted[-1]

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=submit))

    def wait(self, refs: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        return refs, []

    def get(self, ref: Any) -> Any:
        try:
            return ref[0](*ref[1])
        except Exception as error:
            raise RayTaskError(error) from error

    def cancel(self, ref: Any, force: bool) -> None:
        self.cancelled.append(ref)


def pretend(cpus: int) -> Cluster:
    return Cluster(PretendedRay(cpus), "nowhere", ours=False)
