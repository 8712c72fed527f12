"""What the docstrings of several methods say in the same words: a line ``%(name)s`` of a docstring stands for it."""

from __future__ import annotations

__all__ = ["WORDS"]

WORDS: dict[str, str] = {
    "affinities": """\
n_affinities : int, optional
    Number of neighbors that have affinities; by default three times the perplexity, rounded up. n - 1 takes all.""",
    "bandwidth": """\
bandwidth : float, optional
    Length-scale of the kernel, in the unit of the data; by default the median rule.""",
    "components": """\
components : {"error", "connect", "largest", "separate"}
    What to do when the graph of neighbors is not connected: refuse; join the parts by their shortest links; embed
    the largest part and set other points on the nearest point of it, new ones too where the nearest fitted point is
    such; or embed each part by itself, side by side. All but the first warn. With the last two, of a graph in parts,
    ``embedding_`` and ``part_`` (n,), the part of each point (-1: left out), are of all points; all other attributes
    below are those of ``parts_``, fitted copies, the largest first (None where too small).""",
    "descent": """\
max_iter : int
    Iterations of L-BFGS in each stage.
tol : float
    Ends when an iteration lowers the cost by less than ``tol`` times the larger of its size and 1.""",
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
    neighbor is held by nothing: each such point adds an embedding that shows it alone, with eigenvalue 0.""",
    "init": """\
init : {"pca", "random"} or ndarray (n, d)
    Start: leading principal scores or noise, with standard deviation 1e-4 in the first coordinate (and 1 % of noise
    beside "pca"); or the given embedding as it is.""",
    "kernel": """\
kernel : {"gaussian", "laplace", "rational_quadratic", "linear", "precomputed"}
    Kernel of the data, see ``dreval.geometry.kernels.gram_matrix``. With "precomputed" X is the (n, n) matrix.""",
    "n_neighbors": """\
n_neighbors : int
    Number k of neighbors, 1 to n - 1; the point itself is not counted.""",
    "n_slices": """\
n_slices : int, optional
    Number H of slices of a numeric response, 2 to n / 2; by default 10, or n / 2 where that is less. The points are
    sorted by the response and cut into H runs of nearly equal size; equal responses are never parted, so that with
    ties there may be fewer. Not used for classes, each of which is a slice.""",
    "normalize": """\
normalize : {"unit", "sqrt_n"}
    Length of each column of the embedding: 1 (Y'Y is the identity) or sqrt(n) (as covariance).""",
    "null_space": """\
embedding_ : ndarray (n, d)
    Coordinates: orthogonal columns of mean 0; in each the entry of largest size is positive.
eigenvalues_ : ndarray (d,)
    Eigenvalues of the matrix above, ascending, the constant's left out.""",
    "perplexity": """\
perplexity : float
    Effective number of neighbors, at least 1; with more than (n - 1) / 3 that is taken, with a warning.""",
    "perplexity_warns": """\
ApproximationWarning
    If the perplexity is too much for so few points.""",
    "embedding": """\
embedding_ : ndarray (n, d)
    Coordinates: centered, along their principal axes, the entry of largest size in each column positive; with a
    given start as they come out.""",
    "response_raises": """\
InputError
    If a parameter is out of its range, or the response ``y`` is missing, constant, or has more classes than n / 2.
    Text, booleans and integers are classes, floats are numbers: pass integers that count or measure as
    ``y.astype(float)``.""",
    "response_warns": """\
DegenerateDataWarning
    If ``y`` holds more than 20 integers, and more than n / 10: they were taken as classes.""",
    "response_scores": """\
embedding_ : ndarray (n, d)
    Scores, uncorrelated with variance 1 (divisor n); in each column the entry of largest size is positive. Columns
    beyond the rank of the centered data are 0.""",
    "rigid_neighborhoods": """\
n_neighbors : int
    Number k of neighbors, 1 to n - 1; a neighborhood is the point and its neighbors.""",
    "rigid_picture": """\
embedding_ : ndarray (n, d)
    Coordinates on the scale of the data, centered, on their principal axes; in each column the entry of largest size
    is positive.""",
    "rounds": """\
max_iter : int
    Largest number of rounds of refinement, at least 0.
tol : float
    Rounds end when R falls by no more than this share of its start.""",
    "settled": """\
n_iter_ : int
    Iterations, those of all stages together.
converged_ : bool
    Whether the last stage met ``tol``, or could not lower the cost any more, before its iterations were used up.""",
    "settled_of_starts": """\
n_iter_ : int
    Iterations of the start that was kept, those of all stages together.
converged_ : bool
    Whether its last stage met ``tol``, or could not lower the cost any more, before its iterations were used up.""",
    "settled_warns": """\
ApproximationWarning
    If the iterations were used up while the cost still fell.""",
    "unsettled": """\
``converged_`` says whether the iterations were enough; that they are used up is no reason for a warning here, since a
cost of t-SNE may have no minimum, and often falls by little for long.""",
    "training": """\
hidden : tuple of int
    Widths of the hidden layers of the encoder; those of the decoder are the same backwards.
n_epochs : int, optional
    Rounds over the rows; by default as many as make 3000 steps, but 100 to 600.
batch_size : int
    Largest number of rows of one step.
learning_rate : float
    Length of the first steps, above 0.""",
    "without_chance": """\
random_state : int, Generator or None
    Not used: the answer does not depend on chance.""",
}
