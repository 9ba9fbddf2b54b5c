"""What a run's own numbers suggest to try next. Every sentence names the number that it follows from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plyground.learners.config import opponent_shares
from plyground.models.model import kind_of
from plyground.runs.metrics import RunMetrics

Numbers = Mapping[str, Any]
LOWEST_ENTROPY = 0.1  # nats of a policy that still explores
LEAST_RISE = 0.03  # points, of means over several evaluations
ENOUGH = 4  # evaluations from which a fall can be told from chance
SHORT = 600.0  # seconds of a run that may be at its beginning
FASTER = {"network": "learning_rate, or a wider network", "table": "alpha, or another key"}
LARGER = {"network": "a wider network than {network}", "table": "another key or a prior"}
"""kind of model: what may make it learn faster, or learn more"""


class Facts(NamedTuple):
    """What a run has measured: its last cycle, its evaluations, and the scores of its best checkpoint."""

    config: Numbers
    last: Numbers
    evaluations: Sequence[Numbers]
    scores: Mapping[str, Numbers]


def advice(config: Numbers, metrics: RunMetrics, scores: Mapping[str, Numbers]) -> list[str]:
    """One sentence for each number that stands out; where none does, how to find out more."""
    run = Facts(config, metrics.last, metrics.of("evaluation"), scores)
    found = [*_of_progress(run), *_of_experience(run), *_of_updates(run), *_of_scores(run)]
    return found or [_of_nothing(run)]


def _of_progress(run: Facts) -> list[str]:
    if not run.evaluations:
        return []
    last, count = run.evaluations[-1], len(run.evaluations)
    against = last["against_best"]
    if against["low"] > 0.5:
        return [f"train longer: it still scored {against['score']:.0%} against its former best"]
    if risen := _rise(run.evaluations):
        return [f"train longer: {risen}"]
    steps = [each["step"] for each in run.evaluations]
    place = steps.index(last["best"]) + 1 if last.get("best") in steps else count
    if count >= ENOUGH and place <= count / 2:
        best = f"evaluation {place} of {count} found its best version, and none since scored half against it"
        return [f"{best}: a lower learning_rate, or a shorter run" if kind_of(run.config) == "network" else best]
    return []


def _rise(evaluations: Sequence[Numbers]) -> str:
    """In words, where the score against an evaluation opponent was clearly higher in the last quarter of the run than
    in the one before or, of few evaluations, in the last than in the first; empty where it was not."""
    quarter = len(evaluations) // 4
    for spec, newest in reversed(evaluations[-1].get("eval_opponents", {}).items()):  # the strongest is named last
        scores = [each["eval_opponents"].get(spec, {}).get("score") for each in evaluations]
        if None in scores:
            continue
        if not quarter and newest["low"] > scores[0]:
            return f"against {spec} it scored {scores[-1]:.0%} in its last evaluation, {scores[0]:.0%} in its first"
        if not quarter:
            continue
        before, last = (sum(part) / quarter for part in (scores[-2 * quarter : -quarter], scores[-quarter:]))
        if last > before + LEAST_RISE:
            return f"against {spec} it scored {last:.0%} in the last quarter of the run, {before:.0%} in the one before"
    return ""


def _of_experience(run: Facts) -> list[str]:
    found: list[str] = []
    if (share := run.last.get("truncated", 0)) > 0.5:
        found.append(f"{share:.0%} of its games were truncated: raise max_plies, or add shaping or random openings")
    if (share := run.last.get("distinct", 1)) < 0.5:
        plies = run.config.get("opening_plies", 0)
        found.append(
            f"only {share:.0%} of its positions were distinct: raise opening_plies ({plies}) or the exploration"
        )
    return found


def _of_updates(run: Facts) -> list[str]:
    found: list[str] = []
    kl, most = run.last.get("kl") or 0, run.config.get("target_kl") or 0
    if 0 < most < kl:
        found.append(f"its passes ended early, at a KL of {kl:.3f}: raise target_kl ({most}) or lower learning_rate")
    entropy = run.last.get("entropy")
    if "entropy_coef" in run.config and entropy is not None and entropy < LOWEST_ENTROPY:
        found.append(f"its policy hardly explores (entropy {entropy:.2f}): raise entropy_coef")
    return found


def _of_scores(run: Facts) -> list[str]:
    found, scores = list[str](), {spec: score["score"] for spec, score in run.scores.items()}
    if scores and all(score > 0.97 for score in scores.values()):
        found.append("it beats its evaluation opponents: name harder ones, such as minimax:depth=5")
    if (score := scores.get("random", 1)) < 0.9:
        other = FASTER.get(kind_of(run.config), "learning rate")
        found.append(f"it still loses points to random ({score:.0%}): more cycles, a higher {other}")
    puzzles: Numbers = run.evaluations[-1].get("puzzles", {}) if run.evaluations else {}
    missed = 1 - puzzles.get("win_in_1", 1)
    alone = list(opponent_shares(tuple(run.config.get("opponents", ())))) == ["self"]
    if missed > 0.1 and alone and "greedy" in scores:
        found.append(f"it misses {missed:.0%} of wins in one move: opponents that punish that, such as 0.3 greedy")
    return found


def _of_nothing(run: Facts) -> str:
    more = LARGER.get(kind_of(run.config), "a larger model").format(**run.config)
    if not run.evaluations:
        return f"{more}, or more cycles"
    seconds = run.last.get("seconds", {}).get("total", SHORT)
    if seconds < SHORT and run.scores:
        spec, score = list(run.scores.items())[-1]
        return f"train longer: it has {score['score']:.0%} against {spec} after only {seconds:.0f} s"
    against = run.evaluations[-1]["against_best"]["score"]
    return f"it no longer gains ({against:.0%} against its best): {more}; --seeds 3 shows how much is chance"
