"""Verification of an imitation run: one page and a figure that compare the network before and after imitation, and
after fine-tuning.

On held-out positions: agreement of the network's best actions with the teacher's. In games without search: paired
matches against the untrained network, `random`, `greedy` and the teacher, with lengths and reasons of endings.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plyground.agents.agent import Agent
from plyground.agents.network import NetworkAgent
from plyground.agents.registry import load_run, make, usual
from plyground.agents.teacher import UNIT, make_teacher
from plyground.arena.match import Match, play_match
from plyground.arena.rating import Z95
from plyground.errors import InvalidValue
from plyground.learners.evaluation import OPENINGS_SEED, summary
from plyground.learners.imitation_batches import KS, Examples, Records, mean_measures, read_held_out
from plyground.report.figures import BLUE, GREY, ORANGE, SMALL, label, new_figure, save_figure
from plyground.report.scores import in_brackets, markdown_table, score_cells
from plyground.runs import files
from plyground.runs.directory import read_config
from plyground.teaching.dataset import read_all
from plyground.teaching.lines import Lines

LEARNER = "imitation"
BEFORE, AFTER, TUNED = "before imitation", "after imitation", "after fine-tuning"
COLOURS = {BEFORE: GREY, AFTER: BLUE, TUNED: ORANGE}
BATCH = 512


@dataclass(frozen=True)
class Stage:
    """A network at one stage of training."""

    name: str
    agent: NetworkAgent
    held_out: Mapping[str, float]
    matches: Mapping[str, Match]


def stages_of(run: Path, tuned: Path | None) -> dict[str, NetworkAgent]:
    """The networks before and after imitation, and after fine-tuning if such a run is given."""
    config = read_config(run)
    if config.get("learner") != LEARNER:
        begun = str(config.get("init") or "")
        if not begun or tuned is not None:
            raise InvalidValue(f"{run} is neither an imitation run nor a run that was initialised with one (--init)")
        run, tuned = Path(begun), run
        if read_config(run).get("learner") != LEARNER:
            raise InvalidValue(f"{tuned} was initialised with {run}, which is not an imitation run")
    found = {BEFORE: load_run(str(run), None, "0"), AFTER: load_run(str(run))}
    if tuned is not None:
        found[TUNED] = load_run(str(tuned), found[AFTER].view.game)
    return found


def verify(
    run: Path,
    tuned: Path | None = None,
    data: Path | None = None,
    games: int = 100,
    depth: int = 2,
    quiescence: int = 4,
    say: Callable[[str], None] = lambda text: None,
) -> str:
    """Measure, write verify.md and verify.png into the run, and return the page."""
    agents = stages_of(run, tuned)
    after, home = agents[AFTER], run if read_config(run).get("learner") == LEARNER else Path(read_config(run)["init"])
    game, lines = after.view.game, Lines(after.view.game)
    held_out = read_held_out(home, lines) if data is None else read_all(data, lines)
    positions = f"{len(held_out):,} {'held-out positions' if data is None else f'positions of {data}'}"
    teacher = make_teacher(game, depth=depth, quiescence=quiescence)
    scripted = {spec: make(spec, game) for spec in usual(game)}
    opponents: dict[str, Agent] = {"untrained": agents[BEFORE], **scripted, "teacher": teacher}
    stages: list[Stage] = []
    for name, agent in agents.items():
        say(f"{name}: {positions}")
        found, matches = on_held_out(agent, held_out), dict[str, Match]()
        against = {**opponents, AFTER: after} if name == TUNED else opponents
        for spec, opponent in against.items():
            if opponent is not agent:
                say(f"{name}: {games} games against {spec}")
                matches[spec] = play_match(game, agent, opponent, games, OPENINGS_SEED)
        stages.append(Stage(name, agent, found, matches))
    text = page(run, stages, positions, len(held_out), str(teacher), games)
    files.write_whole(run / "verify.md", text.encode())
    save_picture(run / "verify.png", stages)
    return text


def on_held_out(agent: NetworkAgent, examples: Records) -> dict[str, float]:
    """The means over examples; an agent's outputs are values on the teacher's scale (1 / UNIT to logits)."""
    batches = Examples(agent.view, examples).lessons(np.arange(len(examples)), BATCH)
    return mean_measures(agent.network, batches, 1 / UNIT)


# ---- for people ----


def page(run: Path, stages: Sequence[Stage], positions: str, count: int, teacher: str, games: int) -> str:
    """The page as Markdown; `positions` says which positions were compared, `count` how many."""
    view, matched = stages[0].agent.view, (f"match@{k}" for k in KS)
    measured = ("", *matched, "KL", "entropy (even choice)", "value error")
    results = ("", "against", "score", "95% interval", "wins, draws, losses", "plies", "how games ended")
    compared, played = list[Sequence[str]](), list[Sequence[str]]()
    for stage in stages:
        found, (first, *others) = stage.held_out, (stage.held_out[f"match@{k}"] for k in KS)
        radius = Z95 * math.sqrt(first * (1 - first) / count)
        best = in_brackets({"score": first, "low": max(0.0, first - radius), "high": first + radius})
        entropy = f"{found['entropy']:.2f} ({found['even_entropy']:.2f})"
        shares = (f"{each:.1%}" for each in others)
        compared.append((stage.name, best, *shares, f"{found['kl']:.3f}", entropy, f"{found['value_error']:.3f}"))
        for spec, match in stage.matches.items():
            endings = [f"{name} {number}" for name, number in Counter(match.endings).most_common()]
            endings += [f"stopped {match.unfinished}"] if match.unfinished else []
            counts, plies = f"{match.wins}, {match.draws}, {match.losses}", f"{match.plies:.0f}"
            played.append((stage.name, spec, *score_cells(summary(match)), counts, plies, ", ".join(endings)))
    paragraphs = [
        f"# {run.name}: learned from {teacher}",
        f"{view.game}, encoder {view.encoder}. All play without search: the best legal action.",
        f"On {positions} (95% interval of match@1 in brackets):",
        markdown_table(measured, compared),
        f"{games} games each, every opening from both sides:",
        markdown_table(results, played),
        "![scores and matches](verify.png)",
    ]
    return "\n\n".join(paragraphs) + "\n"


def save_picture(target: Path, stages: Sequence[Stage]) -> None:
    """Agreement with the teacher on the left, scores with intervals on the right."""
    figure = new_figure(11, 4.2)
    left, right = figure.subplots(1, 2)
    specs = list(dict.fromkeys(spec for stage in stages for spec in stage.matches))
    width = 0.8 / len(stages)
    for place, stage in enumerate(stages):
        shift, colour = (place - (len(stages) - 1) / 2) * width, COLOURS[stage.name]
        heights = [stage.held_out[f"match@{k}"] for k in KS]
        left.bar([k + shift for k in range(len(KS))], heights, width, color=colour, label=stage.name)
        for at, spec in enumerate(specs):
            if spec in stage.matches:
                match = stage.matches[spec]
                low, high = match.interval
                error: Any = [[match.score - low], [high - match.score]]
                right.bar(at + shift, match.score, width, color=colour, yerr=error, capsize=3)
    left.set_xticks(range(len(KS)), [f"match@{k}" for k in KS])
    label(left, "y", legend=True, title="The teacher's best action among the network's k best", ylim=(0, 1))
    right.set_xticks(range(len(specs)), [f"against\n{spec}" for spec in specs], fontsize=SMALL)
    right.axhline(0.5, color="black", lw=0.6)
    label(right, "y", title="Wins and half the draws, 95% intervals", ylim=(0, 1.02))
    save_figure(target, figure, shared=False)
