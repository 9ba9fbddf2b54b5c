"""First guesses of settings: those of a game or an agent are a part of its name, `sequence:seats=4`, `minimax:depth=3`;
people type them apart from it, as options or words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plyground.cli.option_guesses import SETTINGS_OF_AGENTS, plain_option
from plyground.cli.words import ASSIGNED, is_game
from plyground.games.typed_names import game_name
from plyground.specs import join, split

SETTINGS_OF_GAMES = {
    **dict.fromkeys(("rules", "seats", "compat_scores"), "sequence"),
    **dict.fromkeys(("repetitions", "castling"), "paco_sako"),
    "draws": "chess",
}
"""a setting: the game that has it"""
OF_AGENTS = {"minimax": "depth", "search": "sims"}  # agents with settings, and the one that a bare number means


def with_settings_of_game(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with settings of its game behind the game's name: `sequence:seats=4`, not `sequence --seats 4`."""
    right, rest, found = list[str](), list(line), dict[str, str]()
    while rest:
        word = rest.pop(0)
        key, equals, value = word.removeprefix("--").replace("-", "_", 1).partition("=")
        if key not in SETTINGS_OF_GAMES or (word == key and not equals):
            right.append(word)
            continue
        found[key] = value if equals or not rest else rest.pop(0)
    place = next((k for k, word in enumerate(right) if found and is_game(word)), -1)
    game, colon, settings = game_name(right[place]).partition(":")
    if place < 0 or any(SETTINGS_OF_GAMES[key] != game for key in found):
        return list(line)
    named = ",".join([*([settings] if colon else []), *(f"{key}={value}" for key, value in found.items())])
    changes.append(f"settings are a part of the game's name, {game}:{named}")
    return [*right[:place], f"{game}:{named}", *right[place + 1 :]]


def with_settings_of_agents(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with settings behind the names of agents: `minimax:depth=3`, not `minimax depth=3`, `minimax --depth 3`,
    `--depth 3 minimax` or `minimax:3`."""
    right, rest = [line[0]], list(line[1:])
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        name = plain_option(flag) if flag.startswith("--") else f"--{flag}" if equals else ""
        agent, _, key = SETTINGS_OF_AGENTS.get(name, "").removesuffix("={}").partition(":")
        bare = re.fullmatch(r"(minimax|search):(\d+)", word)
        if key and agent in OF_AGENTS:
            value = value if equals or not rest else rest.pop(0)
            _set(right, rest, agent, key, value or "VALUE")
        elif agent == "level" and not flag.startswith("--"):
            right.append(f"level:{value}")
        elif ASSIGNED.fullmatch(word) and right[-1].partition(":")[0] in OF_AGENTS:
            _set(right, [], right[-1].partition(":")[0], flag, value)
        elif bare:
            right.append(f"{bare[1]}:{OF_AGENTS[bare[1]]}={bare[2]}")
        else:
            right.append(word)
            continue
        if not changes:
            changes.append("settings are a part of an agent's name")
    return right


def _set(before: list[str], after: list[str], agent: str, key: str, value: str) -> None:
    """Give a setting to the last such agent before an option, to the first one after it, or to a new one."""
    for words, places in ((before, reversed(range(len(before)))), (after, range(len(after)))):
        for place in places:
            if _is_agent(words[place], agent):
                words[place] = join(agent, {**split(words[place])[1], key: value})
                return
    before.append(join(agent, {key: value}))


def _is_agent(word: str, agent: str) -> bool:
    return word == agent or (
        word.startswith(f"{agent}:") and all("=" in each for each in word.split(":", 1)[1].split(","))
    )
