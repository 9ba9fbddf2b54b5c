"""The words of the documents that Plyground follows are answered with the line that is meant."""

from __future__ import annotations

import re

import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli import runs
from plyground.cli.document_guesses import DOCUMENTS
from plyground.cli.grammar import option_defaults
from plyground.cli.guesses import correct
from plyground.cli.help import HELP
from plyground.cli.option_guesses import OPTIONS_OF_EVALUATE, nearest_option, options_of_train
from plyground.games.paco_sako.encoders import encoder_name

RIGHT_LINES = [
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
    # what the parser would answer with a box
    ("train dqn chess --network 512x256", "train dqn chess --network 512-256"),
    ("train ppo chess --network=512,256", "train ppo chess --network 512-256+value"),
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
def test_a_line_of_a_document_is_answered_with_the_right_line(answer, typed: str, right: str) -> None:
    assert answer(typed) == right


@pytest.mark.parametrize("right", sorted({right for _, right in RIGHT_LINES}))
def test_the_line_of_an_answer_is_accepted(accept, right: str) -> None:
    code, _, err = accept(right)
    assert code == 0, err


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
    assert [each for each in (*options_of_train(), *OPTIONS_OF_EVALUATE) if nearest_option(each, DOCUMENTS)] == []
    given = [f"--{name.replace('_', '-')}" for name in option_defaults(runs.evaluate) if name != "words"]
    assert given == list(OPTIONS_OF_EVALUATE)


def test_every_encoder_of_the_paco_sako_document_is_named_by_its_options() -> None:
    for options in range(8):
        chosen = [bool(options & flag) for flag in (1, 2, 4)]
        typed = zip(("--use-perspective", "--with-must-lift", "--with-must-promote"), chosen, strict=True)
        words = [word for flag, wanted in typed for word in (flag, str(int(wanted)))]
        with pytest.raises(pg.InvalidValue, match=rf"--encoder {encoder_name('tensor', *chosen)}$"):
            correct(["train", "ppo", "paco_sako", *words], tuple(HELP))
