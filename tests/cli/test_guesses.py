"""First guesses: each works, or is answered with the line that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from plyground.cli.guesses import correct
from plyground.cli.help import HELP

RIGHT_LINES = [
    # play
    ("play chess minimax 4", "play chess minimax:depth=4"),
    ("play chess level 3", "play chess level:3"),
    ("play chess 3", "play chess level:3"),
    ("play chess level3", "play chess level:3"),
    ("match chess minimax2 Level-4", "match chess minimax:depth=2 level:4"),
    ("connect_four", "play connect_four"),
    ("C4 level:3", "play connect_four level:3"),
    ("agents", "games"),
    ("agents chess", "games chess"),
    ("play chess hard", "play chess level:8"),
    ("play chess stockfish", "play chess uci:stockfish"),
    ("play connect_four perfect", "play connect_four solver"),
    ("play chess mcts", "play chess search"),
    ("play chess greedy black", "play chess greedy --side black"),
    ("play trained chess", "play chess trained"),
    ("play paco sako", "play paco_sako"),
    ("play connect 4 greedy", "play connect_four greedy"),
    # watch and analyse
    ("watch a.txt b.txt", "watch a.txt"),
    ("watch chess a.pgn greedy", "watch chess a.pgn"),
    ("watch greedy", "watch connect_four greedy random"),
    ("analyse chess search:sims=100", "analyse chess --agent search:sims=100"),
    ("analyse chess trained", "analyse chess --agent search:model=trained"),
    ("analyse runs/x", "analyse chess --agent search:model=runs/x"),
    ("analyse 4453", "analyse connect_four --position 4453"),
    ("analyse 4453 connect_four", "analyse connect_four --position 4453"),
    # match
    ("match greedy vs random", "match greedy random"),
    ("match chess greedy random 100", "match chess greedy random --games 100"),
    ("match chess greedy random trained", "ladder chess greedy random trained"),
    ("match greedy random connect_four", "match connect_four greedy random"),
    ("match chess greedy --games 10", "match chess greedy random --games 10"),
    ("match random", "match random greedy"),
    # train
    ("train ppo sequence seconds=5", "train ppo sequence --seconds 5"),
    ("train connect_four ppo --cycles 1", "train ppo connect_four --cycles 1"),
    ("train connect_four", "train dqn connect_four"),
    ("train connect_four ppo", "train ppo connect_four"),
    ("train PPO chess", "train ppo chess"),
    ("train ppo chess --seeds 3,4", "train ppo chess --seed 3 --seeds 2"),
    ("train ppo chess --seeds=5,4,6 --cycles 1", "train ppo chess --cycles 1 --seed 4 --seeds 3"),
    ("train --seconds 5 ppo chess", "train ppo chess --seconds 5"),
    ("train q-learning connect_four", "train tabular connect_four"),
    ("train sarsa sequence", "train tabular sequence --method sarsa"),
    ("train alpha-zero c4", "train alphazero connect_four"),
    ("train connect_four_demo", "train --profile connect_four_demo"),
    ("train runs/x", "resume runs/x"),
    ("train resume runs/x --seconds 9", "resume runs/x --seconds 9"),
    ("teach imitate --data x.ndjson", "train imitation --data x.ndjson"),
    # resume
    ("resume", "resume runs/x"),
    ("resume runs/x 240", "resume runs/x --seconds 240"),
    ("resume chess runs/x", "resume runs/x"),
    ("continue runs/x", "resume runs/x"),
    # evaluate and grade
    ("evaluate", "evaluate runs/x"),
    ("evaluate chess runs/x", "evaluate runs/x"),
    ("evaluate greedy", "match greedy random"),
    ("evaluate greedy random", "match greedy random"),
    ("grade greedy connect_four", "grade connect_four greedy"),
    ("plot", "plot runs/x"),
    ("report", "report runs/x"),
    ("tournament chess random greedy", "ladder chess random greedy"),
    ("inspect runs/x", "runs inspect runs/x"),
    ("diff runs/x runs/y", "runs diff runs/x runs/y"),
    ("compare runs/x runs/x", "runs diff runs/x runs/x"),
    ("compare chess greedy runs/x", "match chess greedy runs/x"),
    ("compare random greedy level:2", "ladder random greedy level:2"),
    ("web --open", "serve --open"),
    ("uci level:3", "uci --agent level:3"),
    ("uci --level 3", "uci --agent level:3"),
    ("uci --depth=2", "uci --agent minimax:depth=2"),
    ("uci chess", "uci"),
    ("uci chess trained", "uci --agent trained"),
    # what the parser would answer with a box
    ("perft", "perft --depth 4"),
    ("perft chess 3", "perft chess --depth 3"),
    ("bench", "bench rules"),
    ("bench chess --batch 8", "bench rules chess --batch 8"),
    ("evaluate chess runs/x random --games 10", "evaluate runs/x random --games 10"),
    ("evaluate greedy connect_four", "match connect_four greedy random"),
    ("evaluate greedy minimax:depth=2 chess --games 10", "match chess greedy minimax:depth=2 --games 10"),
    ("compare x x", "runs diff x x"),
    ("runs list", "runs"),
    ("runs ls --folder elsewhere", "runs --folder elsewhere"),
]


@pytest.mark.parametrize(("typed", "right"), RIGHT_LINES, ids=[typed for typed, _ in RIGHT_LINES])
def test_a_line_that_means_another_is_answered_with_the_right_line(answer, typed: str, right: str) -> None:
    assert answer(typed) == right


def test_two_words_that_are_one_here_are_named_both(command) -> None:
    assert ": level 3 is level:3 here: " in command("play", "chess", "level", "3")[2]
    assert "minimax 4 is minimax:depth=4 here: " in command("play", "chess", "minimax", "4")[2]
    assert ": 3 is level:3 here: " in command("play", "chess", "3")[2]


@pytest.mark.parametrize("right", sorted({right for _, right in RIGHT_LINES}))
def test_the_line_of_an_answer_is_accepted(accept, right: str) -> None:
    code, _, err = accept(right)
    assert code == 0, err


def test_a_wrong_line_would_not_be_accepted(accept) -> None:
    for wrong in ("train dqn chess --network 512,256", "match chess a b --no-such 1", "train --profile no_such"):
        assert accept(wrong)[0] == 2


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
        "watch run:runs/x --speed 2", "match search:model=runs/x,sims=10 random", "train ppo chess -v",
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


AGENT = """
import torch
class Table: ...
class Centre(Table):
    def act(self, states, rngs): ...
def helper(): ...
"""


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("match connect_four own.py random", "match connect_four file:own.py:Centre random"),
        ("match own.py random", "match file:own.py:Centre random"),
        ("play chess own.py", "play chess file:own.py:Centre"),
        ("match rules.py own.py random", "match rules.py file:own.py:Centre random"),
        ("ladder connect_four random greedy not_there.py", "ladder connect_four random greedy file:not_there.py:NAME"),
        ("evaluate runs/x own.py", "evaluate runs/x file:own.py:Centre"),
    ],
)
def test_a_file_where_an_agent_is_expected_is_answered_with_its_agent(answer, typed: str, right: str) -> None:
    Path("own.py").write_text(AGENT)
    Path("rules.py").write_text("STATE = 0\ndef legal(): ...\n")
    assert answer(typed) == right


def test_an_algorithm_that_is_not_here_is_not_taken_for_another(command) -> None:
    code, _, err = command("train", "sac", "connect_four")
    assert code == 2
    assert "there is no sac here; the learners: dqn (deep Q-network), reinforce" in err
    assert "did you mean" not in err


def test_an_option_that_uci_does_not_have_is_one_sentence(command) -> None:
    code, _, err = command("uci", "--hash", "64")
    assert (code, err) == (2, "plyground: no option of uci '--hash'; known: --agent\n")
