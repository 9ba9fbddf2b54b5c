"""Options that people try are answered with the line that is meant."""

from __future__ import annotations

import shlex

import pytest

RIGHT_LINES = [
    # play
    ("play chess --against trained", "play chess trained"),
    ("play --against minimax:depth=5", "play minimax:depth=5"),
    ("play --against=greedy chess --side second", "play chess greedy --side second"),
    ("play --game chess --opponent trained", "play chess trained"),
    ("play c4 --vs greedy", "play connect_four greedy"),
    ("play chess --level 3", "play chess level:3"),
    ("play chess --difficulty=7", "play chess level:7"),
    ("play chess --color black", "play chess --side black"),
    ("play --file game.txt level:2", "play --load game.txt level:2"),
    ("play --resume game.txt", "play --load game.txt"),
    ("play chess --fen 'k7/8/8/8/8/8/8/K7 w - - 0 1'", "play chess --position 'k7/8/8/8/8/8/8/K7 w - - 0 1'"),
    ("play chess --white", "play chess --side first"),
    ("play --env chess", "play chess"),
    ("play chess --run runs/x", "play chess runs/x"),
    ("play --game 4", "play connect_four"),
    # watch and analyse
    ("watch --pgn game.pgn", "watch game.pgn"),
    ("analyse chess --load game.pgn", "analyse chess --file game.pgn"),
    ("analyse --pgn game.pgn --seconds 2", "analyse --file game.pgn --time 2"),
    ("analyse chess --fen startpos", "analyse chess --position startpos"),
    ("analyse game.pgn --depth 3", "analyse game.pgn --sims 30000"),
    # match
    ("match --a greedy --b random --game chess", "match chess greedy random"),
    ("match --player1 greedy --player2 random", "match greedy random"),
    ("match greedy random -n 50", "match greedy random --games 50"),
    ("match greedy random --episodes 50", "match greedy random --games 50"),
    ("match greedy random --num-games=50", "match greedy random --games 50"),
    # train
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
    # resume
    ("resume --run runs/x", "resume runs/x"),
    ("resume runs/x --minutes 4", "resume runs/x --seconds 240"),
    # evaluate and grade
    ("evaluate --run runs/x --against random", "evaluate runs/x random"),
    ("evaluate runs/x --against random greedy --games 4", "evaluate runs/x random greedy --games 4"),
    ("evaluate runs/x --n 10", "evaluate runs/x --games 10"),
    ("grade --agent greedy", "grade greedy"),
    # what the parser would answer with a box
    ("watch chess greedy random --delay 0.01", "watch chess greedy random --speed 100"),
    ("watch greedy random --sleep 2", "watch greedy random --speed 0.5"),
    ("train ppo connect_four --steps 1000", "train ppo connect_four --cycles 1"),
    ("train dqn chess --total-timesteps 1000000", "train dqn chess --cycles 20"),
]


@pytest.mark.parametrize(("typed", "right"), RIGHT_LINES, ids=[typed for typed, _ in RIGHT_LINES])
def test_an_option_that_people_try_is_answered_with_the_right_line(answer, typed: str, right: str) -> None:
    assert answer(typed) == right


@pytest.mark.parametrize("right", sorted({right for _, right in RIGHT_LINES}))
def test_the_line_of_an_answer_is_accepted(accept, right: str) -> None:
    code, _, err = accept(right)
    assert code == 0, err


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
