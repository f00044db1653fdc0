"""Ablation: a policy without one signal of its evidence, the others scaled up, or without tidying."""

from dataclasses import replace

from lore.ranking.fuse import without
from lore.ranking.policy import Policy, policy_named


def ablated(name: str) -> dict[str, Policy]:
    """By what each of them leaves out. A signal is still there, with a weight of 0: others may need it."""
    whole = policy_named(name)
    parts = {
        f"without {signal}": replace(whole, evidence=without(whole.evidence, [signal]) | {signal: 0.0})
        for signal in whole.evidence
    }
    return parts | ({"without tidy": replace(whole, tidy=False)} if whole.tidy else {})
