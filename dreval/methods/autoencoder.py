"""Autoencoders: a network that reconstructs its input, and the variational one."""

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


MIN_NOISE_VARIANCE = 1e-6  # of the noise, in mean variances of a column
MAX_LOG_VARIANCE = 10.0  # bound of the logarithm of the variance of a code, by 10 tanh(u / 10)


@method(
    title="Variational autoencoder",
    family="neural",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(epochs n w) time with w weights, O(n p + w) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@kingma2014, Eq. 10 and Appendices B and C.",
    rotation="read",
)
class VAE(Encoder):
    r"""VAE: a latent variable model whose posterior is given by a network.

    The model is :math:`z \sim N(0, I_d)`, :math:`x \mid z \sim N(g(z), s^2 I_p)`; the posterior is approximated by
    :math:`q(z \mid x) = N(m(x), \mathrm{diag}\, t^2(x))`. The encoder gives m and log t^2, the decoder g (tanh in the
    hidden layers, affine at their ends). With one draw :math:`z = m + t \epsilon` for each row and step, the mean over
    the rows of the negative evidence bound

    .. math:: \tfrac p2 \log 2\pi s^2 + \frac{|x - g(z)|^2}{2 s^2}
        + \tfrac12 \sum_j (m_j^2 + t_j^2 - \log t_j^2 - 1)

    is minimized by Adam on random batches, with steps that shrink to 0.

    Parameters
    ----------
    n_components : int
        Number d of latent variables, at most min(n - 1, p).
    %(training)s
    random_state : int, Generator or None
        Seed of the first weights, the batches and the draws.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Posterior means m. A latent variable that the model does not use has the prior as its posterior, which gives a
        column near 0.
    noise_variance_ : float
        s^2, in mean variances of a column, at least 1e-6.
    loss_ : ndarray (n_epochs_,)
        Mean negative evidence bound of a row in each round, in units in which the mean variance of a column is 1.
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
    dreval.methods.Autoencoder : the network without a prior.
    dreval.methods.ProbabilisticPCA : the linear model.
    dreval.methods.GPLVM : a Gaussian process in place of a network.

    Notes
    -----
    %(cost)s

    The noise variance is learned with the networks, so that no weight between the two terms has to be chosen. One
    factor scales all columns, so that the unit of the data does not matter. The first weights meet the columns as they
    are, so that with one seed rotated data give another embedding. The logarithm of t^2 is kept within 10 of 0.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=100, random_state=0).data
    >>> vae = dreval.methods.VAE(n_components=2, n_epochs=50, random_state=0).fit(X)
    >>> bool(vae.loss_[-1] < vae.loss_[0]), vae.inverse_transform(vae.embedding_).shape
    (True, (100, 3))
    """

    n_components: int = 2
    _: KW_ONLY
    hidden: Sequence[int] = (64, 32)
    n_epochs: int | None = None
    batch_size: int = 64
    learning_rate: float = 0.01
    random_state: int | np.random.Generator | None = None

    _codes = 2
    _extra = (0.0,)

    def _fit(self, X: FloatArray) -> None:
        super()._fit(X)
        self.noise_variance_ = float(_noise(self._parts(self._theta)[2][0])[0])

    def _loss(self, theta: FloatArray, rows: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        (n, p), d = rows.shape, self.n_components
        encoder, decoder, extra = self._parts(theta)
        down = forward(encoder, rows, self._widths[0])
        means, squashed = down[-1][:, :d], np.tanh(down[-1][:, d:] / MAX_LOG_VARIANCE)
        draws = rng.standard_normal((n, d)) * np.exp(0.5 * MAX_LOG_VARIANCE * squashed)
        up = forward(decoder, means + draws, self._widths[1])
        miss, (noise, share) = up[-1] - rows, _noise(extra[0])
        missed, variances = np.sum(miss**2) / n, np.exp(MAX_LOG_VARIANCE * squashed)
        prior = 0.5 * np.sum(means**2 + variances - MAX_LOG_VARIANCE * squashed - 1.0) / n
        value = 0.5 * (p * np.log(2.0 * np.pi * noise) + missed / noise) + prior
        in_decoder, in_codes = backward(decoder, up, miss / (n * noise), self._widths[1])
        in_logs = (0.5 * in_codes * draws + 0.5 * (variances - 1.0) / n) * (1.0 - squashed**2)
        in_means = in_codes + means / n
        in_encoder, _ = backward(encoder, down, np.hstack([in_means, in_logs]), self._widths[0])
        in_noise = 0.5 * (p - missed / noise) * share
        return float(value), np.concatenate([in_encoder, in_decoder, [in_noise]])


def _noise(log: float) -> tuple[float, float]:
    """Return the noise variance exp(log) + the minimum, and the derivative of its logarithm."""
    excess = np.exp(min(log, 50.0))
    return excess + MIN_NOISE_VARIANCE, excess / (excess + MIN_NOISE_VARIANCE)
