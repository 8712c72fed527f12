"""What the docstrings of several methods say in the same words: a line ``%(name)s`` of a docstring stands for it."""

from __future__ import annotations

__all__ = ["WORDS"]

WORDS: dict[str, str] = {
    "components": """\
components : {"error", "connect", "largest", "separate"}
    What to do when the graph of neighbors is not connected: refuse; join the parts by their shortest links; embed
    the largest part and set other points on the nearest point of it; or embed each part by itself, side by side
    (fitted copies in ``parts_``). All but the first warn.""",
    "graph_raises": """\
InputError
    If a parameter is out of its range.
MethodFailed
    If the graph is not connected and ``components="error"``.
UnknownName
    If a word is not one of those listed.""",
    "graph_warns": """\
ApproximationWarning
    If the graph is not connected, and what was done about it.""",
    "include_self": """\
include_self : bool
    Whether the point itself belongs to its neighborhood. Without it, as in scikit-learn, a point that is nobody's
    neighbor is held by nothing: each such point adds a picture that shows it alone, with eigenvalue 0.""",
    "n_neighbors": """\
n_neighbors : int
    Number k of neighbors, 1 to n - 1; the point itself is not counted.""",
    "normalize": """\
normalize : {"unit", "sqrt_n"}
    Length of each column of the embedding: 1 (Y'Y is the identity) or sqrt(n) (as covariance).""",
    "null_space": """\
embedding_ : ndarray (n, d)
    Coordinates: orthogonal columns of mean 0; in each the entry of largest size is positive.
eigenvalues_ : ndarray (d,)
    Eigenvalues of the matrix above, ascending, the constant's left out.""",
    "rigid_neighborhoods": """\
n_neighbors : int
    Number k of neighbors, 1 to n - 1; a neighborhood is the point and its neighbors.""",
    "rigid_picture": """\
embedding_ : ndarray (n, d)
    Coordinates on the scale of the data, centred, on their principal axes; in each column the entry of largest size
    is positive.""",
    "rounds": """\
max_iter : int
    Largest number of rounds of refinement, at least 0.
tol : float
    Rounds end when R falls by no more than this share of its start.""",
    "without_chance": """\
random_state : int, Generator or None
    Not used: the answer does not depend on chance.""",
}
