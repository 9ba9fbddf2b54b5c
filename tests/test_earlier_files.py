"""Files of an earlier version are opened, resumed, played on, reported and exported: `data/earlier/make.py` has
made them, all with the secret of one user."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import plyground as pg
from conftest import TESTS
from plyground.kernels import cache
from plyground.play.saved import read_file
from plyground.private_folder import cache_folder
from plyground.runs.directory import find_checkpoint, steps_of
from plyground.web.catalogue import YOU, Catalogue
from plyground.web.store import Store, default_folder
from plyground.web.table import GameTable, opened, sealed
from runs_on_disk import read_records

ARCHIVE = TESTS / "data" / "earlier" / "files.tar.xz"
NETWORKS = ["dqn", "reinforce", "a2c", "ppo", "alphazero", "own_game", "tuned", "seeds/seed-3", "killed"]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says what a person types."""

    def say(*lines: str) -> None:
        answers = iter(lines)
        monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(answers))

    return say


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The private folder of the user whose files these are."""
    folder = tmp_path_factory.mktemp("user")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, [each for each in archive if each.name.startswith("private")], filter="data")
    folder /= "private"
    folder.chmod(0o700)
    (folder / "secret").chmod(0o600)
    return folder


@pytest.fixture
def there(steady_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the files, in which that user types commands; what is compiled stays with what others use."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(steady_path, filter="data")
    compiled = cache_folder()
    monkeypatch.setattr(cache, "cache_folder", lambda: compiled)
    monkeypatch.setenv("PLYGROUND_CACHE", str(private))
    monkeypatch.chdir(steady_path)
    return steady_path


# ---- runs ----


@pytest.mark.parametrize("run", [*NETWORKS, "tabular", "imitation"])
def test_a_run_is_resumed_and_its_best_version_plays(run: str, there: Path, command: Command) -> None:
    path, trust = f"runs/{run}", ["--trust"] if run == "own_game" else []  # its game file was at another place
    before, end = steps_of(Path(path))[-1], ["--epochs", "2"] if run == "imitation" else ["--cycles", "3"]
    lines = Path(path, "metrics.jsonl").read_bytes()
    code, _, err = command("resume", path, *end, *trust)
    assert code == 0, err
    assert steps_of(Path(path))[-1] > before
    if run != "killed":  # whose metrics are ahead of its last checkpoint
        assert Path(path, "metrics.jsonl").read_bytes().startswith(lines)
    code, out, err = command("evaluate", path, "random", "--games", "4", "--json")
    assert code == 0, err
    assert json.loads(out)["against"]["random"]["games"] == 4


def test_the_killed_run_goes_on_where_its_last_checkpoint_is(there: Path) -> None:
    logged = [each["cycle"] for each in read_records(Path("runs/killed")) if each["event"] == "cycle"]
    assert find_checkpoint(Path("runs/killed"), "last").state()["parts"]["state"]["cycle"] <= logged[-1]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("runs", "alphazero"),
        ("runs inspect runs/a2c", "Checkpoints: 27, 59"),
        ("runs diff runs/dqn runs/tuned", "dueling"),
        ("runs unpack packed.tar again", "unpacked"),
        ("report runs/ppo --games 4", "random"),
        ("report runs/seeds --games 4", "random"),
        ("plot runs/dqn runs/ppo --out curves.png", "curves.png"),
        ("table runs/tabular --top 3", "visits"),
        ("export onnx runs/alphazero net.onnx", "net.onnx"),
        ("runs publish runs/reinforce published-2 --games 2", "model.safetensors"),
        ("evaluate published random --games 4", "score"),
        ("train --profile my.toml --cycles 1 --out runs/new", "runs/new"),
        ("train --profile runs/a2c --cycles 1 --out runs/new", "runs/new"),
        ("train dqn connect_four --init runs/dqn --network 16 --cycles 1 --games-per-cycle 20 --num-envs 8 "
         "--learning-starts 32 --batch-size 16 --eval-games 2 --out runs/new", "runs/new"),
        ("train imitation connect_four --data teacher.ndjson --network 8 --epochs 1 --validation-split 0.5 "
         "--out runs/new", "runs/new"),
        ("teach verify runs/imitation --tuned runs/tuned --games 2 --depth 1", "imitation"),
        ("teach inspect connect_four teacher.ndjson", "positions"),
        ("teach inspect chess.ndjson.gz", "positions"),
        ("teach convert connect_four teacher.csv again.ndjson", "again.ndjson"),
        ("teach collect connect_four --seed 3 --depth 1 --games 10 --out teacher.ndjson", "10 games"),
        ("ladder connect_four greedy punisher --games 4 --file ladder.json", "punisher"),
        ("match connect_four random greedy --games 4 --openings book.txt", "score"),
        ("match chess random greedy --games 4 --openings book.pgn --opening-plies 2", "score"),
        ("match connect_four search:run=runs/ppo,sims=8 run:runs/dqn --games 2", "score"),
        ("match connect_four search:net=trained,sims=8 search:run=runs/alphazero,sims=8 --games 2", "score"),
        ("analyse games/chess.txt --sims 10", "blunder"),
        ("watch games/paco_sako.txt --speed 100000", "White, random, wins"),
        ("watch run:runs/dqn --speed 100000", "the learner"),
        ("check my_game.py", "✓"),
    ],
)  # fmt: skip
def test_a_command_reads_what_is_there(line: str, told: str, there: Path, command: Command) -> None:
    code, out, err = command(*line.split())
    assert code == 0, out + err
    assert told in out + err


# ---- games ----

GAMES = ["chess", "connect_four", "paco_sako", "sequence", "sequence-rules_boxed", "sequence-seats_4"]


@pytest.mark.parametrize("name", GAMES)
def test_a_finished_game_is_read_to_its_end(name: str, there: Path) -> None:
    game = read_file(Path(f"games/{name}.txt"))
    assert game.start.game.word == name.partition("-")[0]
    assert game.line.position.over
    assert game.players == ("random", "random")
    assert game.outcome == game.line.outcome


@pytest.mark.parametrize("name", GAMES)
def test_an_unfinished_game_is_played_on(name: str, there: Path, typed: Callable[..., None], command: Command) -> None:
    file = Path(f"games/{name}.open.txt")
    before = read_file(file)
    typed("undo", "moves", "1", "save games/again.txt", "quit")
    code, out, err = command("play", "--load", str(file), "random", "--seed", "1")
    assert code == 0, out + err
    again = read_file(Path("games/again.txt"))
    assert again.start == before.start
    assert len(before.actions) >= 1


def test_games_of_runs_are_read(there: Path) -> None:
    for run in ("dqn", "tabular", "own_game"):
        for file in sorted(Path("runs", run, "games").glob("*.txt")):
            game = pg.load("my_game.py") if run == "own_game" else None
            assert read_file(file, game).line.position.over


def test_games_that_the_page_has_kept_go_on(there: Path) -> None:
    """Each is opened, an action is played, and it is kept and opened again."""
    store, catalogue = Store(default_folder()), Catalogue()
    names = [info.id for info in store.newest(100)]
    assert len(names) == 13
    for name in names:
        saved = opened(store.read(name))
        game = catalogue.load(saved.game, saved.settings)
        table = GameTable(saved, game)
        for player in set(saved.players) - {YOU}:
            assert pg.agent(catalogue.choice(saved.game, game, player).spec(), game)
        assert len(saved.actions) == 9
        if table.over:
            assert table.ending == "You resign."
            table.undo()
        table.reply(table.position.legal()[0])
        store.keep(sealed(table.saved, game), table.title)
        store.flush()
        again = opened(Store(default_folder()).read(name))
        assert again.actions == table.saved.actions
        assert GameTable(again, game).position.text == table.position.text
