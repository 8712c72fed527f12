"""Rows whose lists of k + 1 neighbors lose one point: the next one comes in, and ranks beyond the point fall by one."""

from __future__ import annotations

from dreval.geometry._loops._jit import loop


@loop()
def penalty_changes(nearest, ranks, k, change):
    """Add for each listed point what the row's penalty changes by without it, where ``change`` counts what it is not.

    ``change`` (n,) comes with minus the number of the row's penalties that fall where the set of neighbors stays.
    """
    for i in range(nearest.shape[0]):
        for t in range(k):
            own, total = ranks[i, t], 0
            for u in range(k + 1):
                rank = ranks[i, u]
                if u != t:
                    total += max(rank - (own < rank) - k, 0)
                if u < k and rank > k:
                    total += (own < rank) - (rank - k)
            change[nearest[i, t]] += total


@loop()
def common_changes(by_data, by_embedding, data_rank, embedding_rank, common, k, worth, change):
    """Add for each point that is a neighbor in either space what the worth of the row's common neighbors changes by."""
    for i in range(by_data.shape[0]):
        before, next_in = worth[common[i]], False
        for u in range(k):
            next_in |= data_rank[i, u] == k + 1
        for t in range(k):
            own, count = data_rank[i, t], 0
            for u in range(k + 1):
                rank = data_rank[i, u]
                count += u != t and rank - (own < rank) <= k
            change[by_embedding[i, t]] += worth[count] - before
            if next_in and embedding_rank[i, t] > k:  # the embedding set stays and gains a common one
                change[by_data[i, t]] += worth[common[i] + 1] - before
