"""Join a Ray cluster, or start one on this machine; always with a token.

    ray                 this machine: the cluster that you have started with `ray start`, else one that ends with us
    ray:nodes=2,cpus=1  one of our own, with two nodes of one CPU each, as a model of two machines
    ray://host:10001    a cluster elsewhere, through its client port
    host:6379           a cluster that this machine is a node of
    path/to/file        a file with one of the last two

Ray's messages are pickles, so whoever can send one to a node can run any code there. Therefore a cluster of our own
listens on the loopback alone, and each cluster must know our token and refuse others: we ask before we join.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plyground.errors import Error, InvalidValue, install, plain_os_errors, shorten, shown_path
from plyground.kernels.threads import available
from plyground.private_folder import cache_folder, is_ours, write_once
from plyground.specs import exists, split

LOOPBACK, OWN = "127.0.0.1", "ray_token"
REACHABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's switch for addresses that others can reach. Where it is 0, each of its servers listens on the loopback alone;
without it Ray replaces 127.0.0.1 by the machine's own address and listens on all of them."""
PATIENCE = 10.0  # seconds to wait for an answer
STORE = 512 * 2**20  # bytes of shared memory for each node of our own; what does not fit goes to its folder
QUESTIONS = {False: "/ray.rpc.NodeInfoGcsService/GetClusterId", True: "/ray.rpc.RayletDriver/ClusterInfo"}
"""is it a client port? → a question that changes nothing there"""
STUMBLE, ATTEMPTS = "Starting Ray client server failed", 5
"""For each client Ray's head forks a process, and about one in eight died at birth here (Ray 2.60: a fork while other
threads call gRPC). The next attempt gets another."""
MOST = 1000  # nodes or CPUs of a model of a cluster
PREFIX = "plyray-"  # of the folder of a cluster of our own, then the number of its process
LONGEST = 8
"""characters of a folder for temporary files: the path of a socket has at most 107, of which our own folder takes 24
and Ray's names 75"""
HOST, DIGITS = re.compile(r"\S{1,255}"), re.compile(r"[0-9]{1,5}")  # no host's name is longer


class NoCluster(Error):
    """A cluster that cannot be reached, or does not accept our token, or accepts any."""


@dataclass(frozen=True)
class Cluster:
    """A cluster that this process is connected to."""

    ray: Any  # the package, connected
    address: str
    ours: bool
    """started here, to be stopped at the end"""

    @property
    def nodes(self) -> int:
        """The number of nodes that are alive."""
        return sum(bool(node["Alive"]) for node in self.ray.nodes())

    def resource(self, name: str) -> int:
        """The number of CPUs (`CPU`) or GPUs (`GPU`) of all nodes."""
        return int(self.ray.cluster_resources().get(name, 0))

    def share(self, count: int, parts: int) -> int:
        """How many of `count` things make so many parts for each CPU, about; at least 1."""
        return max(1, -(-count // (parts * max(1, self.resource("CPU")))))


@contextmanager
def connect(where: str = "ray") -> Generator[Cluster]:
    """The cluster `where` (see above) while the block runs."""
    _check_installed()
    address, options = _read(where)
    with _joined(address) if address else _started(options.get("nodes", 1), options.get("cpus", 0)) as cluster:
        yield cluster


# ---- addresses ----


def _read(where: str) -> tuple[str, dict[str, int]]:
    """The address to join, or none and the options of a cluster of our own."""
    if where.startswith("ray://"):
        return _checked(where), {}
    name, options = split(where) if where.partition(":")[0] == "ray" else ("", {})
    if name:
        if unknown := options.keys() - {"nodes", "cpus"}:
            raise InvalidValue(f"no option {shorten(min(unknown))!r} in {shorten(where)!r}; known: nodes, cpus")
        for key, value in options.items():
            if not (DIGITS.fullmatch(value) and 0 < int(value) <= MOST):
                raise InvalidValue(f"{key} is a number from 1 to {MOST}, not {shorten(value)!r} in {shorten(where)!r}")
        return "" if options else running(), {key: int(value) for key, value in options.items()}
    if exists(where) and Path(where).is_file():
        place = shown_path(Path(where))
        with plain_os_errors(f"read {place}"), Path(where).open(encoding="utf-8", errors="replace") as file:
            return _checked(file.read(1000).strip(), f"the address in {place}"), {}
    return _checked(where), {}


def _checked(address: str, place: str = "a cluster") -> str:
    """The address, if it has the form of one."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if HOST.fullmatch(host) and DIGITS.fullmatch(port) and 0 < int(port) < 2**16 and host.isprintable():
        return address
    raise InvalidValue(
        f"{place} is ray, ray:nodes=2, ray://host:port, host:port or a file with an address, not {shorten(address)!r}"
    )


def running() -> str:
    """The address of the cluster that this process is connected to, or that this user has started here; else empty."""
    if connected := _connected():
        return connected
    if named := os.environ.get("RAY_ADDRESS"):
        return _checked(named, "the variable RAY_ADDRESS")
    file = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster"  # noqa: S108
    with suppress(OSError, ValueError):
        if is_ours(file):  # anyone may write to that folder
            host, _, port = file.read_text(encoding="utf-8").strip().rpartition(":")
            socket.create_connection((host, int(port)), PATIENCE).close()
            return f"{host}:{port}"
    return ""


def _connected() -> str:
    """The address of the cluster that this process is connected to; else empty."""
    ray: Any = sys.modules.get("ray")
    return str(ray.get_runtime_context().gcs_address) if ray and ray.is_initialized() else ""


# ---- token ----


def token() -> str:
    """The token of this user's clusters; one is made if there is none."""
    file = token_file()
    if file is None:
        return os.environ["RAY_AUTH_TOKEN"]
    if file == cache_folder() / OWN and not file.exists():
        with plain_os_errors(f"write {file}"):
            write_once(file, os.urandom(32).hex().encode())
    try:
        if not is_ours(file.resolve()) or (sys.platform != "win32" and stat.S_IMODE(file.stat().st_mode) & 0o077):
            raise NoCluster(f"others can read or write {file}, the token of your clusters: chmod 600 {file}")
        found = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoCluster(f"cannot read the token of your clusters from {file}: {error}") from None
    if not found:
        raise NoCluster(f"{file} should hold the token of your clusters, but it is empty: remove it")
    return found


def token_file() -> Path | None:
    """Where the token is: in RAY_AUTH_TOKEN (no file), RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token, as for Ray; else in
    the user's private folder, for this user alone."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return None
    if named := os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return Path(named)
    with suppress(RuntimeError):  # a user without a home
        if (usual := Path.home() / ".ray" / "auth_token").exists():
            return usual
    return cache_folder() / OWN


# ---- join and start ----


@contextmanager
def _joined(address: str) -> Generator[Cluster]:
    """A cluster that runs already."""
    host, connected = address.removeprefix("ray://").rpartition(":")[0], _connected()
    if connected and address != connected:
        raise NoCluster(f"this process is connected to the cluster at {connected}; leave it before joining {address}")
    with _environment({REACHABLE: "0"} if host in (LOOPBACK, "localhost") else {}):
        _ask(address)
        ray: Any = importlib.import_module("ray")
        if connected:
            yield Cluster(ray, address, ours=False)
            return
        try:
            _join(ray, address)
            yield Cluster(ray, address, ours=False)
        finally:
            ray.shutdown()


def _join(ray: Any, address: str) -> None:
    """Connect to a cluster; through a client port up to ATTEMPTS times."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _our_handler():
                ray.init(address=address, configure_logging=False, log_to_driver=False)
            return
        except (OSError, RuntimeError, ValueError) as error:
            if attempt == ATTEMPTS or STUMBLE not in str(error):
                reason = shorten(" ".join(str(error).split()), 400)
                raise NoCluster(f"cannot join the cluster at {address}: {reason}") from None
            ray.shutdown()  # Ray takes itself for a client until then, and would start no cluster of our own


@contextmanager
def _started(nodes: int, cpus: int) -> Generator[Cluster]:
    """A cluster of our own, with so many CPUs for each node (0: an equal share of this machine's)."""
    if connected := _connected():
        raise NoCluster(f"this process is connected to the cluster at {connected}; leave it before starting another")
    more, cpus = list[Any](), cpus or max(1, available() // nodes)
    with _folder() as folder, _environment({REACHABLE: "0"}):
        ray: Any = importlib.import_module("ray")
        try:
            with _our_handler():
                quiet = {"configure_logging": False, "log_to_driver": False, "include_dashboard": False}
                own = {"num_cpus": cpus, "object_store_memory": STORE, "_temp_dir": str(folder / "ray")}
                address = ray.init(address="local", **own, **quiet).address_info["address"]
                more += [_add_node(address, cpus) for _ in range(nodes - 1)]
            if not all(node["NodeManagerAddress"] == LOOPBACK for node in ray.nodes()):
                raise NoCluster("Ray was imported before, and would listen on all addresses: import it afterwards")
            yield Cluster(ray, address, ours=True)
        finally:
            for node in more:  # before the head, which tells them to end their processes
                node.kill_all_processes(check_alive=False, allow_graceful=True, wait=True)
            ray.shutdown()


@contextmanager
def _folder() -> Generator[Path]:
    """A folder for a cluster of this process. Those that killed processes have left are removed; what is left of their
    clusters ends by itself."""
    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > LONGEST and sys.platform != "win32":
        parent = Path("/tmp")  # noqa: S108
    for left in parent.glob(f"{PREFIX}*-*"):
        with suppress(ValueError, OSError):
            if is_ours(left) and not _runs(int(left.name.split("-")[1])):
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", dir=parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _add_node(address: str, cpus: int) -> Any:
    """One more node on this machine. `ray start` refuses that for addresses that only this machine can reach."""
    node, parameter = (importlib.import_module(f"ray._private.{name}") for name in ("node", "parameter"))
    settings = parameter.RayParams(
        gcs_address=address,
        node_ip_address=LOOPBACK,
        num_cpus=cpus,
        num_gpus=0,  # those of this machine belong to the head
        object_store_memory=STORE,
        include_log_monitor=False,
        min_worker_port=0,
        max_worker_port=0,
        node_manager_port=0,
    )
    return node.Node(settings, head=False, shutdown_at_exit=True, spawn_reaper=True)


def _check_installed() -> None:
    for package in ("ray", "grpc"):
        if importlib.util.find_spec(package) is None:
            raise InvalidValue(f"a cluster needs the package {package}, which is not installed: {install('ray')}")


@contextmanager
def _environment(more: dict[str, str]) -> Generator[None]:
    """Variables that Ray reads when it is imported, here and in the processes that it starts. Afterwards they and the
    handler of SIGTERM are as before."""
    if os.environ.get("RAY_AUTH_MODE", "token") == "disabled":
        raise NoCluster("RAY_AUTH_MODE=disabled lets anyone run code on a cluster: unset it; a token is made if needed")
    token()  # it must be readable
    file = token_file()
    own = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0", "GRPC_VERBOSITY": "ERROR", **more}
    own |= {"RAY_AUTH_TOKEN_PATH": str(file)} if file else {}
    before, handler = {name: os.environ.get(name) for name in own}, signal.getsignal(signal.SIGTERM)
    os.environ.update(own)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@contextmanager
def _our_handler() -> Generator[None]:
    """Ray replaces the handler of SIGTERM; ours stays. Where there is none, SIGTERM does what Ctrl-C does, so that what
    we have started ends too."""
    own = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, own if callable(own) else signal.default_int_handler)


def _ask(address: str) -> None:
    """Check that the cluster accepts our token, and not everyone. One that asks for no token is not told ours."""
    without = _answer(address, "")
    ours = _answer(address, token()) if without == "UNAUTHENTICATED" else without
    if "UNAVAILABLE" in (without, ours) or "DEADLINE_EXCEEDED" in (without, ours):
        raise NoCluster(f"no cluster answers at {address}")
    if "UNIMPLEMENTED" in (without, ours):
        raise NoCluster(
            f"{address} is not the right port of a cluster: host:6379 is the head, ray://host:10001 for clients"
        )
    if without != "UNAUTHENTICATED":
        raise NoCluster(f"the cluster at {address} lets anyone run code: start it with RAY_AUTH_MODE=token")
    if ours == "UNAUTHENTICATED":
        raise NoCluster(f"the cluster at {address} does not accept the token in {token_file() or 'RAY_AUTH_TOKEN'}")


def _answer(address: str, bearer: str) -> str:
    """The status of a question that changes nothing, asked with a token or without."""
    grpc: Any = importlib.import_module("grpc")
    metadata = (("authorization", f"Bearer {bearer}"),) if bearer else ()
    with grpc.insecure_channel(address.removeprefix("ray://")) as channel:
        try:
            channel.unary_unary(QUESTIONS[address.startswith("ray://")])(b"", timeout=PATIENCE, metadata=metadata)
        except grpc.RpcError as error:
            return str(error.code().name)
    return "OK"


def last_line(error: Exception) -> str:
    """What Python said at the end of a traceback; of an error of ours its sentence alone."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shorten(re.sub(r"^plyground[\w.]*: ", "", lines[-1]) if lines else type(error).__name__, 300)
