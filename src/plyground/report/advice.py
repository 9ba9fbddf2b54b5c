"""What a run's own numbers suggest to try next. Every sentence names the number that it follows from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def advice(config: Numbers, metrics: RunMetrics, scores: Mapping[str, Numbers]) -> list[str]:
    """One sentence for each number that stands out; where none does, how to find out more."""
    last, evaluations, kind = metrics.last, metrics.of("evaluation"), kind_of(config)
    found = _of_progress(evaluations, kind)
    if (share := last.get("truncated", 0)) > 0.5:
        found.append(f"{share:.0%} of its games were truncated: raise max_plies, or add shaping or random openings")
    if (share := last.get("distinct", 1)) < 0.5:
        raised = f"raise opening_plies ({config.get('opening_plies', 0)}) or the exploration"
        found.append(f"only {share:.0%} of its positions were distinct: {raised}")
    kl, most = last.get("kl") or 0, config.get("target_kl") or 0
    if 0 < most < kl:
        found.append(f"its passes ended early, at a KL of {kl:.3f}: raise target_kl ({most}) or lower learning_rate")
    entropy = last.get("entropy")
    if "entropy_coef" in config and entropy is not None and entropy < LOWEST_ENTROPY:
        found.append(f"its policy hardly explores (entropy {entropy:.2f}): raise entropy_coef")
    if scores and all(score["score"] > 0.97 for score in scores.values()):
        found.append("it beats its evaluation opponents: name harder ones, such as minimax:depth=5")
    if (score := scores.get("random", {"score": 1})["score"]) < 0.9:
        other = FASTER.get(kind, "learning rate")
        found.append(f"it still loses points to random ({score:.0%}): {_longer(config)}, a higher {other}")
    puzzles: Numbers = evaluations[-1].get("puzzles", {}) if evaluations else {}
    missed = 1 - puzzles.get("win_in_1", 1)
    alone = list(opponent_shares(tuple(config.get("opponents", ())))) == ["self"]
    if missed > 0.1 and alone and "greedy" in scores:
        found.append(f"it misses {missed:.0%} of wins in one move: opponents that punish that, such as 0.3 greedy")
    return found or [_of_nothing(config, last, evaluations, scores)]


def _longer(config: Numbers) -> str:
    return "more epochs" if config.get("learner") == "imitation" else "more cycles"


def _of_progress(evaluations: Sequence[Numbers], kind: str) -> list[str]:
    if not evaluations:
        return []
    last, count = evaluations[-1], len(evaluations)
    against = last["against_best"]
    if against["low"] > 0.5:
        return [f"train longer: it still scored {against['score']:.0%} against its former best"]
    if risen := _rise(evaluations):
        return [f"train longer: {risen}"]
    steps = [each["step"] for each in evaluations]
    place = steps.index(last["best"]) + 1 if last.get("best") in steps else count
    if count >= ENOUGH and place <= count / 2:
        best = f"evaluation {place} of {count} found its best version, and none since scored half against it"
        return [f"{best}: a lower learning_rate, or a shorter run" if kind == "network" else best]
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


def _of_nothing(config: Numbers, last: Numbers, evaluations: Sequence[Numbers], scores: Mapping[str, Numbers]) -> str:
    more = LARGER.get(kind_of(config), "a larger model").format(**config)
    if not evaluations:
        return f"{more}, or {_longer(config)}"
    seconds = last.get("seconds", {}).get("total", SHORT)
    if seconds < SHORT and scores:
        spec, score = list(scores.items())[-1]
        return f"train longer: it has {score['score']:.0%} against {spec} after only {seconds:.0f} s"
    against = evaluations[-1]["against_best"]["score"]
    return f"it no longer gains ({against:.0%} against its best): {more}; --seeds 3 shows how much is chance"
