"""Mutations of valid texts, guided by what the reader answers: an input with a new answer joins the corpus."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

STRANGE = (
    *("", " ", "\n", "\0", "\t", "-", "=", ":", ",", ".", "/", "[", "]", "{", "}", "(", '"', "\\", "#", "$", "%s"),
    *("0", "-1", "1e999", "nan", "inf", "9" * 25, "9" * 5000, "²", "٣", "½", "Ⅷ", "true", "null", "None"),
    *("é", "Ŝ", "ß", "ı", "\u202e", "\ud800", "\U0001f600", "a" * 3000, "[" * 3000, "startpos"),
)
MOST_KEPT = 400  # texts of one corpus
LONGEST = 20_000  # characters


class Corpus:
    """Valid texts, and mutated ones whose answers were new."""

    def __init__(self, rng: random.Random, texts: Sequence[str]) -> None:
        self.rng, self.texts, self.answers = rng, list(texts), set[str]()
        self.words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]", text)})

    def next(self) -> str:
        """A text with one to four mutations; one in fifty is left as it is."""
        text = self.rng.choice(self.texts)
        for _ in range(0 if self.rng.random() < 0.02 else self.rng.choice((1, 1, 2, 4))):
            text = self._mutated(text)
        return text[:LONGEST]

    def learn(self, text: str, answer: str) -> None:
        """Keep a text whose answer, numbers and quotations aside, was not seen before."""
        shape = re.sub(r"\d+|'[^']*'", "…", answer)[:200]
        if shape not in self.answers and len(self.texts) < MOST_KEPT:
            self.answers.add(shape)
            self.texts.append(text)

    def _mutated(self, text: str) -> str:
        rng = self.rng
        a, b = sorted(rng.randint(0, len(text)) for _ in range(2))
        near = min(len(text), a + rng.randint(0, 3))
        kind = rng.randrange(9)
        if kind == 0:  # a character
            return text[:a] + chr(rng.choice((rng.randrange(32, 127), rng.randrange(1, 0x3000)))) + text[a + 1 :]
        if kind == 1:
            return text[:a] + text[near:]
        if kind == 2:
            return text[:a] + rng.choice(STRANGE) + text[near:]
        if kind == 3 and self.words:  # a word of the same language
            return text[:a] + rng.choice(self.words) + text[near:]
        if kind == 4:  # a part twice
            return text[:b] + text[a:b] * rng.choice((1, 1, 2, 50)) + text[b:]
        if kind == 5:  # the beginning of one, the end of another
            other = rng.choice(self.texts)
            return text[:a] + other[rng.randint(0, len(other)) :]
        if kind == 6:
            return text[:a] + text[a:b][::-1] + text[b:]
        if kind == 7:
            return text[:a] + text[a:b].swapcase() + text[b:]
        numbers = list(re.finditer(r"\d+", text))
        if not numbers:
            return text[a:b]
        found = rng.choice(numbers)
        number = rng.choice((0, -1, 1, int(found[0][:9]) + 1, 255, 256, 65536, 2**31, 2**63, 2**64, 10**30))
        return text[: found.start()] + str(number) + text[found.end() :]
