"""The autoencoder: a network that reconstructs its inputs through a narrow layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY

import numpy as np

from dreval.methods._method import FloatArray, method
from dreval.methods._networks import Encoder, backward, forward


@method(
    title="Autoencoder",
    family="neural",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(epochs n w) time with w weights, O(n p + w) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@kramer1991.",
    rotation="read",
)
class Autoencoder(Encoder):
    r"""Autoencoder: coordinates from which a network can reconstruct the data.

    An encoder f and a decoder g, multilayer perceptrons that mirror each other (tanh in the hidden layers, affine at
    their ends), minimize the mean squared error,

    .. math:: \frac1{2 n p} \sum_i |x_i - g(f(x_i))|^2,

    by Adam on random batches, with steps that shrink to 0. Without hidden layers the best networks span the plane of
    the principal components.

    Parameters
    ----------
    n_components : int
        Number d of units in the bottleneck layer, at most min(n - 1, p).
    %(training)s
    random_state : int, Generator or None
        Seed of the first weights and of the batches.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Codes f(x). Their scale, direction and curvature are arbitrary, since another decoder could undo them.
    loss_ : ndarray (n_epochs_,)
        Mean loss of each round, in units in which the mean variance of a column is 1.
    n_epochs_ : int
        Number of rounds.

    Raises
    ------
    InputError
        If a parameter is out of its range.
    MethodFailed
        If the steps are so long that numbers overflow.

    See Also
    --------
    dreval.methods.VAE : the probabilistic counterpart, with a normal prior on the codes.
    dreval.methods.PCA : the linear case.
    dreval.methods.ParametricTSNE : a network that is trained to keep neighbors.

    Notes
    -----
    %(cost)s

    One factor scales all columns, so that the unit of the data does not matter. The first weights meet the columns as
    they are: with one seed, rotated data give another embedding, as the same data do with another seed. Gradients are
    computed by backpropagation without a framework; the same seed gives the same numbers on one machine.

    References
    ----------
    %(reference)s
    Kingma, D. P., Ba, J. (2015). Adam: a method for stochastic optimization. *ICLR*, Algorithm 1.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=100, random_state=0).data
    >>> net = dreval.methods.Autoencoder(n_components=2, n_epochs=50, random_state=0).fit(X)
    >>> bool(net.loss_[-1] < net.loss_[0]), net.inverse_transform(net.embedding_).shape
    (True, (100, 3))
    """

    n_components: int = 2
    _: KW_ONLY
    hidden: Sequence[int] = (64, 32)
    n_epochs: int | None = None
    batch_size: int = 64
    learning_rate: float = 0.01
    random_state: int | np.random.Generator | None = None

    def _loss(self, theta: FloatArray, rows: FloatArray, _: np.random.Generator) -> tuple[float, FloatArray]:
        encoder, decoder, _ = self._parts(theta)
        down = forward(encoder, rows, self._widths[0])
        up = forward(decoder, down[-1], self._widths[1])
        miss = up[-1] - rows
        in_decoder, in_codes = backward(decoder, up, miss / miss.size, self._widths[1])
        in_encoder, _ = backward(encoder, down, in_codes, self._widths[0])
        return float(0.5 * np.mean(miss**2)), np.concatenate([in_encoder, in_decoder])
