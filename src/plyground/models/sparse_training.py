"""Gradients of a sparse network, and Adam. The bits are the same on every processor: sums have a fixed order.

F is the number of features, N of units, B of positions in a minibatch, W of all weights. A minibatch is divided into
parts, whose gradients are added up in order: any number of threads gives the same bits.

N is read at run time, though the arrays' types tell it: loops of 32 steps the compiler would unroll before it
vectorises loops, and then it vectorises nothing (half the speed at N = 32).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.models.numbers import exp

Floats = NDArray[np.float32]
Records = NDArray[np.void]
ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
BETA1, BETA2, EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)
FRESH1, FRESH2 = np.float32(1.0 - 0.9), np.float32(1.0 - 0.999)
LOGIT = 1.25  # of winning, where a position's value is one half
LARGEST = 0.999  # of values; beyond, the probability is as near to 1 as that of this one
DENORMAL = np.float32(1e-30)  # below, moments are zero: sums of tinier numbers take a processor a hundred times as long


class Examples(NamedTuple):
    """Positions as a sparse network sees them."""

    features: NDArray[np.uint16]  # [all of them] of each view in turn
    starts: NDArray[np.int64]  # [2 P + 1] where those of each view begin
    targets: Floats  # [P] the probability of winning, for the side to move


class Step(NamedTuple):
    """What a step of Adam depends on."""

    rate: np.float32
    scale: np.float32  # of the gradients: 1 / B
    unbias1: np.float32  # 1 / (1 - beta1**t), likewise beta2
    unbias2: np.float32
    decay: np.float32  # of the first weights
    clip: np.float32  # and their largest size


def working_memory(units: int, count: int) -> Records:
    """[count], one for each thread."""
    shapes = {"sums": (2, units), "clipped": (2, units), "parts": (2 * units,)}
    found = np.zeros(count, [("units", np.int64), *((name, np.float32, shape) for name, shape in shapes.items())])
    found["units"] = units
    return found


@uncounted_loop
def probabilities(values: NDArray[np.float64], found: NDArray[np.float64]) -> None:
    """[N] the probabilities of winning that values [N] in [-1, 1] stand for."""
    for i in range(len(values)):
        value = min(max(values[i], -LARGEST), LARGEST)
        found[i] = 1.0 / (1.0 + exp(-LOGIT * value / (1.0 - abs(value))))


@uncounted_body
def forward(i: int, examples: Examples, weights: Records, scratch: Records) -> float:
    """The logit of a position; what it was made of stays in `scratch`."""
    first, bias, second = weights["first"], weights["bias"], weights["second"]
    sums, clipped, parts = scratch["sums"], scratch["clipped"], scratch["parts"]
    units = np.int64(scratch["units"])
    for view in range(2):
        own = sums[view]
        for j in range(units):
            own[j] = bias[j]
        for place in range(examples.starts[2 * i + view], examples.starts[2 * i + view + 1]):
            row = first[examples.features[place]]
            for j in range(units):
                own[j] += row[j]
        to, factors = clipped[view], second[view]
        products = parts[units * view : units * (view + 1)]
        for j in range(units):
            a = min(max(own[j], ZERO), ONE)
            to[j] = a
            products[j] = a * a * factors[j]
    width = units  # halves are added, which has a fixed order and eight lanes or more
    while width >= 1:
        for j in range(width):
            parts[j] += parts[j + width]
        width //= 2
    return np.float64(parts[0] + weights["second_bias"][0])


@uncounted_loop
def learn_part(
    rows: NDArray[np.int64],  # [B / parts] of the examples
    examples: Examples,
    weights: Records,  # [1]
    gradients: Records,  # [1] of this part, to which theirs are added
    scratch: Records,  # [1]
) -> float:
    """The sum of the squared errors of the probabilities."""
    weights0, own, memory = weights[0], gradients[0], scratch[0]
    second, clipped, sums = weights0["second"], memory["clipped"], memory["sums"]
    g_first, g_bias, g_second, g_output = own["first"], own["bias"], own["second"], own["second_bias"]
    units, total = np.int64(memory["units"]), 0.0
    for i in rows:
        probability = 1.0 / (1.0 + exp(-forward(i, examples, weights0, memory)))
        error = probability - np.float64(examples.targets[i])
        total += error * error
        g = np.float32(2.0 * error * probability * (1.0 - probability))
        g_output[0] += g
        for view in range(2):
            a, to, raw, factors = clipped[view], g_second[view], sums[view], second[view]
            for j in range(units):
                to[j] += g * (a[j] * a[j])
            for j in range(units):  # in place of the sums: the gradient of each
                inside = raw[j] > ZERO and raw[j] < ONE
                raw[j] = g * factors[j] * (TWO * a[j]) if inside else ZERO
            for j in range(units):
                g_bias[j] += raw[j]
            for place in range(examples.starts[2 * i + view], examples.starts[2 * i + view + 1]):
                row = g_first[examples.features[place]]
                for j in range(units):
                    row[j] += raw[j]
    return total


@uncounted_loop
def judge_rows(
    rows: NDArray[np.int64],  # [B]
    examples: Examples,
    weights: Records,  # [1]
    scratch: Records,  # [1]
    found: NDArray[np.float64],  # [B] the probabilities of winning
) -> None:
    for k in range(len(rows)):
        found[k] = 1.0 / (1.0 + exp(-forward(rows[k], examples, weights[0], scratch[0])))


@uncounted_loop
def step(
    begin: int,
    end: int,
    decayed: int,  # the first so many weights are decayed and clipped
    weights: Floats,  # [W], of which those from `begin` to `end` make a step
    gradients: Floats,  # [parts, W], which become zero
    means: Floats,  # [W] of the gradients
    squares: Floats,  # [W]
    settings: Step,
) -> None:
    """A step of Adam with decoupled weight decay."""
    for k in range(1, len(gradients)):
        for i in range(begin, end):
            gradients[0, i] += gradients[k, i]
            gradients[k, i] = ZERO
    for i in range(begin, end):
        g = gradients[0, i] * settings.scale
        gradients[0, i] = ZERO
        mean, square = BETA1 * means[i] + FRESH1 * g, BETA2 * squares[i] + FRESH2 * (g * g)
        mean = ZERO if abs(mean) < DENORMAL else mean
        square = ZERO if square < DENORMAL else square
        means[i], squares[i] = mean, square
        change = mean * settings.unbias1 / (np.sqrt(square * settings.unbias2) + EPSILON)
        if i < decayed:
            w = weights[i] - settings.rate * (change + settings.decay * weights[i])
            weights[i] = min(max(w, -settings.clip), settings.clip)
        else:
            weights[i] -= settings.rate * change
