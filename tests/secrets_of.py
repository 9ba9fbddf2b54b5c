"""What nobody may be told of a game of Sequence that runs, for tests."""

from __future__ import annotations

import re

from plyground.web.table import GameTable


def secrets_of(game: GameTable) -> set[str]:
    """Texts that tell what seat 0 may not know: decks, the secret cards of other hands, seeds and generators."""
    found = {str(game.saved.seed), *(str(each.seed) for each in game.saved.redraws)}
    for position in game.line.positions:
        hands = re.search(r"hands=(\S+)", position.text)
        deck = re.search(r"deck=(\S+)", position.text)
        assert hands
        assert deck
        found |= {deck[1], deck[1][-20:], str(position.rngs[0])}
        found |= {hand for hand in hands[1].split(",")[1:] if "+" not in hand}
    return found
