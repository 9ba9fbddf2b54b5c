"""The program of a worker process, without the process."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

import plyground as pg
from plyground.web.host import Place, place_of
from plyground.web.worker import Answer, ShowPolicy, Think, Worker, answers_to, read_message, write_message

pytestmark = pytest.mark.once
START = pg.load("connect_four").position("4453")


def test_a_position_is_the_same_on_the_other_side() -> None:
    place = msgspec.msgpack.decode(msgspec.msgpack.encode(place_of(START)), type=Place)
    assert place.read() == START
    dealt = pg.load("sequence:seats=4").start(3)
    assert place_of(dealt).read() == dealt


def test_messages_on_a_pipe_have_their_length() -> None:
    pipe = io.BytesIO()
    write_message(pipe, Answer(3, more=True))
    write_message(pipe, Answer(4))
    pipe.seek(0)
    found = [msgspec.msgpack.decode(read_message(pipe) or b"", type=Answer).number for _ in range(2)]
    assert found == [3, 4]
    assert read_message(pipe) is None


def answers(*jobs: Any) -> list[Answer]:
    """What a worker writes for jobs."""
    pipe = io.BytesIO()
    it = Worker(io.BytesIO(), pipe)
    for job in jobs:
        it.waiting.put(job)
    it.waiting.put(None)  # ends the loop with an error of ours
    with pytest.raises(AttributeError):
        it.run()
    pipe.seek(0)
    found = list[Answer]()
    while (data := read_message(pipe)) is not None:
        found.append(msgspec.msgpack.decode(data, type=Answer))
    return found


def test_a_failing_job_is_one_sentence_and_the_next_is_done() -> None:
    place = place_of(START)
    failed, done = answers(
        Think(number=1, place=place, agent="no_such", seed=0), Think(number=2, place=place, agent="random", seed=0)
    )
    assert "no agent" in failed.error
    assert done.error == ""
    assert msgspec.msgpack.decode(done.body)["action"] in START.legal()


def test_the_same_seed_gives_the_same_action() -> None:
    job = Think(number=1, place=place_of(START), agent="random", seed=12)
    assert next(answers_to(job)).action == next(answers_to(job)).action


def test_a_run_that_is_not_there_is_an_error_of_ours() -> None:
    with pytest.raises(pg.Error, match="no run directory"):
        next(answers_to(ShowPolicy(number=1, place=place_of(START), run="/no/such/run", step=1)))
