"""Permutations by counter, and inner products of one symmetric matrix with another under permutation."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_RANGE = np.uint64(0x100000000)
_ONE, _S27, _S30, _S31, _S32 = np.uint64(1), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@loop()
def mix(z):
    """The output function of splitmix64 (Steele, Lea & Flood 2014): a bijection of 64-bit integers."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@loop()
def draw_permutations(key, start, stop, n):
    """Permutations ``start`` to ``stop - 1`` of 0..n-1 as rows; row b depends on ``key`` and b only.

    Permutation b has a splitmix64 sequence of its own, started at ``mix(key ^ mix(b + 1))``; Fisher-Yates with
    unbiased bounded integers (Lemire 2019).
    """
    out = np.empty((stop - start, n), np.uint32)
    for b in range(start, stop):
        state = mix(key ^ mix(np.uint64(b) + _ONE))
        p = out[b - start]
        for i in range(n):
            p[i] = i
        for i in range(n - 1, 0, -1):
            bound = np.uint64(i) + _ONE
            state += _GOLDEN
            product = (mix(state) >> _S32) * bound
            if (product & _LOW) < bound:
                reject = (_RANGE - bound) % bound
                while (product & _LOW) < reject:
                    state += _GOLDEN
                    product = (mix(state) >> _S32) * bound
            j = product >> _S32
            p[i], p[j] = p[j], p[i]
    return out


@loop()
def permuted_inner_products(a, b, permutations):
    """``sum_ij a[i, j] * b[p[i], p[j]]`` for every row p of ``permutations``; ``a`` and ``b`` are symmetric.

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
