"""Addresses of clusters, the token, and a cluster of our own: on the loopback alone, and gone afterwards."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import grpc
import pytest

from cluster_runs import folders, processes
from plyground.cluster import connect as module
from plyground.cluster.connect import NoCluster, connect, running, token, token_file
from plyground.errors import InvalidValue

pytestmark = pytest.mark.once


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with an empty home."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    return tmp_path


# ---- addresses ----


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ("ray:nodes=0", "nodes is a number from 1 to 1000, not '0' in 'ray:nodes=0'"),
        ("ray:gpus=1", "no option 'gpus' in 'ray:gpus=1'; known: nodes, cpus"),
        ("ray://host", "a cluster is ray, ray:nodes=2, ray://host:port, host:port or a file .* not 'ray://host'"),
        ("nowhere", "a cluster is ray.* not 'nowhere'"),
        ("host:99999", "a cluster is ray.* not 'host:99999'"),
        ("host:" + "1" * 5000, "a cluster is ray.* not 'host:1+…'"),
        ("host:٦٣٧٩", "a cluster is ray.* not 'host:"),
        ("ray://" + "x" * 16000 + ":1", "a cluster is ray.* not 'ray://x+…'"),
        ("ray:nodes=" + "1" * 5000, "nodes is a number from 1 to 1000, not '1+…' in 'ray:nodes=1+…'"),
        ("ray:" + "x" * 16000 + "=1", "no option 'x+…' in 'ray:x+…'; known: nodes, cpus"),
    ],
)
def test_an_address_that_is_none_is_refused(where: str, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence) as found, connect(where):
        pass
    assert len(str(found.value)) < 400


def test_a_file_may_hold_the_address(private: Path) -> None:
    file = private / "address"
    file.write_text("127.0.0.1:1\n")
    with pytest.raises(NoCluster, match=r"^no cluster answers at 127\.0\.0\.1:1$"), connect(str(file)):
        pass
    file.write_text("import os")
    with pytest.raises(InvalidValue, match=r"the address in .* not 'import os'"), connect(str(file)):
        pass


def test_the_cluster_that_the_user_has_started_is_found_and_a_strangers_or_a_stopped_one_is_not(private: Path) -> None:
    file = private / "ray" / "ray_current_cluster"
    file.parent.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        file.write_text(address)
        assert running() == address
        file.chmod(0o666)
        assert not running()
        file.chmod(0o600)
    assert not running()


def test_without_ray_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidValue, match=r"needs the package ray, .*pip install .*\.\[ray\]"), connect("ray"):
        pass


# ---- token ----


def test_a_token_is_made_once_and_only_its_user_can_read_it(private: Path) -> None:
    first = token()
    assert len(first) == 64
    assert token() == first
    assert token_file() == private / "cache" / "ray_token"
    assert (private / "cache" / "ray_token").stat().st_mode & 0o777 == 0o600


def test_the_users_own_token_comes_first(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (private / ".ray").mkdir()
    usual, named = private / ".ray" / "auth_token", private / "named"
    for file, text in ((usual, "usual\n"), (named, "named")):
        file.write_text(text)
        file.chmod(0o600)
    assert token() == "usual"
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(named))
    assert token() == "named"
    monkeypatch.setenv("RAY_AUTH_TOKEN", "given")
    assert token() == "given"


@pytest.mark.parametrize(
    ("mode", "text", "sentence"),
    [(0o644, "x", "others can read or write .*: chmod 600"), (0o600, " \n", "it is empty"), (None, "", "cannot read")],
)
def test_a_token_that_is_no_secret_is_refused(
    private: Path, monkeypatch: pytest.MonkeyPatch, mode: int | None, text: str, sentence: str
) -> None:
    file = private / "named"
    if mode is not None:
        file.write_text(text)
        file.chmod(mode)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(file))
    with pytest.raises(NoCluster, match=sentence):
        token()


def test_authentication_cannot_be_switched_off(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(NoCluster, match="RAY_AUTH_MODE=disabled lets anyone run code"), connect("127.0.0.1:1"):
        pass


@pytest.fixture
def head() -> Iterator[dict[str, Any]]:
    """A server in place of a cluster's head: `token` is the one it wants (none: any), `address` its own; `told` are
    the tokens that it received."""
    head: dict[str, Any] = {"token": None, "told": []}

    class Handler(grpc.GenericRpcHandler):
        def service(self, handler_call_details: Any) -> Any:
            if handler_call_details.method != module.QUESTIONS[False]:
                return None
            bearer = dict(handler_call_details.invocation_metadata).get("authorization")
            head["told"] += [bearer] if bearer else []

            def answer(_: bytes, context: Any) -> bytes:
                if head["token"] is not None and bearer != f"Bearer {head['token']}":
                    context.abort(grpc.StatusCode.UNAUTHENTICATED, "no")
                return b""

            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(futures.ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((Handler(),))
    head["address"] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield head
    server.stop(None).wait()


def test_a_cluster_that_lets_anyone_in_is_refused(private: Path, head: dict[str, Any]) -> None:
    with pytest.raises(NoCluster, match=f"{head['address']} lets anyone run code"), connect(head["address"]):
        pass
    assert not head["told"], "it has not asked for a token"


def test_a_cluster_that_refuses_our_token_is_named_in_one_sentence(private: Path, head: dict[str, Any]) -> None:
    head["token"] = 64 * "x"
    with pytest.raises(NoCluster, match=r"does not accept the token in .*ray_token$"), connect(head["address"]):
        pass
    head["token"] = token()
    module._ask(head["address"])


def test_the_wrong_port_is_said(private: Path, head: dict[str, Any]) -> None:
    with pytest.raises(NoCluster, match="not the right port"), connect(f"ray://{head['address']}"):
        pass


class Stumbling:
    """In place of Ray: its head fails to start a process for the first `failures` clients."""

    def __init__(self, failures: int, reason: str = module.STUMBLE) -> None:
        self.failures, self.reason = failures, reason
        self.calls: list[str] = []

    def init(self, **_: Any) -> None:
        self.calls.append("init")
        if self.calls.count("init") <= self.failures:
            raise RuntimeError(f"Initialization failure from server: {self.reason}. See some file")

    def shutdown(self) -> None:
        self.calls.append("shutdown")

    def is_initialized(self) -> bool:
        return False


def join(ray: Stumbling, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Ray was told while a cluster was joined through its client port, and left."""
    monkeypatch.setitem(sys.modules, "ray", cast(ModuleType, ray))
    monkeypatch.setattr(module, "_check_installed", lambda: None)
    monkeypatch.setattr(module, "_ask", lambda address: None)
    with connect("ray://127.0.0.1:1"):
        pass
    return ray.calls


def test_a_client_that_the_head_stumbled_over_tries_again(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert join(Stumbling(2), monkeypatch) == 3 * ["init", "shutdown"]


@pytest.mark.parametrize(("ray", "attempts"), [(Stumbling(9), module.ATTEMPTS), (Stumbling(9, "other version"), 1)])
def test_a_cluster_that_cannot_be_joined_leaves_ray_as_it_was(
    private: Path, monkeypatch: pytest.MonkeyPatch, ray: Stumbling, attempts: int
) -> None:
    with pytest.raises(NoCluster, match=f"^cannot join the cluster at ray://127.0.0.1:1: .*{ray.reason}"):
        join(ray, monkeypatch)
    assert ray.calls == attempts * ["init", "shutdown"]


# ---- a cluster of our own ----


def listening(pids: list[int]) -> dict[int, set[str]]:
    """{process: the addresses (hexadecimal) at which it accepts connections}, from the kernel's tables."""
    place: dict[str, str] = {}  # socket → address
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":  # it listens
                place[f"socket:[{words[9]}]"] = words[1].partition(":")[0]
    found: dict[int, set[str]] = {}
    for pid in pids:
        found[pid] = set()
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError, KeyError):  # closed meanwhile, or no socket that listens
                found[pid].add(place[str(file.readlink())])
    return found


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, also as IPv6 has it


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """In the environment of all processes that a test starts."""
    monkeypatch.setenv("BEGUN_BY", str(tmp_path))
    return f"BEGUN_BY={tmp_path}"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_cluster_of_our_own_listens_on_the_loopback_alone_and_leaves_nothing_behind(mark: str) -> None:
    names = {module.REACHABLE, *(f"RAY_{name}" for name in ("AUTH_MODE", "AUTH_TOKEN_PATH", "USAGE_STATS_ENABLED"))}
    before = {name: os.environ.get(name) for name in names}
    handler = signal.getsignal(signal.SIGTERM)
    with connect("ray:cpus=1") as cluster:
        assert (cluster.ours, cluster.nodes, cluster.resource("CPU")) == (True, 1, 1)
        assert cluster.ray.get(cluster.ray.remote(lambda: 6 * 7).remote()) == 42
        found = listening([os.getpid(), *processes(mark)])
        assert len([pid for pid, places in found.items() if places]) >= 4  # this process, head, node, worker
        assert set[str]().union(*found.values()) <= LOOPBACK
        (folder,) = folders(os.getpid())
        assert folder.stat().st_mode & 0o777 == 0o700
        with connect("ray") as same:  # the one that this process is connected to
            assert (same.address, same.ours) == (cluster.address, False)
        assert cluster.ray.is_initialized()
        with pytest.raises(NoCluster, match="is connected to the cluster at"), connect("ray:nodes=2"):
            pass
    assert not cluster.ray.is_initialized()
    assert not folder.exists()
    end = time.monotonic() + 5
    while processes(mark) and time.monotonic() < end:
        time.sleep(0.1)
    assert not processes(mark)
    assert {name: os.environ.get(name) for name in names} == before
    assert signal.getsignal(signal.SIGTERM) == handler


def test_the_folder_that_a_killed_process_has_left_is_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "LONGEST", 200)
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as ended:
        ended.wait()
    stale, running, foreign = (tmp_path / f"plyray-{each}-a" for each in (ended.pid, os.getpid(), "x"))
    for each in (stale, running, foreign):
        each.mkdir(mode=0o700)
    with module._folder() as own:
        assert {*tmp_path.iterdir()} == {own, running, foreign}
    assert not own.exists()


def test_a_folder_is_short_enough_for_the_paths_of_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/" + "x" * 90)
    with module._folder() as own:
        assert len(f"{own}/ray/session_2026-11-16_08-59-01_227311_1234567/sockets/plasma_store.123456") < 107


@pytest.fixture
def started(tmp_path: Path, mark: str) -> Iterator[tuple[str, str, Path]]:
    """Head, client port and folder of a cluster that `ray start` has started, for this machine alone."""
    with socket.socket() as head, socket.socket() as client, module._folder() as folder:
        for each in (head, client):
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (head, client)]
        for each in (head, client):
            each.close()
        environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": token(),
            "RAY_USAGE_STATS_ENABLED": "0",
            module.REACHABLE: "0",
            "RAY_TMPDIR": str(folder),
        }
        line = ["start", "--head", f"--port={ports[0]}", f"--ray-client-server-port={ports[1]}", "--num-cpus=1"]
        code = "from ray.scripts.scripts import main; main()"
        line = [sys.executable, "-c", code, *line, "--include-dashboard=false", "--object-store-memory=100000000"]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        yield f"127.0.0.1:{ports[0]}", f"ray://127.0.0.1:{ports[1]}", folder
        for pid in processes(mark):
            with suppress(ProcessLookupError):  # it has ended with another one
                os.kill(pid, signal.SIGKILL)


@pytest.mark.cluster
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_cluster_that_runs_is_joined_by_each_form_of_address_and_stays(
    started: tuple[str, str, Path], mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, client, folder = started
    (tmp_path / "address").write_text(head)
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    for where in ("ray", head, str(tmp_path / "address"), client):
        with connect(where) as cluster:
            assert (cluster.ours, cluster.nodes, cluster.resource("CPU")) == (False, 1, 1)
            assert cluster.ray.get(cluster.ray.remote(lambda: 6 * 7).remote()) == 42
    assert processes(mark)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "wrong")
    for where in (head, client):
        refusal = f"^the cluster at {where} does not accept the token in RAY_AUTH_TOKEN$"
        with pytest.raises(NoCluster, match=refusal), connect(where):
            pass
    for where in (client.removeprefix("ray://"), f"ray://{head}"):
        with pytest.raises(NoCluster, match="not the right port"), connect(where):
            pass
