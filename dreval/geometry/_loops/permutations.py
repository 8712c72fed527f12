"""Permutations by counter, and inner products of matrices, or of distances on a line, under permutation."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_RANGE = np.uint64(0x100000000)
_UINT64_ONE, _S27, _S30, _S31, _S32 = np.uint64(1), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@loop()
def mix(z):
    """Return the output function of splitmix64 (Steele, Lea & Flood 2014): a bijection of 64-bit integers."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@loop()
def shuffle(p, low, high, state):
    """Shuffle ``p[low:high]`` in place (Fisher-Yates, unbiased bounded integers by Lemire 2019); return the state."""
    for i in range(high - low - 1, 0, -1):
        bound = np.uint64(i) + _UINT64_ONE
        state += _GOLDEN
        product = (mix(state) >> _S32) * bound
        if (product & _LOW) < bound:
            reject = (_RANGE - bound) % bound
            while (product & _LOW) < reject:
                state += _GOLDEN
                product = (mix(state) >> _S32) * bound
        j = low + np.int64(product >> _S32)
        p[low + i], p[j] = p[j], p[low + i]
    return state


@loop()
def draw_permutations(key, start, stop, n):
    """Draw permutations ``start`` to ``stop - 1`` of 0..n-1 as rows; row b depends on ``key`` and b only.

    Permutation b has its own splitmix64 sequence, started at ``mix(key ^ mix(b + 1))``.
    """
    out = np.empty((stop - start, n), np.uint32)
    for b in range(start, stop):
        p = out[b - start]
        for i in range(n):
            p[i] = i
        shuffle(p, 0, n, mix(key ^ mix(np.uint64(b) + _UINT64_ONE)))
    return out


@loop()
def class_sums(values, codes, permutation, count):
    """Return sums (count, r) of the rows of ``values`` by the class of the row that a permutation assigns to them."""
    sums = np.zeros((count, values.shape[1]))
    for i in range(values.shape[0]):
        class_sum = sums[codes[permutation[i]]]
        for a in range(values.shape[1]):
            class_sum[a] += values[i, a]
    return sums


@loop()
def draw_within(key, start, stop, members, ends):
    """Draw permutations that move rows within their block only; row b depends on ``key`` and b only.

    ``members`` are the rows by block; block g ends at ``ends[g]``.
    """
    out = np.empty((stop - start, len(members)), np.uint32)
    p = np.empty(len(members), np.uint32)
    for b in range(start, stop):
        state = mix(key ^ mix(np.uint64(b) + _UINT64_ONE))
        p[:] = members
        low = 0
        for high in ends:
            state = shuffle(p, low, high, state)
            low = high
        for i in range(len(members)):
            out[b - start, members[i]] = p[i]
    return out


@loop()
def permuted_inner_products(a, b, permutations):
    """Return ``sum_ij a[i, j] * b[p[i], p[j]]`` for every row p of ``permutations``; both are symmetric.

    A row of ``a`` is read once for all permutations and stays in cache with the gathered row of ``b``. Four running
    sums keep the processor busy; the order of additions does not depend on how many permutations there are.
    """
    m, n = permutations.shape
    out = np.zeros(m)
    for i in range(n):
        row_a = a[i]
        whole = i // 4 * 4
        for k in range(m):
            p = permutations[k]
            row_b = b[p[i]]
            s0 = s1 = s2 = s3 = 0.0
            for j in range(0, whole, 4):
                s0 += row_a[j] * row_b[p[j]]
                s1 += row_a[j + 1] * row_b[p[j + 1]]
                s2 += row_a[j + 2] * row_b[p[j + 2]]
                s3 += row_a[j + 3] * row_b[p[j + 3]]
            for j in range(whole, i):
                s0 += row_a[j] * row_b[p[j]]
            out[k] += 2.0 * ((s0 + s1) + (s2 + s3)) + row_a[i] * row_b[p[i]]
    return out


@loop(fastmath={"reassoc", "contract"})
def permuted_inner_products_of_pairs(a, b, permutations):
    """Return ``permuted_inner_products(a[v], b[u], permutations)`` for every pair of matrices, as (m, len(a), len(b)).

    A row of b is gathered once for all matrices of ``a``. Sums of products of contiguous rows may be reordered by the
    compiler, in the same way for every permutation.
    """
    m, n = permutations.shape
    out = np.zeros((m, len(a), len(b)))
    gathered = np.empty(n)
    for u in range(len(b)):
        for i in range(n):
            for k in range(m):
                p = permutations[k]
                row_b = b[u, p[i]]
                for j in range(i):
                    gathered[j] = 2.0 * row_b[p[j]]
                gathered[i] = row_b[p[i]]
                for v in range(len(a)):
                    row_a = a[v, i]
                    s = 0.0
                    for j in range(i + 1):
                        s += row_a[j] * gathered[j]
                    out[k, v, u] += s
    return out


@loop()
def permuted_products(kernels, permutations):
    """Return ``sum_ij prod_k kernels[k][p_k(i), p_k(j)]`` for every set of permutations p_1, ...; p_0 is the identity.

    ``kernels`` is (d, n, n), each symmetric; ``permutations`` is (m, d - 1, n).
    """
    d, n = kernels.shape[0], kernels.shape[1]
    m = len(permutations)
    out = np.zeros(m)
    product = np.empty(n)
    for k in range(m):
        total = 0.0
        for i in range(n):
            product[: i + 1] = kernels[0, i, : i + 1]
            for v in range(1, d):
                p = permutations[k, v - 1]
                row = kernels[v, p[i]]
                for j in range(i + 1):
                    product[j] *= row[p[j]]
            s = 0.0
            for j in range(i):
                s += product[j]
            total += 2.0 * s + product[i]
        out[k] = total
    return out


@loop()
def permuted_block_sums(a, members):
    """Return ``sum_ij a[q_i, q_j]`` for every row q of ``members``; ``a`` is symmetric."""
    out = np.zeros(len(members))
    for k in range(len(members)):
        q = members[k]
        total = 0.0
        for i in range(len(q)):
            row = a[q[i]]
            s = 0.0
            for j in range(i):
                s += row[q[j]]
            total += 2.0 * s + row[q[i]]
        out[k] = total
    return out


@loop()
def permuted_line_sums(x, order, y, rank, weights, means, permutations):
    """Return ``sum_j x[j] g_j - weights[j] means[p[order[j]]]`` for every row p of ``permutations``, in O(n log n).

    g_j is the sum over i < j of the distances between y[p[order[j]]] and y[p[order[i]]]. If the entries of ``x``
    ascend, ``sum_j x[j] g_j`` gives the sum over all pairs of products of distances (``line_pair`` in
    ``significance/dcov.py``). ``rank`` is the place of each entry of ``y`` in ascending order; equal entries may have
    any order. A Fenwick tree holds the number and the sum of the smaller entries so far (Huo & Szekely 2016).
    """
    m, n = permutations.shape
    out = np.empty(m)
    tree = np.empty((n + 1, 2))
    for k in range(m):
        p = permutations[k]
        tree[:] = 0.0
        total, so_far = 0.0, 0.0
        for j in range(n):
            row = p[order[j]]
            value = y[row]
            count, smaller = 0.0, 0.0
            node = rank[row]
            while node > 0:
                count += tree[node, 0]
                smaller += tree[node, 1]
                node &= node - 1
            total += x[j] * (value * (2.0 * count - j) + so_far - 2.0 * smaller) - weights[j] * means[row]
            so_far += value
            node = rank[row] + 1
            while node <= n:
                tree[node, 0] += 1.0
                tree[node, 1] += value
                node += node & -node
        out[k] = total
    return out


def plain_line_sums(x, order, y, weights, means, permutations):
    """Return the values of ``permuted_line_sums`` by its definition."""
    out = []
    for p in permutations:
        moved = y[p[order]]
        sums = [np.abs(moved[j] - moved[:j]).sum() for j in range(len(x))]
        out.append(x @ np.array(sums) - weights @ means[p[order]])
    return np.array(out)
