"""JSON of every kind but the right one."""

from typing import Any

from hypothesis import strategies as st


def anything(names: str, *values: object) -> st.SearchStrategy[Any]:
    """Values of any kind, some of them those given, in objects whose fields have these names."""
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    fields = st.sampled_from(names.split())
    return st.recursive(
        plain | st.sampled_from([*values, 10**400]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=5),
        max_leaves=12,
    )
