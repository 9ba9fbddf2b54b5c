"""The laws of `games/interface.py`, run on any game: `plyground check my_game.py`, and our own tests.

Each law is a function of samples from random games, its docstring the law in a sentence.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, ask, sees_all
from plyground.agents.registry import make
from plyground.agents.scripted import ScriptedAgent
from plyground.agents.teacher import Scorer
from plyground.batch import Batch
from plyground.checks.compiling import check_compiling
from plyground.checks.fault_lines import place_in_python, place_of, source_of_error
from plyground.errors import BrokenGame, Error, InvalidText, shorten, shown
from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.games.interface import DRAW, RUNNING, SECOND_WINS, value_for
from plyground.games.records import meaning
from plyground.games.rng import agent_seeds, seeds
from plyground.games.scene import Item, Scene, as_json
from plyground.kernels.numba_internals import NumbaError
from plyground.position import Position

Records = NDArray[np.void]
T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """Random games of one kind, state by state: `after[i]` is where `actions[i]` led from `states[i]`."""

    game: Game
    states: Records  # [N] running
    actions: NDArray[np.int32]  # [N]
    after: Records  # [N] running or over
    rewards: NDArray[np.float32]  # [N]
    telling: NDArray[np.intp]  # rows of `states` in which, together, every action is legal that was legal in the games
    seen: int
    """the number of these actions"""

    @property
    def every(self) -> Records:
        """[2 N] all states, running or over."""
        return np.concatenate([self.states, self.after])

    def need(self, holds: bool | np.bool_, message: str, states: Any = ()) -> None:
        _need(holds, self.game, message, states)

    def some(self, states: Records, most: int = 500) -> Iterator[Records]:
        """Single states [1] of `states` or others with the same rows, as copies: evenly spread, and those in which the
        rare actions are legal."""
        for row in np.union1d(_rows(len(states), most), self.telling[:MOST_TELLING]):
            yield states[row : row + 1].copy()


def sample(game: Game, games: int = 64, seed: int = 0, most: int = 5000) -> Sample:
    """Play random games to their ends; keep all plies or, where they are many, about `most` of them, all endings, and
    states in which the rarest actions are legal."""
    batch = Batch(game, games, seed, check=False)  # the laws check
    parts: list[tuple[Records, NDArray[np.int32], Records, NDArray[np.float32]]] = []
    listed: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []  # legal actions; how many each state has
    going = np.ones(games, np.bool_)
    for _ in range(game.rules.MAX_PLIES):
        listed.append(_legal_lists(game, batch.states[going]))
        states, actions, rngs = batch.states.copy(), batch.random_actions(), batch.rngs.copy()
        _need((actions >= 0).all(), game, "a running game has no legal action", states[actions < 0])
        after = _played(game, states, actions, rngs)  # `batch.next_states` has only heads
        step = batch.step(actions)
        parts.append((states[going], actions[going], after[going], step.rewards[going]))
        going &= ~step.terminated
        if not going.any():
            states, actions, after, rewards = (np.concatenate(column) for column in zip(*parts, strict=True))
            kept = after["outcome"] != RUNNING
            kept[np.linspace(0, len(kept) - 1, most).astype(int)] = True
            telling, seen = _with_every_action(*map(np.concatenate, zip(*listed, strict=True)))
            kept[telling] = True
            rows = np.cumsum(kept)[telling] - 1
            return Sample(game, states[kept], actions[kept], after[kept], rewards[kept], rows, seen)
    raise BrokenGame(f"{game}: a random game still runs after MAX_PLIES = {game.rules.MAX_PLIES} plies")


def _legal_lists(game: Game, states: Records) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The legal actions of all states [N], one after the other, and how many each has [N]. There is room for every
    action, so that nothing is overwritten where MAX_LEGAL is too small."""
    lists, counts = np.empty((len(states), game.num_actions), np.int32), np.empty(len(states), np.int32)
    game.kernels().legal_lists(states, lists, counts, game.work())
    most, limit = int(counts.max()), game.rules.MAX_LEGAL
    message = f"`legal` lists {most} actions, but MAX_LEGAL is {limit}: it must be at least {most}, found"
    _need(most <= limit, game, message, states[counts == most])
    return lists[np.arange(game.num_actions) < counts[:, None]], counts


def _with_every_action(listed: NDArray[np.int32], counts: NDArray[np.int32]) -> tuple[NDArray[np.intp], int]:
    """Few of the states in which together every action is legal that is legal in any, those with the rarest actions
    first; and the number of these actions. `listed` and `counts`: as `_legal_lists` gives them."""
    ends = np.cumsum(counts)
    actions, first, times = np.unique(listed, return_index=True, return_counts=True)
    covered, rows = np.zeros(actions.max(initial=0) + 1, np.bool_), list[int]()
    for k in np.argsort(times, kind="stable"):
        if not covered[actions[k]]:
            row = int(np.searchsorted(ends, first[k], side="right"))
            covered[listed[ends[row] - counts[row] : ends[row]]] = True
            rows.append(row)
    return np.array(rows, np.intp), len(actions)


def check(game: Game, games: int = 64, seed: int = 0) -> Iterator[tuple[str, bool]]:
    """Run every law; yields the sentence of each law that holds and whether the game defines the names it is about;
    raises `BrokenGame` at the first that fails."""
    yield from run_laws(compiled_sample(game, games, seed))


def compiled_sample(game: Game, games: int = 64, seed: int = 0) -> Sample:
    """What `run_laws` looks at; a game that cannot be compiled or played is told."""
    check_compiling(game)
    return _told(game, "a random game", lambda: sample(game, games, seed))


def run_laws(samples: Sample) -> Iterator[tuple[str, bool]]:
    """The laws of `check`, one after the other."""
    game = samples.game
    for law, about in LAWS.items():
        sentence = (law.__doc__ or "").strip()
        _told(game, sentence, lambda law=law: law(samples))
        yield sentence, not about or any(game.rules.defined(name) is not None for name in about)


def _told(game: Game, what: str, work: Callable[[], T]) -> T:
    """Run `work`; what fails becomes `BrokenGame` with one sentence that names the function at fault, file and line."""
    try:
        return work()
    except BrokenGame as error:
        raise BrokenGame(f"{error}; see {place_of(game, str(error).removeprefix(str(game)), what)}") from error
    except (Error, NumbaError):
        raise
    except Exception as error:
        name, line = source_of_error(game, error)
        fault = f"{game}: {f'`{name}`' if name else what} fails with {type(error).__name__}: {error}"
        raise BrokenGame(f"{fault}; see {line or place_in_python(game) or place_of(game, what)}") from error


# ---- the laws ----


def legal_lists(s: Sample) -> None:
    """`legal` lists at least one action while the game runs, none when it is over, ascending and in range."""
    actions, counts = Batch(s.game, 1).legal_list(s.every)
    over = s.every["outcome"] != RUNNING
    found, stuck = over & (counts > 0), ~over & (counts == 0)
    s.need(not found.any(), "`legal` finds actions in a finished game", s.every[found])
    s.need(not stuck.any(), "no legal action in a running game", s.every[stuck])
    for row, count in zip(actions, counts, strict=True):
        legal = row[:count]
        fine = (np.diff(legal) > 0).all() and (legal >= 0).all() and (legal < s.game.num_actions).all()
        s.need(fine, f"`legal` is not ascending within 0 .. {s.game.num_actions - 1}: {legal}")


def masks(s: Sample) -> None:
    """The legal mask says the same as the legal list."""
    actions, counts = Batch(s.game, 1).legal_list(s.every)
    expected = np.zeros((len(counts), s.game.num_actions), np.bool_)
    expected[np.repeat(np.arange(len(counts)), counts), actions[actions >= 0]] = True
    s.need((expected == s.game.legal_mask(s.every)).all(), "`mask` and `legal` differ")


def fields(s: Sample) -> None:
    """`to_move` is 0 or 1, `outcome` one of four, and the seat that acts is on the side to move."""
    side, outcome = s.every["to_move"], s.every["outcome"]
    s.need(np.isin(side, (0, 1)).all(), f"after `play` `to_move` takes the values {np.unique(side)}")
    s.need(((outcome >= RUNNING) & (outcome <= SECOND_WINS)).all(), f"after `play` `outcome` is {np.unique(outcome)}")
    seats = _acting(s)
    fine = (seats % 2 == s.states["to_move"]).all() and (seats >= 0).all() and (seats < s.game.rules.SEATS).all()
    s.need(fine, "the `seat` to act is not of the side to move")


def rewards(s: Sample) -> None:
    """A step's reward is +1, -1 or 0 as the outcome is for the side that acted."""
    expected = [value_for(int(o), int(side)) for o, side in zip(s.after["outcome"], s.states["to_move"], strict=True)]
    s.need((s.rewards == expected).all(), "after `play` a step's reward is not the acting side's")


def words(s: Sample) -> None:
    """What people read is a text: `text`, `draw`, `observe`, `reason`, `prompt` and `action_name` return one."""
    rules = s.game.rules
    for state in s.some(s.every, 50):
        position = Position(s.game, state)
        calls: list[tuple[str, list[int]]] = [(name, []) for name in ("text", "draw", "reason")]
        calls += [("observe", [seat]) for seat in range(rules.SEATS)] + ([] if position.over else [("prompt", [])])
        for name, more in (*calls, *(("action_name", [action]) for action in position.legal())):
            value = getattr(rules, name)(state[0], *more)
            s.need(isinstance(value, str), f"`{name}` returns {shown(value)}, not a text")


def texts(s: Sample) -> None:
    """A state's text reads back as an equal state in which nothing is wrong; reading changes no setting."""
    for state in s.some(s.every):
        position = Position(s.game, state)
        try:
            again = s.game.position(position.text, strict=True)
        except Error as error:
            raise BrokenGame(f"{s.game}: `parse` refuses its own text {position.text!r}: {error}") from error
        names = [name for name in s.game.rules.HEAD.names or () if name not in s.game.rules.UNCOUNTED]
        was, now = position.state, again.state
        wrong = [f"`{name}` was {was[name]} and is {now[name]}" for name in names if np.any(was[name] != now[name])]
        s.need(
            again == position, f"by `parse` the text {position.text!r} reads back as another state: {'; '.join(wrong)}"
        )


def nonsense(s: Sample) -> None:
    """A text that means nothing is refused with `InvalidText`, and with no other error."""
    good = [s.game.rules.text(state[0]) for state in s.some(s.every, 20)]
    cut = [each for text in good for each in (text[:-1], text[1:], text + text, text[::-1], text.swapcase())]
    garbled = [  # one of the characters replaced, at places from the beginning to the end
        text[:place] + STRANGE[(number + k + 3 * other) % len(STRANGE)] + text[place + 1 :]
        for number, text in enumerate(good)
        for k, place in enumerate(np.unique(np.linspace(0, len(text) - 1, 12).astype(int)) if text else ())
        for other in range(3)
    ]
    for text in (*NONSENSE, *cut, *garbled):
        try:
            s.game.position(text, strict=True)
        except InvalidText:
            continue
        except Exception as error:
            fault = f"{s.game}: `parse` of {shorten(text)!r} raises {type(error).__name__} ({error})"
            raise BrokenGame(f"{fault} instead of InvalidText") from error


CHARACTERS = ("9" * 60, "x" * 2000, "/" * 20, "=" * 9, "∞é\0")
STRANGE = "xZ9?/ -é"
NONSENSE = ("?", "nonsense", "0", "-1", "1 2 3", *CHARACTERS, "a b=c d=", "[]", "{}")


def names(s: Sample) -> None:
    """Different legal actions of a state have different names, and each name finds its action."""
    for state in s.some(s.states):
        position = Position(s.game, state)
        legal, called = position.legal(), position.names()
        s.need(len(set(called)) == len(legal), f"`action_name` does not tell actions apart: {called}", state)
        for k in range(0, len(legal), len(legal) // 10 + 1):  # of a thousand, some
            s.need(
                position.action(called[k]) == legal[k],
                f"`action_name` gives {called[k]!r}, which does not find its action",
                state,
            )


def fresh_start(s: Sample) -> None:
    """`reset` gives a running game whatever was there before, and keeps the settings."""
    states = s.every.copy()
    s.game.kernels().reset_all(states, s.game.blank, seeds(1, len(states)))
    s.need((states["outcome"] == RUNNING).all(), "after `reset` a game is not running")
    for name in s.game.rules.SETTINGS:
        s.need((states[name] == s.game.blank[name]).all(), f"`reset` changes the setting {name}")


def chance_is_declared(s: Sample) -> None:
    """Unless CHANCE is set, neither `reset` nor `play` depends on the generator."""
    if not s.game.rules.CHANCE:
        fresh, n = s.states.copy(), len(s.states)
        s.game.kernels().reset_all(fresh, s.game.blank, seeds(1, n))
        s.need(_equal(s.game, fresh, np.repeat(fresh[:1], n)), "`reset` draws from `rng`, but CHANCE is not set")
        for seed in (1, 2):
            again = _played(s.game, s.states, s.actions, seeds(seed, n))
            s.need(_equal(s.game, again, s.after), "`play` draws from `rng`, but CHANCE is not set")


def rows_are_alone(s: Sample) -> None:
    """A game's course depends on its own seed alone, not on its neighbours."""
    whole, part = Batch(s.game, 40, seed=3, threads=1), Batch(s.game, 7, seed=3)
    for batch in (whole, part):
        batch.random_play(20)
    s.need(_equal(s.game, whole.states[:7], part.states), "in `play` a game's course depends on the other games")


def heads_suffice(s: Sample) -> None:
    """`legal`, `text`, `evaluate`, every encoder and the cells read nothing but the HEAD of a state."""
    rules, heads = s.game.rules, s.game.heads(s.every)
    if rules.HEAD == rules.STATE:
        return
    try:
        s.need(np.array_equal(s.game.legal_mask(heads), s.game.legal_mask(s.every)), "`legal` reads beyond HEAD")
        chosen = _rows(len(heads), MOST_ENCODED)
        few_heads, few = heads[chosen], s.every[chosen]
        for name in _encoders(s.game):
            same = np.array_equal(s.game.encode(name, few_heads), s.game.encode(name, few))
            s.need(same, f"the encoder {name} reads beyond HEAD")
        if rules.CELLS is not None:
            same = np.array_equal(s.game.write_cells(heads), s.game.write_cells(s.every))
            s.need(same, "`write` of CELLS reads beyond HEAD")
        if "evaluate" in rules.compiled:
            values = np.empty((2, len(heads)), np.float32)
            s.game.kernels("evaluate").evaluate_all(heads, values[0])
            s.game.kernels("evaluate").evaluate_all(s.every, values[1])
            s.need(np.array_equal(values[0], values[1]), "`evaluate` reads beyond HEAD")
        for state, head in zip(s.some(s.every), s.some(heads), strict=True):
            s.need(rules.text(state[0]) == rules.text(head[0]), "`text` reads beyond HEAD")
    except (NumbaError, ValueError) as error:  # the compiler, or numpy, finds no such field
        raise BrokenGame(f"{s.game}: one of its functions reads beyond HEAD: {error}") from error


def bytes_are_fields(s: Sample) -> None:
    """States with equal fields have equal bytes, so that a state's bytes may stand for it in tables and files."""
    for states in (s.every, s.game.heads(s.every)):
        same = np.zeros(len(states), states.dtype)
        for name in meaning(states.dtype):
            same[name] = states[name]
        s.need(
            np.array_equal(same.view(np.uint8), states.view(np.uint8)), "the bytes of a STATE hold more than its fields"
        )


def encoders_fill(s: Sample) -> None:
    """Every encoder writes each of its numbers, all finite and within its bounds, for every seat."""
    states = s.every[_rows(len(s.every), MOST_ENCODED)]
    for name, encoder in _encoders(s.game).items():
        for seat in range(s.game.rules.SEATS):
            outs = [np.full((len(states), *encoder.shape), old, encoder.dtype) for old in (0, 77)]
            for out in outs:
                s.game.encode(name, states, seat, out)
            s.need(np.array_equal(outs[0], outs[1]), f"the encoder {name} leaves some numbers unwritten")
            s.need(np.isfinite(outs[0]).all(), f"the encoder {name} writes numbers that are not finite")
            inside = encoder.bounds[0] <= outs[0].min() and outs[0].max() <= encoder.bounds[1]
            s.need(inside, f"the encoder {name} writes numbers outside of its bounds {encoder.bounds}")


def cells_fill(s: Sample) -> None:
    """`write` of CELLS writes each cell, a value of its group, for every seat, and leaves the state as it is."""
    for seat in range(s.game.rules.SEATS if s.game.rules.CELLS is not None else 0):
        cells, states, unwritten = s.game.cells, s.every, np.iinfo(np.int16).min
        found = s.game.write_cells(states, seat, np.full((len(states), cells.count), unwritten, np.int16))
        s.need(_equal(s.game, states, s.every), "`write` of CELLS changes the state")
        for group in cells.groups:
            held = found[:, cells.places[group.name]]
            left = (held == unwritten).any(axis=1)
            s.need(not left.any(), f"`write` of CELLS leaves cells of {group.name!r} unwritten", states[left])
            outside = ((held < 0) | (held >= group.values)).any(axis=1)
            fault = f"`write` of CELLS writes {held.min()} to {held.max()} into {group.name!r}, which has"
            s.need(not outside.any(), f"{fault} {group.values} values", states[outside])


def cells_keep_secrets(s: Sample) -> None:
    """States that differ only in what a seat cannot see have equal cells."""
    if s.game.rules.hidden and s.game.rules.CELLS is not None:
        for seat in range(s.game.rules.SEATS):
            shown, redrawn = (s.game.write_cells(each, seat) for each in (s.states, _redrawn(s, seat, 6)))
            peeks = (shown != redrawn).any(axis=1)
            s.need(not peeks.any(), f"`write` of CELLS shows seat {seat} what it cannot know", s.states[peeks])


def cells_follow_symmetries(s: Sample) -> None:
    """A transformed state has the cells of the state itself, each where `images` of CELLS says."""
    for k in range(s.game.rules.SYMMETRIES if s.game.rules.CELLS is not None else 0):
        images, transformed = s.game.cells.images[k], s.every
        s.game.kernels().transform_all(transformed, np.full(len(transformed), k, np.int32))
        for seat in range(s.game.rules.SEATS):
            there, here = (s.game.write_cells(each, seat) for each in (transformed, s.every))
            other = (there[:, images] != here).any(axis=1)
            s.need(not other.any(), f"by `images` of CELLS symmetry {k} leads to other cells", s.every[other])


def cells_are_named_as_drawn(s: Sample) -> None:
    """Every cell has a name, and what it holds of a side lies on the scene's cell of that name, where there is one."""
    if s.game.rules.CELLS is None:
        return
    for state in s.some(s.every, MOST_SCENES):
        for seat in range(s.game.rules.SEATS):
            cells, (held,) = s.game.cells, s.game.write_cells(state, seat)
            names, scene = cells.names(state[0], seat), Position(s.game, state).scene(seat)
            s.need(len(names) == cells.count, f"`names` of CELLS names {len(names)} of {cells.count} cells", state)
            drawn = {cell.name: cell.items for cell in scene.cells()}
            for cell in np.flatnonzero(held).tolist():
                whose, _, word = cells.in_words(cell, int(held[cell])).partition(" ")
                if whose in ("own", "their") and names[cell] in drawn:
                    item = Item(word.rpartition(" ")[2], (seat + (whose == "their")) % 2)
                    fault = f"CELLS has {whose} {word} on {names[cell]}, where the scene for seat {seat} has no {item}"
                    s.need(item in drawn[names[cell]], fault, state)


def slots_are_permutations(s: Sample) -> None:
    """For every seat, an encoder gives each action an output of its own."""
    for name in s.game.encoders:
        fine = (np.sort(s.game.slots(name), axis=1) == np.arange(s.game.num_actions)).all()
        s.need(fine, f"the encoder {name} shows two actions in one slot")


def secrets_are_kept(s: Sample) -> None:
    """`determinize` redraws what a seat cannot see, and nothing that it sees, may do or is shown by an encoder."""
    rules, acting = s.game.rules, _acting(s)
    for seat in range(rules.SEATS):
        other = _redrawn(s, seat, 5)
        chosen = _rows(len(other), MOST_ENCODED)
        few_others, few = other[chosen], s.states[chosen]
        for name in _encoders(s.game) if rules.hidden else ():  # elsewhere the states themselves are compared below
            same = np.array_equal(s.game.encode(name, few_others, seat), s.game.encode(name, few, seat))
            s.need(same, f"the encoder {name} shows seat {seat} what it cannot know")
        mine = acting == seat
        same = np.array_equal(s.game.legal_mask(other)[mine], s.game.legal_mask(s.states)[mine])
        s.need(same, f"redrawing what seat {seat} cannot see changes what it may do")
        again = _redrawn(s, seat, 6, other)
        same = _equal(s.game, again, _redrawn(s, seat, 6))
        s.need(same, f"`determinize` depends on what seat {seat} cannot see")
        same = _equal(s.game, other, s.states)
        s.need(same or rules.hidden, "`determinize` changes a game without secrets")
        s.need(not same or not rules.hidden, f"`determinize` redraws nothing for seat {seat}")
        for state, before in zip(s.some(other), s.some(s.states), strict=True):
            wrong = rules.problems(state[0])
            s.need(not wrong, f"`determinize` makes an impossible state: {wrong}", state)
            same = rules.observe(state[0], seat) == rules.observe(before[0], seat)
            s.need(same, f"`observe` shows seat {seat} what it cannot know")


def scenes_are_plain(s: Sample) -> None:
    """A scene is plain data that JSON can represent, and its cells have different names."""
    for state in s.some(s.every, MOST_SCENES):
        for seat in range(s.game.rules.SEATS):
            scene = Position(s.game, state).scene(seat)
            is_scene = isinstance(scene, Scene)  # pyright: ignore (a game's own function returns anything)
            s.need(is_scene, f"`scene` returns {shown(scene)}, not a Scene")
            twice = [name for name, count in Counter(cell.name for cell in scene.cells()).items() if count > 1]
            s.need(not twice, f"several cells of the scene for seat {seat} are named {twice}", state)
            try:
                json.dumps(as_json(scene))
            except TypeError as error:
                raise BrokenGame(f"{s.game}: the scene for seat {seat} is not plain data: {error}") from error


def scenes_keep_secrets(s: Sample) -> None:
    """States that differ only in what a seat cannot see have equal scenes."""
    if s.game.rules.hidden:
        for seat in range(s.game.rules.SEATS):
            others = s.some(_redrawn(s, seat, 6), MOST_SCENES)
            for state, redrawn in zip(s.some(s.states, MOST_SCENES), others, strict=True):
                same = Position(s.game, state).scene(seat) == Position(s.game, redrawn).scene(seat)
                s.need(same, f"`scene` shows seat {seat} what it cannot know", state)


def agents_keep_secrets(s: Sample) -> None:
    """What agents do and how scorers rank actions does not depend on what the seat cannot see."""
    rules, acting = s.game.rules, _acting(s)
    if not rules.hidden:
        return
    scripted = {name: ScriptedAgent(s.game, name, function).act for name, function in rules.POLICIES.items()}
    scorers = {name: Scorer(s.game, name, function, 1).scores for name, function in rules.SCORERS.items()}
    for seat in range(rules.SEATS):
        mine = acting == seat
        states, others = s.states[mine], _redrawn(s, seat, 7)[mine]
        for name, act in scripted.items():
            one, other = (act(each, seeds(8, len(each))) for each in (states, others))
            s.need(np.array_equal(one, other), f"the agent {name} acts by what seat {seat} cannot see")
        for name, scores in scorers.items():
            (actions, one), (_, other) = scores(states), scores(others)
            same = np.array_equal(one[actions >= 0], other[actions >= 0])
            s.need(same, f"the scorer {name} ranks actions by what seat {seat} cannot see")
        few = _rows(len(states), MOST_ASKED)
        for name, agent in _agents(s.game).items():
            one, other = (ask(agent, s.game, each[few], agent_seeds(8, len(few))) for each in (states, others))
            s.need(np.array_equal(one, other), f"the agent {name} acts by what seat {seat} cannot see")


def agents_foresee_nothing(s: Sample) -> None:
    """What agents do does not depend on the generator that decides what chance does next."""
    if s.game.rules.CHANCE:
        for name, agent in _agents(s.game).items():
            for row in _rows(len(s.states), MOST_ASKED):
                state = s.states[row : row + 1]
                one, other = (Position(s.game, state, seed).ask(agent) for seed in (1, 2))
                s.need(one == other, f"the agent {name} acts by what chance will do", state)


def _agents(game: Game) -> dict[str, Agent]:
    """The agents that a game defines, by name, and levels: one that glances and one that thinks."""
    names = [*game.rules.POLICIES, *game.rules.AGENTS, *LEVELS]
    return {name: agent for name in names if not sees_all(agent := make(name, game))}


def clicks_tell_actions_apart(s: Sample) -> None:
    """The clicks for a legal action are cells of the acting seat's scene; no path is the beginning of another."""
    for state in s.some(s.states, MOST_SCENES):
        position = Position(s.game, state)
        paths = {action: tuple(path) for action, path in position.paths().items()}
        there = {cell.click for cell in position.scene().cells()}
        missing = sorted({click for path in paths.values() for click in path} - there)
        s.need(not missing, f"`clicks` names {missing}, which no cell of the scene is", state)
        ends = {path: action for action, path in paths.items()}
        s.need(len(ends) == len(paths) and () not in ends, "`clicks` gives two actions one path, or none", state)
        for path, action in ends.items():
            for shorter in (path[:length] for length in range(1, len(path))):
                message = f"the clicks {shorter} for one action begin those for another, {position.name(action)!r}"
                s.need(shorter not in ends, message, state)


def evaluations(s: Sample) -> None:
    """`evaluate` lies in [-1, 1]."""
    if "evaluate" in s.game.rules.compiled:
        values = np.empty(len(s.states), np.float32)
        s.game.kernels("evaluate").evaluate_all(s.states, values)
        s.need((np.abs(values) <= 1).all(), f"`evaluate` gives {values.min()} to {values.max()}")


def transposition_keys(s: Sample) -> None:
    """`transposition_key` depends only on what a text carries."""
    key = s.game.rules.transposition_key
    if key is None:
        return
    for state in s.some(s.states, 50):
        again = s.game.position(s.game.rules.text(state[0]))
        s.need(
            key(state[0]) == key(again.state), "`transposition_key` differs after a round trip through the text", state
        )


def loud_lists(s: Sample) -> None:
    """`legal_loud` lists every loud action of `legal`, in the same order."""
    listing, loudness = s.game.rules.legal_loud, s.game.rules.loudness
    if listing is None or loudness is None:
        s.need(listing is None, "`legal_loud` needs `loudness`, which says what is loud")
        return
    takes, batch = len(inspect.signature(listing).parameters), Batch(s.game, 1)  # with `work` or without
    for state in s.some(s.states):
        actions, work = s.game.scratch(), s.game.work()
        count = listing(*(state[0], actions, work[0])[:takes])
        (legal,), (among,) = batch.legal_list(state)
        every, listed = ([a for a in each if loudness(state[0], a) > 0] for each in (legal[:among], actions[:count]))
        s.need(every == listed, "`legal_loud` and `legal` differ in the loud actions", state)


def symmetries(s: Sample) -> None:
    """Playing and transforming commute, and a transformed state has the transformed actions; k = 0 is the identity."""
    game, n = s.game, len(s.states)
    for k in range(game.rules.SYMMETRIES):
        before, after = s.states.copy(), s.after.copy()
        for states in (before, after):
            game.kernels().transform_all(states, np.full(n, k, np.int32))
        s.need(k > 0 or _equal(game, before, s.states), "`transform` by symmetry 0 is not the identity")
        mapped = game.images[k].astype(np.int32)
        s.need(
            (np.sort(mapped) == np.arange(game.num_actions)).all(),
            f"`transform_action` by symmetry {k} is no permutation of the actions",
        )
        same = np.array_equal(game.legal_mask(before)[:, mapped], game.legal_mask(s.states))
        s.need(same, f"`transform` by symmetry {k} changes what is legal")
        before = _played(game, before, mapped[s.actions], seeds(0, n))
        s.need(
            game.rules.CHANCE or _equal(game, before, after), f"`transform` by symmetry {k} and playing do not commute"
        )


def heads_play_on(s: Sample) -> None:
    """`play_head` does to a head what `play` does to a state, draws by counting aside; `count_legal` counts."""
    rules, kernels, n = s.game.rules, s.game.kernels(), len(s.states)
    heads, rngs = s.game.searched(s.states), seeds(0, n)
    if "count_legal" in rules.compiled:
        leaves, lists = np.empty(n, np.int64), np.empty((1, rules.MAX_LEGAL), np.int32)
        kernels.perft_all(heads, 1, leaves, heads[:1].copy(), lists, rngs, s.game.work())
        s.need((leaves == Batch(s.game, 1).legal_list(s.states)[1]).all(), "`count_legal` miscounts")
    if "play_head" in rules.compiled:
        kernels.play_heads(heads, s.actions, rngs, s.game.work())
        fine = (heads["outcome"] == s.after["outcome"]) | (s.after["outcome"] == DRAW)
        for name in set(rules.HEAD.names or ()) - {"outcome", *rules.UNCOUNTED}:
            fine &= (heads[name] == s.after[name]).reshape(n, -1).all(axis=1)
        s.need(fine.all(), "`play_head` and `play` differ", s.states[~fine])


ALWAYS = (legal_lists, masks, fields, rewards, words, texts, nonsense, names, fresh_start, chance_is_declared)
LAWS: Mapping[Callable[[Sample], None], Sequence[str]] = {  # law: the names it is about that a game may leave out
    **dict.fromkeys([*ALWAYS, rows_are_alone], ()),
    heads_suffice: ("HEAD",),
    bytes_are_fields: (),
    encoders_fill: ("ENCODERS",),
    slots_are_permutations: ("ENCODERS",),
    cells_fill: ("CELLS",),
    cells_keep_secrets: ("CELLS",),
    cells_follow_symmetries: ("CELLS",),
    cells_are_named_as_drawn: ("CELLS",),
    secrets_are_kept: ("determinize",),
    scenes_are_plain: (),
    scenes_keep_secrets: ("determinize",),
    agents_keep_secrets: ("determinize",),
    agents_foresee_nothing: ("CHANCE",),
    clicks_tell_actions_apart: (),
    evaluations: ("evaluate",),
    transposition_keys: ("transposition_key",),
    loud_lists: ("legal_loud",),
    symmetries: ("SYMMETRIES",),
    heads_play_on: ("play_head", "count_legal"),
}


# ---- helpers ----


def _need(holds: bool | np.bool_, game: Game, message: str, states: Any = ()) -> None:
    """Raise `BrokenGame` unless it holds; shows the first of the states where it does not."""
    if not holds:
        where = f" in {game.rules.text(np.atleast_1d(states)[0])!r}" if len(states) else ""
        raise BrokenGame(f"{game}: {message}{where}")


MOST_TELLING = 20 if numba.config.DISABLE_JIT else 1000  # pyright: ignore
LEVELS, MOST_ASKED = ("level:2", "level:5"), 4 if numba.config.DISABLE_JIT else 30  # pyright: ignore
MOST_SCENES = 20 if numba.config.DISABLE_JIT else 200  # pyright: ignore
MOST_ENCODED = 250 if numba.config.DISABLE_JIT else 10_000  # pyright: ignore


def _rows(n: int, most: int) -> NDArray[np.intp]:
    """Evenly spread rows of n states: few enough for the time and memory that agents and encoders take."""
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))[:n]


def _encoders(game: Game) -> dict[str, Encoder]:
    """Each encoder once, by its full name."""
    return {str(encoder): encoder for encoder in game.encoders.values()}


def _acting(s: Sample) -> NDArray[np.int32]:
    """[N] the seat that acts in each running state."""
    seats = np.empty(len(s.states), np.int32)
    s.game.kernels().seats_to_act(s.states, seats)
    return seats


def _redrawn(s: Sample, seat: int, seed: int, states: Records | None = None) -> Records:
    """[N] the running states (or others), with what a seat cannot see redrawn."""
    other, n = (s.states if states is None else states).copy(), len(s.states)
    s.game.kernels().determinize_all(other, np.full(n, seat, np.int32), seeds(seed, n))
    return other


def _played(game: Game, states: Records, actions: NDArray[np.int32], rngs: NDArray[np.uint64]) -> Records:
    """[N] the states after the actions."""
    after = states.copy()
    game.kernels().play_all(after, actions, rngs, game.work())
    return after


def _equal(game: Game, one: Records, other: Records) -> bool:
    """Equal in every field."""
    return all(np.array_equal(one[name], other[name]) for name in game.rules.STATE.names or ())
