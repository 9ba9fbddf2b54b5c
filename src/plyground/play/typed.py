"""Typed moves: from a text to actions, and from actions to text. Nothing here prints."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from plyground.errors import IllegalAction, InvalidText, shorten
from plyground.position import Position

FEW = 12  # moves that fit into one sentence
MOVE_NUMBER = re.compile(r"\d+\.+\s*(?=\S)")  # `1. e4`, `12...Nf6`
PAWN_MOVE = re.compile(r"(?:([a-h])[x>-]?)?([a-h][1-8])(?:=?([RNBQ]))?")  # of chess: `d4`, `exd5`, `a8=Q`


class Turn(NamedTuple):
    """A turn of a line."""

    actions: list[int]
    text: str
    """as people write it; a part of a turn in words: `place e4`"""
    whole: bool
    """whether it is there from its beginning to its end"""

    @property
    def advice(self) -> str:
        """`play e2>e4`; in the middle of a turn what to do next: `place e4`."""
        return f"play {self.text}" if self.whole else self.text


class Ambiguous(IllegalAction):
    """A text that may mean several moves; the message asks which."""


def read(position: Position, text: str, played: bool = False) -> list[int]:
    """The actions that a text means: one action by its name or a part of it, or all actions of one turn. `played`: it
    tells of a turn that was played, so that what chance did in it is known."""
    text = without_number(position, text)
    found = candidates(position, text)
    longer = [] if found else completions(position, text)
    if len(found) > 1 or longer:
        raise Ambiguous(question(text, [position.notation(action) for action in found or longer]))
    moves = found or _one_by_one(position, text.split(), played) or whole_turn(position, text, played)
    moves = moves or pawn_turn(position, text)
    short = [] if moves else short_turns(position, text)
    exact = [turn.actions for turn in short if _goes_to(turn) == _target(text)]
    if short and len(exact) != 1:
        raise Ambiguous(question(text, [_complete(turn) for turn in short]))
    moves = moves or [action for actions in exact for action in actions]
    if not moves:
        names = words_of_moves(position)
        known = {word.casefold() for name in names for word in name}
        strange = [word for word in text.split() if word.casefold() not in known]  # such as a card not held
        several = strange and any(len(name) > 1 for name in names)
        turns, legal = legal_turns(position), position.legal()
        if len(turns) <= FEW:
            may = f"legal: {', '.join(turns)}"
        elif position.game.rules.turn_text is None or len(legal) > FEW:
            may = "`moves` lists the legal moves"
        else:
            firsts = ", ".join(part(position, action).lstrip(">") for action in legal)
            may = f"{position.game.rules.prompt(position.state)}: {firsts}; `moves` lists whole turns"
        why = f": no legal move has {shorten(strange[0])}" if several else ""
        raise IllegalAction(f"{shorten(repr(text))} is not legal here{why}; {may}")
    return moves


def without_number(position: Position, text: str) -> str:
    """A text without the number of a move before it, unless the number belongs to the name of a move."""
    number = MOVE_NUMBER.match(text)
    return text[number.end() :] if number and not candidates(position, text) else text


def candidates(position: Position, text: str) -> list[int]:
    """The legal actions that a text may mean: by name, by the game's `read_action`, or by the closest name."""
    legal, rules = position.legal(), position.game.rules
    names = {action: (position.name(action), rules.notation(position.state, action, legal)) for action in legal}
    distances = {action: min(_distance(text, name) for name in both) for action, both in names.items()}
    least = min(distances.values(), default=math.inf)
    read: list[int] = rules.read_action(position.state, text, legal) if least else []
    return read or [action for action in legal if distances[action] == least < math.inf]


def completions(position: Position, text: str) -> list[int]:
    """The legal actions whose names begin with a text, which is not complete: `Nf`, `N`."""
    legal, rules, low = position.legal(), position.game.rules, text.casefold()
    names = {action: (position.name(action), rules.notation(position.state, action, legal)) for action in legal}
    if is_piece(text):
        return [action for action, (_, written) in names.items() if written.startswith(text)]
    return [a for a, both in names.items() if len(low) > 1 and any(name.casefold().startswith(low) for name in both)]


def is_piece(text: str) -> bool:
    """Whether a text may be a piece without its square: one capital letter."""
    return len(text) == 1 and text.isupper()


def _distance(text: str, name: str) -> float:
    """How far a text is from a name: 0 for the name itself, infinite for a text that is not some of its words."""
    low, words = text.casefold(), name.casefold().split()
    given = low.split()
    if name.casefold() == low:
        return 0 if name == text else 0.5
    if given and Counter(given) <= Counter(words):
        return 1 + words.index(given[0])  # `qs` means the card to play before the card to take
    return math.inf


def whole_turn(position: Position, text: str, played: bool = False) -> list[int]:
    """The actions of a whole turn in the game's own notation; none where it has no such notation."""
    read_turn = position.game.rules.typed_turn
    try:
        return _one_by_one(position, read_turn(text, position.to_move), played) if read_turn else []
    except InvalidText:
        return []


def pawn_turn(position: Position, text: str) -> list[int]:
    """Where a turn has several actions: those of the pawn's move that a text means in chess: `d4`, `exd5`, `a8=Q`."""
    found = PAWN_MOVE.fullmatch(text)
    if position.game.rules.turn_text is None or not found:
        return []
    file, target, becomes = found.groups()
    begins = re.compile(rf"(P[PRNBQK])?{file or target[0]}[1-8][x>]")  # also of a union
    turns = [
        _complete(turn) for turn in _turns_of_two(position) if begins.match(turn.text) and _goes_to(turn) == target
    ]
    return whole_turn(position, turns[0] + (f"={becomes}" if becomes else "")) if len(turns) == 1 else []


def short_turns(position: Position, text: str) -> list[Turn]:
    """Where a turn has several actions: those that a piece and the square where it goes may mean, or the beginning of
    that square, or a piece alone: `Nf3`, `Nf`, `N`."""
    if position.game.rules.turn_text is None or not text[:1].isalpha() or not (_target(text) or is_piece(text)):
        return []
    piece = text[0].upper()
    turns = [turn for turn in _turns_of_two(position) if turn.text.startswith(piece)]
    return [turn for turn in turns if _goes_to(turn).startswith(_target(text))]


def _target(text: str) -> str:
    """Where a piece shall go: `f3` of `Nf3`, `N>f3` and `nxf3`."""
    return text[1:].casefold().lstrip(">x-")


def _goes_to(turn: Turn) -> str:
    """The last square of a turn: `f3` of `Ng1>f3` and `Ng1xPf3`."""
    return _complete(turn)[-2:]


def _complete(turn: Turn) -> str:
    """A turn, or its beginning, as it is typed."""
    return turn.text.removesuffix(" ...")


def asked(position: Position, text: str) -> list[str]:
    """What an incomplete text may mean."""
    actions = completions(position, text)
    return [position.notation(action) for action in actions] or list(map(_complete, short_turns(position, text)))


def _one_by_one(start: Position, parts: Sequence[str], played: bool) -> list[int]:
    """The actions that the parts mean in this order, all of one side; none unless each part has one meaning."""
    position: Position | None = start
    actions = list[int]()
    for part in parts:
        if position is None or position.to_move != start.to_move:
            return []
        found = candidates(position, part)
        if len(found) != 1:
            return []
        actions += found
        position = position.play(found[0]) if played else _foreseen(position, found[0])
    return actions


def _foreseen(position: Position, action: int) -> Position | None:
    """The position after an action that nobody has played yet; None where it depends on chance or on what is hidden: to
    read on there, or to refuse it, would tell the dice before they are thrown."""
    after = position.play(action)
    return None if position.game.rules.hidden or (after.rngs != position.rngs).any() else after


def question(text: str, names: Sequence[str]) -> str:
    """`qs j3: take 6s, qd or 4h?`: the next word of each name that a text may mean."""
    if len(names) == 1:
        return f"{shorten(text)}: {names[0]}?"
    common, rows = list[str](), [name.split() for name in names]
    while all(rows) and len({row[0] for row in rows}) == 1:
        common.append(rows[0][0])
        rows = [row[1:] for row in rows]
    said = [word.casefold() in text.casefold().split() for word in common]
    lead = common[len(said) - said[::-1].index(True) :] if any(said) else []
    *most, last = dict.fromkeys(row[0] if row else "nothing more" for row in rows)
    return f"{shorten(text)}: {' '.join([*lead, shorten(', '.join(most), 400)])} or {last}?"


def part(position: Position, action: int) -> str:
    """An action as people write it or, where a turn has several, as a part of the turn: `e2`, then `>e4`."""
    return turn_text([position], [action])


def as_first_word(name: str) -> str:
    """The name of a side as a sentence begins with it: `White`."""
    return f"{name[:1].upper()}{name[1:]}"


def turn_text(positions: Sequence[Position], actions: Sequence[int]) -> str:
    """A turn as people write it: the actions, and the position before each."""
    write = positions[0].game.rules.turn_text
    if write is not None:
        return write([(position.state, action) for position, action in zip(positions, actions, strict=True)])
    return " ".join(position.notation(action) for position, action in zip(positions, actions, strict=True))


def turns_of(position: Position, actions: Sequence[int]) -> list[Turn]:
    """A line of actions turn by turn. A last turn that is cut off is left out, unless it is the first."""
    positions, turns, first, rules = [position], list[Turn](), 0, position.game.rules
    for number, action in enumerate(actions, start=1):
        if number < len(actions) or rules.turn_text is not None:
            positions.append(positions[-1].play(action))
    for place in range(1, len(actions) + 1):
        if place < len(actions) and positions[place].to_move == positions[first].to_move:
            continue
        begin, end, own = positions[first], positions[: place + 1][-1], list(actions[first:place])
        text, whole = turn_text(positions[first:place], own), True
        if rules.turn_text is not None and rules.typed_turn is not None:
            whole = end.over or end.to_move != begin.to_move
            goes_on = "" if whole else " ..."
            try:
                rules.typed_turn(text, begin.to_move)
                text += goes_on
            except InvalidText:  # it begins in the middle, or is only the beginning
                text, whole = f"{rules.prompt(begin.state)} {text.lstrip('>')}{goes_on}", False
        turns.append(Turn(own, text, whole))
        first = place
    return [turn for number, turn in enumerate(turns) if number == 0 or turn.whole]


def legal_turns(position: Position) -> list[str]:
    """What the side to move may play, as people write it: actions or, where a turn has several, its first two, with
    `...` behind a turn that goes on."""
    if position.game.rules.turn_text is None:
        return [" ".join(words) for words in words_of_moves(position)]
    return [turn.text for turn in _turns_of_two(position)]


def _turns_of_two(position: Position) -> list[Turn]:
    """The legal turns, at most two actions of each."""
    lines = list[list[int]]()
    for action in position.legal():
        after = _foreseen(position, action)
        if after is None or after.over or after.to_move != position.to_move:
            lines.append([action])
        else:
            lines += [[action, second] for second in after.legal()]
    thought = position.in_thought()
    return [turns_of(thought, line)[0] for line in lines]


def words_of_moves(position: Position) -> list[list[str]]:
    """Every legal action as people write it, split into words."""
    return [position.notation(action).split() for action in position.legal()]


def grouped(names: list[list[str]]) -> list[str]:
    """Names in few lines: `place qs j3, b4 take 6s, qd, 4h` stands for six."""
    columns = [list(dict.fromkeys(column)) for column in zip(*names, strict=False)]
    same_length = len({len(name) for name in names}) == 1
    if same_length and math.prod(map(len, columns)) == len(names):
        return [" ".join(map(", ".join, columns))]
    heads = dict.fromkeys(name[0] if name else "" for name in names)
    rests = ((head, [name[1:] for name in names if name[:1] == [head]]) for head in heads if head)
    return [f"{head} {line}".strip() for head, rest in rests for line in grouped(rest)]
