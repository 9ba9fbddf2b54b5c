"""First guesses: each works, or is answered with the line that is meant."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tyro

import plyground as pg
from conftest import ROOT
from plyground.backend import device
from plyground.cli import pipeline, runs, seeds, teach, training
from plyground.cli.grammar import game_first, option_defaults
from plyground.cli.guesses import (
    DOCUMENTS,
    OPTIONS_OF_EVALUATE,
    SETTINGS_OF_GAMES,
    _nearest,
    _options_of_train,
    correct,
    game_files,
    game_name,
    is_game,
    run_path,
)
from plyground.cli.help import HELP
from plyground.games import GAMES
from plyground.games.paco_sako.encoders import encoder_name
from plyground.learners import threads

ROW = str(ROOT / "examples" / "three_in_a_row.py")


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("chess", True),
        ("sequence:seats=4", True),
        ("my_game.py", True),
        ("my_game.py:length=5", True),
        ("C:\\games\\mine.py", True),
        ("greedy", False),
        ("minimax:depth=3", False),
        ("uci:/usr/games/engine.py", False),
        ("run:runs/chess.py-1", False),
        ("chess960", False),
        ("4453", False),
    ],
)
def test_a_word_that_names_a_game_is_recognised(word: str, wanted: bool) -> None:
    assert is_game(word) == wanted


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("connect4", "connect_four"), ("Connect Four", "connect_four"), ("connect-four", "connect_four"),
        ("c4", "connect_four"), ("ConnectFour", "connect_four"), ("paco-sako", "paco_sako"), ("Chess", "chess"),
        ("Sequence:seats=4", "sequence:seats=4"), ("my_game.py", "my_game.py"), ("greedy", "greedy"),
    ],
)  # fmt: skip
def test_games_are_understood_in_other_spellings(typed: str, name: str) -> None:
    assert game_name(typed) == name
    assert game_first([typed, "a", "b"], "", "match [GAME] A B", 0, 3)[0] == (
        name if is_game(typed) else "connect_four"
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in runs/, beside which commands are typed."""
    monkeypatch.chdir(tmp_path)
    path = Path("runs") / "x"
    (path / "checkpoints" / "12").mkdir(parents=True)
    (path / "config.toml").write_text('learner = "dqn"\ngame = "chess"\n')
    return path


RIGHT_LINES = [
    # play
    ("play chess --against trained", "play chess trained"),
    ("play --against minimax:depth=5", "play minimax:depth=5"),
    ("play --against=greedy chess --side second", "play chess greedy --side second"),
    ("play --game chess --opponent trained", "play chess trained"),
    ("play c4 --vs greedy", "play connect_four greedy"),
    ("play chess minimax --depth 5", "play chess minimax:depth=5"),
    ("play --depth 5 chess", "play chess minimax:depth=5"),
    ("play chess minimax 4", "play chess minimax:depth=4"),
    ("play chess --level 3", "play chess level:3"),
    ("play chess level 3", "play chess level:3"),
    ("play chess --difficulty=7", "play chess level:7"),
    ("play chess 3", "play chess level:3"),
    ("play chess hard", "play chess level:8"),
    ("play chess stockfish", "play chess uci:stockfish"),
    ("play connect_four perfect", "play connect_four solver"),
    ("play chess mcts", "play chess search"),
    ("play chess --color black", "play chess --side black"),
    ("play chess greedy black", "play chess greedy --side black"),
    ("play --file game.txt level:2", "play --load game.txt level:2"),
    ("play --resume game.txt", "play --load game.txt"),
    ("play chess --fen 'k7/8/8/8/8/8/8/K7 w - - 0 1'", "play chess --position 'k7/8/8/8/8/8/8/K7 w - - 0 1'"),
    ("play chess --white", "play chess --side first"),
    ("play --env chess", "play chess"),
    ("play chess --run runs/x", "play chess runs/x"),
    ("play trained chess", "play chess trained"),
    ("play paco sako", "play paco_sako"),
    ("play connect 4 greedy", "play connect_four greedy"),
    ("play sequence --seats 4", "play sequence:seats=4"),
    ("play --seats=4 sequence:rules=boxed level:2", "play sequence:rules=boxed,seats=4 level:2"),
    ("play sequence seats=4", "play sequence:seats=4"),
    ("play --game 4", "play connect_four"),
    # watch and analyse
    ("watch a.txt b.txt", "watch a.txt"),
    ("watch chess a.pgn greedy", "watch chess a.pgn"),
    ("watch --pgn game.pgn", "watch game.pgn"),
    ("watch greedy", "watch connect_four greedy random"),
    ("analyse chess --load game.pgn", "analyse chess --file game.pgn"),
    ("analyse --pgn game.pgn --seconds 2", "analyse --file game.pgn --time 2"),
    ("analyse chess search:sims=100", "analyse chess --agent search:sims=100"),
    ("analyse chess trained", "analyse chess --agent search:net=trained"),
    ("analyse runs/x", "analyse chess --agent search:run=runs/x"),
    ("analyse chess --fen startpos", "analyse chess --position startpos"),
    ("analyse 4453", "analyse connect_four --position 4453"),
    ("analyse 4453 connect_four", "analyse connect_four --position 4453"),
    # match
    ("match greedy vs random", "match greedy random"),
    ("match chess greedy random 100", "match chess greedy random --games 100"),
    ("match --a greedy --b random --game chess", "match chess greedy random"),
    ("match --player1 greedy --player2 random", "match greedy random"),
    ("match greedy random -n 50", "match greedy random --games 50"),
    ("match chess greedy random trained", "ladder chess greedy random trained"),
    ("match greedy random --episodes 50", "match greedy random --games 50"),
    ("match greedy random --num-games=50", "match greedy random --games 50"),
    ("match greedy minimax --depth 4", "match greedy minimax:depth=4"),
    ("match greedy random connect_four", "match connect_four greedy random"),
    ("match chess greedy --games 10", "match chess greedy random --games 10"),
    ("match random", "match random greedy"),
    # train
    ("train ppo sequence seconds=5", "train ppo sequence --seconds 5"),
    ("train connect_four ppo --cycles 1", "train ppo connect_four --cycles 1"),
    ("train connect_four", "train dqn connect_four"),
    ("train connect_four ppo", "train ppo connect_four"),
    ("train PPO chess", "train ppo chess"),
    ("train --seconds 5 ppo chess", "train ppo chess --seconds 5"),
    ("train q-learning connect_four", "train tabular connect_four"),
    ("train sarsa sequence", "train tabular sequence --method sarsa"),
    ("train alpha-zero c4", "train alphazero connect_four"),
    ("train connect_four_demo", "train --profile connect_four_demo"),
    ("train runs/x", "resume runs/x"),
    ("train resume runs/x --seconds 9", "resume runs/x --seconds 9"),
    ("train ppo --resume runs/x", "resume runs/x"),
    ("train --algo ppo --env connect_four --episodes 10000", "train ppo connect_four --cycles 5"),
    ("train --game connect_four --learner=ppo", "train ppo connect_four"),
    ("train ppo chess --minutes 2", "train ppo chess --seconds 120"),
    ("train ppo chess --time 60 --gpu", "train ppo chess --seconds 60 --device cuda"),
    ("train ppo chess --opponent greedy", "train ppo chess --opponents '1 greedy'"),
    ("train dqn chess --name foo", "train dqn chess --out foo"),
    ("train dqn chess --config chess_dqn", "train dqn chess --profile chess_dqn"),
    ("train dqn chess --num-seeds 3 --jobs 2", "train dqn chess --seeds 3 --parallel 2"),
    ("train imitation --data x --batch 64 --lr=0.1", "train imitation --data x --batch-size 64 --learning-rate 0.1"),
    ("train dqn chess --concurrency 8 --max-steps 80", "train dqn chess --num-envs 8 --max-plies 80"),
    ("train --profile chess_dqn --load x", "train --profile chess_dqn --init x"),
    ("teach imitate --data x.ndjson", "train imitation --data x.ndjson"),
    # resume
    ("resume", "resume runs/x"),
    ("resume --run runs/x", "resume runs/x"),
    ("resume runs/x 240", "resume runs/x --seconds 240"),
    ("resume runs/x --minutes 4", "resume runs/x --seconds 240"),
    ("resume chess runs/x", "resume runs/x"),
    ("continue runs/x", "resume runs/x"),
    # evaluate and grade
    ("evaluate", "evaluate runs/x"),
    ("evaluate --run runs/x --against random", "evaluate runs/x random"),
    ("evaluate runs/x --against random greedy --games 4", "evaluate runs/x random greedy --games 4"),
    ("evaluate chess runs/x", "evaluate runs/x"),
    ("evaluate runs/x --n 10", "evaluate runs/x --games 10"),
    ("evaluate greedy", "match greedy random"),
    ("evaluate greedy random", "match greedy random"),
    ("grade --agent greedy", "grade greedy"),
    ("grade minimax --depth 4", "grade minimax:depth=4"),
    ("grade greedy connect_four", "grade connect_four greedy"),
    ("plot", "plot runs/x"),
    ("tournament chess random greedy", "ladder chess random greedy"),
    ("inspect runs/x", "runs inspect runs/x"),
    ("diff runs/x runs/y", "runs diff runs/x runs/y"),
    ("compare runs/x runs/x", "runs diff runs/x runs/x"),
    ("compare chess greedy runs/x", "match chess greedy runs/x"),
    ("compare random greedy level:2", "ladder random greedy level:2"),
    ("web --open", "serve --open"),
    ("uci level:3", "uci --agent level:3"),
    ("uci chess", "uci"),
    ("uci chess trained", "uci --agent trained"),
    # networks and runs
    ("train dqn chess --hidden 512,256,128", "train dqn chess --network 512-256-128"),
    ("train dqn chess --hidden-layers '[512, 256]'", "train dqn chess --network 512-256"),
    ("train dqn chess --layers 512 256 --cycles 2", "train dqn chess --network 512-256 --cycles 2"),
    ("train ppo chess --hidden 512,256", "train ppo chess --network 512-256+value"),
    ("train --profile chess_ppo_gpu --net 512-256", "train --profile chess_ppo_gpu --network 512-256+value"),
    ("train dqn chess --net b4c64", "train dqn chess --network b4c64"),
    ("train dqn chess --load-best", "train dqn chess --init runs/x"),
    ("train dqn sequence --load-best", "train dqn sequence --init runs/NAME"),
    ("train --profile chess_dqn --load-best", "train --profile chess_dqn --init runs/x"),
    # settings of agents
    ("match connect_four minimax depth=3 random", "match connect_four minimax:depth=3 random"),
    ("match search sims=10 minimax depth=2 --games 10", "match search:sims=10 minimax:depth=2 --games 10"),
    ("evaluate runs/x minimax depth=2", "evaluate runs/x minimax:depth=2"),
    ("play connect_four search --sims 100", "play connect_four search:sims=100"),
    ("match connect_four --depth=3 minimax random", "match connect_four minimax:depth=3 random"),
    ("match minimax:depth=3 --depth 4 random", "match minimax:depth=4 random"),
    ("match minimax:depth=3,table=16 --depth 4 random", "match minimax:depth=4,table=16 random"),
    ("match minimax:3 search:100", "match minimax:depth=3 search:sims=100"),
    ("ladder random minimax --depth 2", "ladder random minimax:depth=2"),
    ("play connect_four -level 3", "play connect_four level:3"),
    ("play chess level=3", "play chess level:3"),
    # what the parser would answer with a box
    ("watch chess greedy random --delay 0.01", "watch chess greedy random --speed 100"),
    ("watch greedy random --sleep 2", "watch greedy random --speed 0.5"),
    ("perft", "perft --depth 4"),
    ("perft chess 3", "perft chess --depth 3"),
    ("bench", "bench rules"),
    ("bench chess --batch 8", "bench rules chess --batch 8"),
    ("train ppo connect_four --steps 1000", "train ppo connect_four --cycles 1"),
    ("train dqn chess --total-timesteps 1000000", "train dqn chess --cycles 20"),
    ("train dqn chess --network 512x256", "train dqn chess --network 512-256"),
    ("train ppo chess --network=512,256", "train ppo chess --network 512-256+value"),
    ("evaluate chess runs/x random --games 10", "evaluate runs/x random --games 10"),
    ("evaluate greedy connect_four", "match connect_four greedy random"),
    ("evaluate greedy minimax:depth=2 chess --games 10", "match chess greedy minimax:depth=2 --games 10"),
    ("compare x x", "runs diff x x"),
    ("runs list", "runs"),
    ("runs ls --folder elsewhere", "runs --folder elsewhere"),
    # the documents that Plyground follows
    ("--train-advanced", "train --profile chess_dqn_original"),
    ("--train-advanced --seed 3 --out runs/a", "train --profile chess_dqn_original --seed 3 --out runs/a"),
    ("--train-advanced --cycles 3 --double-dqn", "train dqn chess --cycles 3 --double-dqn"),
    ("train dqn chess --train-advanced --cycles 3", "train dqn chess --cycles 3"),
    ("--train-advancd --cycles 3", "train dqn chess --cycles 3"),
    ("--trainAdvanced --cycles 3", "train dqn chess --cycles 3"),
    ("--train-advanced --load runs/x", "train --profile chess_dqn_imitation_bootstrap --init runs/x"),
    ("train --profile=dqn_debug_masking", "train --profile chess_dqn_debug_masking"),
    ("train dqn_debug_masking", "train --profile chess_dqn_debug_masking"),
    ("train --profile dqn_imitation_bootstrap --load x", "train --profile chess_dqn_imitation_bootstrap --init x"),
    (
        "train dqn chess --load data/best_qnet.json",
        "train dqn chess --init runs/best_qnet --encoder flat839 --outputs 4096 --network 512-256-128 --dueling",
    ),
    (
        "--train-imitation --hidden 256,128",
        "train imitation chess --data data/teacher.ndjson --network 256-128 --encoder flat839 --outputs 4096",
    ),
    ("--eval-baselin --games 20", "evaluate runs/x random greedy --games 20"),
    ("evaluate runs/x --eval-baseline --load-bst", "evaluate runs/x random greedy --checkpoint best"),
    ("--colect --games 20", "teach collect --games 20"),
    ("teach collect --topk 3 --tau 0.5", "teach collect --top-k 3 --temperature 0.5"),
    ("train dqn chess --concurency 8", "train dqn chess --num-envs 8"),
    ("train dqn chess --max-concurrent-games 8", "train dqn chess --num-envs 8"),
    ("train dqn chess --max-steps-per-game 100", "train dqn chess --max-plies 100"),
    ("train dqn chess --treat-step-limit-as-draw true --cycles 1", "train dqn chess --cycles 1"),
    ("train dqn chess --step-limit-penalty -0.05", "train dqn chess --truncation-penalty 0.05"),
    ("train dqn chess --enable-position-rewards", "train dqn chess --shaping-coef 0.1"),
    ("train dqn chess --enablePositionRewards=false --cycles 1", "train dqn chess --cycles 1"),
    ("train dqn chess --targetUpdateFrequency 20", "train dqn chess --target-update-interval 20"),
    ("train dqn chess --warmup 1000", "train dqn chess --learning-starts 1000"),
    ("train ppo paco_sako --with-must-lift", "train ppo paco_sako --encoder tensor_lift"),
    (
        "train ppo paco_sako --with-must-lift --with-must-promote",
        "train ppo paco_sako --encoder tensor_lift_promote",
    ),
    ("train ppo chess --with-must-place 1", "train ppo paco_sako --encoder tensor_promote"),
    ("train ppo --use-perspective --encoder index", "train ppo paco_sako --encoder index"),
    (
        "train USE_PERSPECTIVE=0 WITH_MUST_LIFT",
        "train --profile paco_sako_tensor_original --encoder tensor_absolute_lift",
    ),
    (
        "train --profile paco_sako_index_original --no-use-perspective --with-must-lift=0",
        "train --profile paco_sako_index_original --encoder index_absolute",
    ),
]


@pytest.mark.parametrize(("typed", "right"), RIGHT_LINES, ids=[typed for typed, _ in RIGHT_LINES])
def test_a_line_that_means_another_is_answered_with_it(command, run: Path, typed: str, right: str) -> None:
    code, out, err = command(*shlex.split(typed))
    assert (code, out) == (2, "")
    assert err.endswith(f": plyground {right}\n")


@pytest.fixture
def accept(command, run: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[int, str, str]]:
    """Runs a line until it would begin to train, collect, play or measure."""
    parse = tyro.cli
    monkeypatch.setattr(training, "_train_new", lambda *_, **__: True)
    monkeypatch.setattr(seeds, "train_seeds", lambda *_: None)
    monkeypatch.setattr(pipeline, "_run_stage", lambda *_: True)
    monkeypatch.setattr(teach, "collect_into", lambda *_: True)
    monkeypatch.setattr(runs, "_evaluate_run", lambda *_: {"against": {}})
    monkeypatch.setattr(threads, "faster", lambda *_: 1)
    monkeypatch.setattr(device, "choose", lambda _: ("cpu", ""))  # also for --device cuda

    def only_parse(function: Callable[..., None], **how: Any) -> None:
        def nothing(*_: Any, **__: Any) -> None:
            """Whatever the command does."""

        begins = function.__name__ in ("train", "collect", "evaluate")
        parse(function if begins else functools.wraps(function)(nothing), **how)

    monkeypatch.setattr(tyro, "cli", only_parse)
    return lambda line: command(*shlex.split(line))


@pytest.mark.parametrize("right", sorted({right for _, right in RIGHT_LINES}))
def test_the_line_of_an_answer_is_accepted(accept, right: str) -> None:
    code, _, err = accept(right)
    assert code == 0, err


def test_a_wrong_line_would_not_be_accepted(accept) -> None:
    for wrong in ("train dqn chess --network 512,256", "match chess a b --no-such 1", "train --profile no_such"):
        assert accept(wrong)[0] == 2


def test_the_commands_of_the_chess_document_are_answered_as_its_page_says(accept) -> None:
    page = (ROOT / "docs" / "documents" / "chess_dqn.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `:[\w:-]+`, `(--.*)` \| `plyground (.*)` \|$", page, re.MULTILINE)
    assert len(rows) == 5
    assert {typed.split()[0] for typed, _ in rows} == set(DOCUMENTS)
    for typed, right in rows:
        here = right.replace(" RUN ", " runs/x ")
        assert accept(typed)[2].endswith(f": plyground {here}\n")
        assert accept(here)[0] == 0


def test_no_option_here_is_taken_for_a_command_of_a_document() -> None:
    assert [each for each in (*_options_of_train(), *OPTIONS_OF_EVALUATE) if _nearest(each, DOCUMENTS)] == []
    given = [f"--{name.replace('_', '-')}" for name in option_defaults(runs.evaluate) if name != "words"]
    assert given == list(OPTIONS_OF_EVALUATE)


def test_every_encoder_of_the_paco_sako_document_is_named_by_its_options() -> None:
    for options in range(8):
        chosen = [bool(options & flag) for flag in (1, 2, 4)]
        typed = zip(("--use-perspective", "--with-must-lift", "--with-must-promote"), chosen, strict=True)
        words = [word for flag, wanted in typed for word in (flag, str(int(wanted)))]
        with pytest.raises(pg.InvalidValue, match=rf"--encoder {encoder_name('tensor', *chosen)}$"):
            correct(["train", "ppo", "paco_sako", *words], tuple(HELP))


@pytest.mark.parametrize(
    "typed",
    [
        "train ppo connect4 --seconds 9", "train dqn --tau 0.1", "grade minimax:depth=3",
        "train tabular --method sarsa",
        "match c4 greedy random", "match chess greedy runs/x --games 10", "bench rules --batch 4", "play chess level:3",
        "analyse chess --agent search", "resume runs/x --seconds 240", "evaluate runs/x greedy",
        "perft chess --depth 3", "match greedy random --sprt 0 20",
        "uci --agent level:3", "uci", "play sequence:seats=4", "match sequence greedy random --seed 4",
        "perft --depth 3", "perft --help", "bench --help", "bench rules", "runs", "play minimax:time=0.5",
        "watch run:runs/x --speed 2", "match search:run=runs/x,sims=10 random", "train ppo chess -v",
        "teach collect --depth 3", "ladder random greedy --games 10", "train alphazero --simulations 16",
    ],
)  # fmt: skip
def test_right_lines_are_left_alone(run: Path, typed: str) -> None:
    assert correct(typed.split(), tuple(HELP)) == typed.split()


def test_other_spellings_of_a_command_work() -> None:
    assert correct(["analyze", "chess"], tuple(HELP)) == ["analyse", "chess"]
    assert correct(["eval", "runs/x"], tuple(HELP)) == ["evaluate", "runs/x"]
    assert correct(["help", "match"], tuple(HELP)) == ["match", "--help"]
    with pytest.raises(pg.UnknownName, match="no command 'trian'; did you mean 'train'"):
        correct(["trian"], tuple(HELP))


def test_three_in_a_row_is_an_example() -> None:
    for word in ("tic-tac-toe", "TicTacToe", "three_in_a_row"):
        with pytest.raises(pg.InvalidValue, match=r"plyground play examples/three_in_a_row\.py"):
            is_game(word)


def test_a_run_is_found_by_what_people_type(run: Path) -> None:
    for word in ("runs/x", "x", "run:runs/x", "run:x,checkpoint=last", "runs/x/", "runs/x/config.toml"):
        assert run_path(word) == run
    assert run_path("runs/x/checkpoints/12") == run
    assert run_path("runs/y") == Path("runs/y")


def test_a_run_is_an_agent_and_knows_its_game(run: Path) -> None:
    assert game_first(["x", "greedy"], "", "match [GAME] A B", 2, 2) == ("chess", [f"run:{run}", "greedy"])
    assert game_first(["sequence", "run:runs/x"], "", "grade [GAME] AGENT", 1, 1) == ("sequence", ["run:runs/x"])


def test_the_game_files_of_a_command_line_are_found(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'learner = "dqn"\ngame = "{ROW}"\n')
    for words in ([ROW], [f"{ROW}:size=3"], ["--game", ROW], [f"--game={ROW}"], [str(tmp_path)]):
        assert game_files(["match", *words]) == [Path(ROW)]
    assert game_files(["match", f"run:{tmp_path},checkpoint=last", "random"]) == [Path(ROW)]
    nothing = ["chess", "missing.py", "uci:engine.py", "run:missing", "a\0b.py", "x" * 5000 + ".py", f"{ROW}:a=,b"]
    assert game_files(["match", *nothing]) == []


def test_the_settings_of_games_are_known() -> None:
    found = {key: name for name in GAMES for key in pg.load(name).rules.SETTINGS}
    assert found == SETTINGS_OF_GAMES


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("match random greedy --games abc", "--games takes a whole number, not 'abc'"),
        ("match random greedy --seed=1.5", "--seed takes a whole number, not '1.5'"),
        ("train ppo connect_four --seconds soon", "--seconds takes a number, not 'soon'"),
    ],
)
def test_what_is_no_number_is_one_sentence(command, typed: str, message: str) -> None:
    assert command(*typed.split()) == (2, "", f"plyground: {message}\n")


@pytest.mark.parametrize("typed", ["watch greedy random --dely 1", "perft --depth 3 --no-such 1", "play --sde first"])
def test_an_option_that_is_not_there_is_one_sentence(command, typed: str) -> None:
    code, out, err = command(*shlex.split(typed))
    assert (code, out) == (2, "")
    assert err.startswith(f"plyground: no option of {typed.split()[0]} '--")
    assert "known: --" in err


@pytest.mark.parametrize(
    "typed",
    [
        "serve --runs elsewhere --port 0", "export onnx runs/x network.onnx --int8", "plot runs/x --out x.png",
        "report runs/x", "table runs/x --top 3", "runs publish runs/x there --license mit --games 2", "doctor",
        "watch --speed 2 --step", "check chess --games 2", "prepare --game chess", "profiles connect_four_demo",
        "solve 4453 --json", "ladder random greedy --file x.json --picture x.png", "resume runs/x --seconds 9",
    ],
)  # fmt: skip
def test_options_that_are_there_are_accepted(accept, typed: str) -> None:
    code, _, err = accept(typed)
    assert code == 0, err
