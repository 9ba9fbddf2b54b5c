"""What imitation minimises and what it is measured by: small functions of a network's outputs, tested by hand.

Everywhere: `logits` [B, A], `legal` [B, A], `top` [B, K] the teacher's actions as outputs (0 where there are fewer) and
`policy` [B, K] its chances (0 there).
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import torch
from torch import Tensor, nn

from plyground.agents.teacher import UNIT
from plyground.networks import Network, Valued, entropy, masked

KS = (1, 3, 5)  # match@k is reported for these


def said(network: nn.Module, shown: Tensor, best: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """What a network says: logits [B, A], its outputs times `scale`; and the value [B] of the actions `best` [B].

    Logits are UNIT to one value, the teacher's own scale. A network with a value head says the state's value apart, and
    its outputs are logits as they are.
    """
    if isinstance(network, Network) and isinstance(network.head, Valued):
        return network.with_value(shown)
    logits = network(shown) * scale
    return logits, UNIT * logits.gather(1, best[:, None])[:, 0]


def policy_loss(logits: Tensor, legal: Tensor, top: Tensor, policy: Tensor, smooth: float) -> Tensor:
    """[B] cross-entropy to the teacher's policy over the legal actions; `smooth` of it is spread evenly over them."""
    logs = torch.log_softmax(masked(logits, legal), 1)
    teacher = _expected(policy, logs.gather(1, top))
    even = torch.where(legal, logs, 0.0).sum(1) / legal.sum(1)
    return -(1 - smooth) * teacher - smooth * even


def _expected(policy: Tensor, values: Tensor) -> Tensor:
    """[B] the mean of `values` [B, K] under the policy; what has no chance may be infinite."""
    return torch.where(policy > 0, policy * values, 0.0).sum(1)


def measures(logits: Tensor, legal: Tensor, top: Tensor, policy: Tensor) -> dict[str, Tensor]:
    """[B] each: whether the teacher's best action is among the network's k best, the Kullback-Leibler divergence from
    the teacher to the network, the network's entropy over legal actions and that of an even choice."""
    values = masked(logits, legal)
    best = values.gather(1, top[:, :1])  # [B, 1]
    indices = torch.arange(values.shape[1], device=values.device)
    ahead = ((values > best) | ((values == best) & (indices < top[:, :1]))).sum(1)  # of equal ones the lowest is played
    logs = torch.log_softmax(values, 1)
    found = {f"match@{k}": (ahead < k).float() for k in KS}
    found["kl"] = _expected(policy, policy.log() - logs.gather(1, top))
    found["entropy"], found["even_entropy"] = entropy(logits, legal), legal.sum(1).float().log()
    return found
