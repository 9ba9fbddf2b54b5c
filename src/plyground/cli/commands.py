"""The table of the commands that need no torch. Each imports what it needs when it runs, so that `--help` answers at
once."""

from __future__ import annotations

from typing import Annotated

from plyground.cli.doctor import doctor
from plyground.cli.grammar import NO_WORDS, Words, shown_as
from plyground.cli.measures import bench, check, grade, ladder, match, perft
from plyground.cli.people import analyse, games, play, prepare, serve, solve, watch
from plyground.cli.uci import uci
from plyground.errors import command


def profiles(words: Annotated[Words, shown_as("[PROFILE]")] = NO_WORDS) -> None:
    """List the profiles of `train` with their durations, or show the settings of one.

    Args:
        words: the profile to show
    """
    from plyground.cli.settings import profile_rows, show_profile
    from plyground.cli.terminal import say, say_command, show_rows

    if words:
        say("\n".join(show_profile(words[0])))
        return
    show_rows(("profile", "learner", "game", "takes"), profile_rows())
    say_command("Train with one:", command("train", "--profile", "connect_four_demo"))
    say_command("Its settings beside the defaults:", command("profiles", "connect_four_demo"))


PEOPLE, MEASURES = (games, play, watch, serve, analyse, solve), (match, ladder, grade, perft, bench, check)
COMMANDS = {each.__name__: each for each in (*PEOPLE, *MEASURES, prepare, uci, doctor, profiles)}
