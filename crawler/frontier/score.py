"""The link score of Baker and Akcayol (2017): weights of a page's links to its own domain and to others.

Pure. The paper's equation is damaged in its scan; this reading fits every token that is left, and its worked
example.
"""

from __future__ import annotations

from dataclasses import dataclass

INTER_WEIGHT, INTRA_WEIGHT = 0.66, 0.33
SEED_SCORE = 1.0


@dataclass(frozen=True, slots=True)
class LinkScores:
    """The score of each link of a page to another registrable domain (`inter`) and to its own (`intra`)."""

    inter: float
    intra: float


def link_scores(
    inter: int, intra: int, inter_weight: float = INTER_WEIGHT, intra_weight: float = INTRA_WEIGHT
) -> LinkScores:
    """Compute LS = (alpha - beta) / alpha * theta; alpha = inter + intra, beta = min(inter, intra).

    `inter` and `intra` count the page's links to other registrable domains and to its own; theta is the
    weight of the class. Both scores are 0 for a page without links. Raises ValueError for negative counts.
    """
    if inter < 0 or intra < 0:
        raise ValueError(f"a page has no {inter} inter- and {intra} intra-domain links")
    alpha = inter + intra
    if alpha == 0:
        return LinkScores(0.0, 0.0)
    share = (alpha - min(inter, intra)) / alpha
    return LinkScores(share * inter_weight, share * intra_weight)
