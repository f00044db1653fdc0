"""Ablation: a policy without one of its signals, the others in proportion, and without its tidying."""

from dataclasses import replace

from lore.ranking.policy import Policy, policy_named


def ablated(name: str) -> dict[str, Policy]:
    """By what each of them leaves out."""
    whole = policy_named(name)
    parts = {f"without {signal}": _without(whole, signal) for signal in whole.weights}
    return parts | ({"without tidy": replace(whole, tidy=False)} if whole.tidy else {})


def _without(whole: Policy, signal: str) -> Policy:
    rest = {name: weight for name, weight in whole.weights.items() if name != signal}
    more = sum(whole.weights.values()) / sum(rest.values())
    return replace(whole, weights={name: weight * more for name, weight in rest.items()})
