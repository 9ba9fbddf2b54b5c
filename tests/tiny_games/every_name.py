"""A test game in one file that defines every name of the contract.

Two piles of tokens. A side takes one token from the left or the right pile; whoever takes the last one wins, unless
both sides hold the same secret number: then the game is drawn.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.cells import Cells, Group
from plyground.games.dataset_format import DatasetFormat
from plyground.games.encoder import Encoder
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, Setting
from plyground.games.rng import below
from plyground.games.scene import Cell, Item, Scene, row, status
from plyground.games.table_key import TableKey

# ---- rules ----

LEFT, RIGHT = range(2)
SECRETS = 4
SETTINGS = {"tokens": Setting(3, (2, 3, 4), "of each pile")}
NUM_ACTIONS = MAX_LEGAL = SEATS = SYMMETRIES = 2
MAX_PLIES = 8
OPENING_PLIES = 1
CHANCE = True
FIELDS = [
    ("piles", np.int8, (2,)),
    ("secrets", np.int8, (2,)),
    *((name, np.int8) for name in ("tokens", "ply", "to_move", "outcome")),
]
HEAD = np.dtype(FIELDS, align=True)
STATE = np.dtype([*FIELDS, ("played", np.int8, (MAX_PLIES,))], align=True)
UNCOUNTED = ("ply",)
WORK = np.dtype([("unused", np.int8)], align=True)


@njit
def reset(state, rng):
    state["piles"][:] = state["tokens"]
    for side in range(2):
        state["secrets"][side] = below(rng, SECRETS)
    state["ply"] = state["to_move"] = state["outcome"] = 0
    state["played"][:] = -1


@njit
def legal(state, actions, work):
    return count_legal(state, actions)


@njit
def count_legal(state, actions):
    count = 0
    for pile in range(2):
        if state["outcome"] == RUNNING and state["piles"][pile] > 0:
            actions[count] = pile
            count += 1
    return count


@njit
def mask(state, mask):
    for pile in range(2):
        mask[pile] = state["outcome"] == RUNNING and state["piles"][pile] > 0


@njit
def play(state, action, rng, work):
    state["played"][state["ply"]] = action
    play_head(state, action, rng, work)


@njit
def play_head(state, action, rng, work):
    state["piles"][action] -= 1
    state["ply"] += 1
    state["to_move"] = 1 - state["to_move"]
    settle(state)


@njit
def settle(state):
    if state["piles"][LEFT] + state["piles"][RIGHT] == 0:
        same = state["secrets"][0] == state["secrets"][1]
        state["outcome"] = DRAW if same else FIRST_WINS + 1 - state["to_move"]


@njit
def seat(state):
    return state["to_move"]


@njit
def determinize(state, seat, rng):
    state["secrets"][1 - seat] = below(rng, SECRETS)


@njit
def transform(state, symmetry):
    if symmetry == 1:
        state["piles"][LEFT], state["piles"][RIGHT] = state["piles"][RIGHT], state["piles"][LEFT]


@njit
def transform_action(action, symmetry):
    return action ^ symmetry


# ---- people ----

SIDES = ("one", "two")
AIM = "take the last token"
TYPING = "left or right"
LENIENT = False
UCI = False
STYLES = {r"\|": "bold"}


def text(state):
    piles, secrets = (" ".join(map(str, state[name])) for name in ("piles", "secrets"))
    return f"{piles} {secrets} {state['to_move']}"


def parse(source, state):
    try:
        numbers = [int(word) for word in source.split()]
        state["piles"], state["secrets"], (state["to_move"],) = numbers[:2], numbers[2:4], numbers[4:]
    except (ValueError, OverflowError):
        raise InvalidText(f"two piles, two secrets and the side to move, such as '3 3 0 1 0', not {source!r}") from None
    state["played"] = -1


def from_array(array, state):
    parse(" ".join(map(str, array)), state)


def problems(state):
    numbers = [*state["piles"], *state["secrets"], state["to_move"]]
    highest = [int(state["tokens"])] * 2 + [SECRETS - 1] * 2 + [1]
    return [
        f"{number} is not 0 to {most}" for number, most in zip(numbers, highest, strict=True) if not 0 <= number <= most
    ]


def limits(state):
    return [problem for problem in problems(state) if "-" in problem]


def action_name(state, action):
    return ("left", "right")[action]


def read_action(state, typed, legal):
    return [action for action in legal if action_name(state, action)[0] == typed]


def notation(state, action, legal):
    return action_name(state, action)[0]


def sign(state):
    return "!" if state["outcome"] != RUNNING else ""


def move_number(state):
    return f"{state['ply'] // 2 + 1}."


def typed_turn(typed, side):
    return [typed]


def turn_text(steps):
    return "".join(action_name(state, action)[0] for state, action in steps)


def prompt(state):
    return "left or right"


def reason(state):
    return "" if state["outcome"] == RUNNING else "no tokens left"


def view(state, seat):
    return observe(state, seat)


def draw(state):
    return f"{'|' * state['piles'][LEFT]} - {'|' * state['piles'][RIGHT]} secrets {state['secrets']}"


def observe(state, seat):
    return f"{'|' * state['piles'][LEFT]} - {'|' * state['piles'][RIGHT]} secret {state['secrets'][seat]}"


def draw_marked(state, seat, before, choices):
    return f"{observe(state, seat)}, changed {before != state}, choices {list(choices)}"


def scene(state, seat):
    piles = [Cell(name, (Item("token"),) * int(state["piles"][pile])) for pile, name in enumerate(("left", "right"))]
    secret = Cell("secret", (Item(f"number:{state['secrets'][seat]}", seat),))
    return Scene((row("piles", piles), row("hand", [secret])), status(state, SIDES, reason(state)))


def clicks(state, action):
    return [action_name(state, action)]


def write_record(start, actions, players, outcome):
    return f"{players[0]} against {players[1]}: {start.text}; {' '.join(map(str, actions))}; {outcome}"


def read_records(text, game):
    return [(game.start(), [], ("", ""), RUNNING)]


# ---- learning ----


@njit
def evaluate(state):
    return 0.5 if (state["piles"][LEFT] + state["piles"][RIGHT]) % 2 else -0.5


@njit
def evaluate_fine(state):
    return evaluate(state)


@njit
def loudness(state, action):
    return 1 if state["piles"][action] == 1 else 0


@njit
def legal_loud(state, actions):
    count = 0
    for pile in range(2):
        if loudness(state, pile) > 0:
            actions[count] = pile
            count += 1
    return count


@njit
def transposition_key(state):
    return np.uint64(1 + state["to_move"] + 2 * state["piles"][LEFT] + 64 * state["piles"][RIGHT])


@njit
def in_check(state):
    return False


@njit
def can_win(state):
    return False


@njit
def pass_turn(state):
    return False


@njit
def write_piles(state, seat, out):
    out[0], out[1], out[2] = state["piles"][LEFT], state["piles"][RIGHT], state["secrets"][seat]


@njit
def write_cells(state, seat, out):
    out[0], out[1] = state["piles"][LEFT], state["piles"][RIGHT]
    out[2] = state["secrets"][seat]


@njit
def state_key(state, seat, record, key, notes):
    key[0] = np.uint64(state["piles"][LEFT] + 16 * state["piles"][RIGHT] + 256 * state["secrets"][seat])


@njit
def leftmost(state, rng):
    return LEFT if state["piles"][LEFT] > 0 else RIGHT


@njit
def prefers_right(state, action):
    return 0.5 if action == RIGHT else -0.5


class Rightmost:
    """Takes from the right while it can."""

    def __init__(self, game):
        self.game = game

    def act(self, states, rngs):
        return (states["piles"][:, RIGHT] > 0).astype(np.int32)


ENCODERS = (Encoder("piles", 1, (3,), np.float32, write_piles, "both piles, and the own secret"),)
CELLS = Cells((Group("piles", 2, 5, (1, 2)), Group("secret", 1, SECRETS)), write_cells, [[0, 1, 2], [1, 0, 2]])
KEYS = (
    TableKey(
        "piles",
        1,
        2,
        {"state_key": state_key},
        "both piles, the own secret, and the action",
        read=lambda key: (str(key[0]), str(key[1])),
        square=lambda effect: effect,
        board=(1, 2),
    ),
)
POLICIES = {"leftmost": leftmost}
SCORERS = {"right": prefers_right}
ROLLOUT = "leftmost"
AGENTS = {"rightmost": Rightmost}
STRONGEST = "rightmost"
STRONGEST_WITH_NETWORK = "rightmost"
DATASET = DatasetFormat("piles", ("1", "2"), 0, lambda states, actions: actions)


def advise(position):
    return "take the last one"


def solve(position, seconds=None):
    return dict.fromkeys(position.legal(), (0, "unknown"))


def grade(game, agent, positions=10, seed=0, games=0, progress=None):
    return SimpleNamespace(positions=positions)
