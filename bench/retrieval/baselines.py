"""Baselines: BM25 alone, an embedder alone, and both fused by rank."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import bm25s
import numpy as np
import Stemmer

from bench.retrieval.data import Group, Question
from lore.embed import open_embedder

RRF = 60
MANY = 100


@dataclass
class Baselines:
    """Over "speaker: text" of each item, without any of its surroundings."""

    group: Group
    model: str
    names: tuple[str, ...] = ("bm25", "dense", "rrf")
    _stemmer: Stemmer.Stemmer = field(default_factory=lambda: Stemmer.Stemmer("english"))

    def __post_init__(self) -> None:
        texts = [f"{item.speaker}: {item.text}" if item.speaker else item.text for item in self.group.items]
        self._ids = [item.id for item in self.group.items]
        self._seqs = np.array([item.seq for item in self.group.items])
        self._words = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
        self._words.index(self._tokens(texts), show_progress=False)
        self._embedder = open_embedder(self.model)
        self._vectors = self._embedder.embed(texts)

    def ranked(self, question: Question) -> dict[str, list[str]]:
        """name -> the items, best first."""
        seen = self._seqs < (np.inf if question.max_seq is None else question.max_seq)
        tokens = self._tokens([question.query])
        found = self._words.get_scores(tokens[0]) if tokens[0] else np.zeros(len(self._ids))
        words = np.where(seen, found, -np.inf)
        meaning = np.where(seen, self._vectors @ self._embedder.embed_query(question.query), -np.inf)
        fused = sum(
            1 / (RRF + 1 + np.argsort(np.argsort(-scores, kind="stable"))) for scores in (words, meaning)
        )
        every = {"bm25": words, "dense": meaning, "rrf": np.where(seen, fused, -np.inf)}
        return {name: self._best(scores) for name, scores in every.items()}

    def _best(self, scores: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[str]:
        order = np.argsort(-scores, kind="stable")[:MANY]
        return [self._ids[at] for at in order if np.isfinite(scores[at])]

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        tokenized: list[list[str]] = bm25s.tokenize(
            list(texts), stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokenized
