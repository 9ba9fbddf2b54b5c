"""The program of a worker process, without the process."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

import plyground as pg
from plyground.web import host, thinking
from plyground.web.host import JOBS, Place, place_of
from plyground.web.worker import Answer, Job, Worker, answers_to, kinds_of, read_message, write_message

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
    it.waiting.put(cast(Any, None))  # ends the loop with an error of ours
    with pytest.raises(AttributeError):
        it.run()
    pipe.seek(0)
    found = list[Answer]()
    while (data := read_message(pipe)) is not None:
        found.append(msgspec.msgpack.decode(data, type=Answer))
    return found


def job(number: int, function: Callable[..., Any], *arguments: Any) -> Job:
    """As the server would send it."""
    subject, *others = arguments
    sent = Job(number, function.__name__, subject.full if isinstance(subject, pg.Game) else subject, others)
    return msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=Job)


def test_a_failing_job_is_one_sentence_and_the_next_is_done() -> None:
    place = place_of(START)
    failed, done = answers(job(1, thinking.think, place, "no_such", 0), job(2, thinking.think, place, "random", 0))
    assert "no agent" in failed.error
    assert done.error == ""
    assert msgspec.msgpack.decode(done.body)["action"] in START.legal()


def test_the_same_seed_gives_the_same_action() -> None:
    asked = job(1, thinking.think, place_of(START), "random", 12)
    assert next(answers_to(asked)).action == next(answers_to(asked)).action


def test_a_run_that_is_not_there_is_an_error_of_ours() -> None:
    with pytest.raises(pg.Error, match="no run '/no/such/run'; see "):
        next(answers_to(job(1, thinking.show_policy, START.game, "4453", "/no/such/run", 1)))


def test_what_is_no_job_is_not_called() -> None:
    with pytest.raises(KeyError):
        next(answers_to(Job(1, "ready_agent", START.game.full, ["random"])))


def test_a_job_is_called_with_what_its_annotations_say() -> None:
    (found,) = answers_to(job(1, thinking.read_start, START.game, "4453", 1))
    assert found == thinking.Start("", [3, 3, 4, 2])
    (found,) = answers_to(job(1, thinking.advise, place_of(START.game.position("112233"))))
    assert found.action == 3
    with pytest.raises(msgspec.ValidationError):
        next(answers_to(job(1, thinking.read_start, START.game, "4453", "one")))


@pytest.mark.parametrize("name", JOBS)
def test_a_job_begins_with_a_game_or_a_position(name: str) -> None:
    kinds = kinds_of(JOBS[name])
    assert kinds.arguments[0] in (pg.Game, pg.Position)
    assert JOBS[name] is getattr(thinking, name, None) or JOBS[name] is getattr(host, name, None)
