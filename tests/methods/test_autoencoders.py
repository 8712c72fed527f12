"""Autoencoder and VAE: gradients by differences, Adam and the evidence bound by plain twins, and known solutions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal, norm

import dreval
from dreval.errors import InputError, MethodFailed
from dreval.methods import PCA, VAE, Autoencoder
from dreval.methods._networks import adam_step

CLASSES = [Autoencoder, VAE]
each_class = pytest.mark.parametrize("cls", CLASSES)


def _initialized(cls, X, hidden, d, seed):
    """Return a method whose networks were created by a short fit, and random parameters for them."""
    net = cls(d, hidden=hidden, n_epochs=1, random_state=seed).fit(X)
    return net, np.random.default_rng(seed).normal(scale=0.5, size=net._theta.shape)


@each_class
@given(st.integers(0, 10**6), st.sampled_from([(), (4,), (5, 3)]), st.integers(1, 2))
def test_gradients_are_those_of_differences(cls, seed, hidden, d):
    """In every weight, offset and further number, to 1e-6 of the largest."""
    X = np.random.default_rng(seed).normal(size=(6, 3))
    net, theta = _initialized(cls, X, hidden, d, seed)

    def value(t):
        return net._loss(t, X, np.random.default_rng(3))[0]

    gradient, h = net._loss(theta, X, np.random.default_rng(3))[1], 1e-5
    numeric = [(value(theta + h * e) - value(theta - h * e)) / (2 * h) for e in np.eye(len(theta))]
    assert_allclose(gradient, numeric, atol=1e-6 * max(np.abs(gradient).max(), 1.0))


def _plain_network(weights, x):
    *hidden, (W, b) = weights
    for V, c in hidden:
        x = np.tanh(x @ V + c)
    return x @ W + b


def _weights(theta, widths):
    at, out = 0, []
    for a, b in pairwise(widths):
        out.append((theta[at : at + a * b].reshape(a, b), theta[at + a * b : at + a * b + b]))
        at += (a + 1) * b
    return out


def test_the_loss_of_the_autoencoder_by_hand():
    """Half the mean squared difference of the data and the output of a plain network."""
    X = np.random.default_rng(0).normal(size=(6, 3))
    net, theta = _initialized(Autoencoder, X, (4,), 2, 0)
    encoder, decoder = _weights(theta[:26], (3, 4, 2)), _weights(theta[26:], (2, 4, 3))
    back = _plain_network(decoder, _plain_network(encoder, X))
    assert net._loss(theta, X, None)[0] == pytest.approx(0.5 * np.mean((X - back) ** 2))


def test_the_loss_of_the_vae_is_the_evidence_bound():
    """Minus log p(x | z) of normal densities, plus the divergence KL(q, prior) by quadrature."""
    X = np.random.default_rng(0).normal(size=(5, 3))
    net, theta = _initialized(VAE, X, (4,), 1, 0)
    encoder, decoder, (log,) = _weights(theta[:26], (3, 4, 2)), _weights(theta[26:49], (1, 4, 3)), theta[49:]
    codes, draw = _plain_network(encoder, X), np.random.default_rng(3).standard_normal((5, 1))
    means, sds = codes[:, :1], np.exp(5 * np.tanh(codes[:, 1:] / 10))
    back = _plain_network(decoder, means + sds * draw)
    total = 0.0
    for x, y, m, s in zip(X, back, means[:, 0], sds[:, 0], strict=True):
        grid = np.linspace(m - 12 * s, m + 12 * s, 20001)
        q = norm(m, s).pdf(grid)
        divergence = np.trapezoid(q * (norm(m, s).logpdf(grid) - norm.logpdf(grid)), grid)
        total += divergence - multivariate_normal(y, (np.exp(log) + 1e-6) * np.eye(3)).logpdf(x)
    assert net._loss(theta, X, np.random.default_rng(3))[0] == pytest.approx(total / 5, rel=1e-6)


def test_adam_by_hand():
    """The first step has the length of the rate for any slope; the second follows the printed recursion."""
    theta, means = np.array([1.0, -2.0]), np.zeros((2, 2))
    adam_step(theta, np.array([0.5, -30.0]), means, 1, 0.1)
    assert_allclose(theta, [0.9, -1.9], rtol=1e-7)
    expected = theta[0]
    adam_step(theta, np.array([1.0, 0.0]), means, 2, 0.1)
    m = (0.9 * 0.1 * 0.5 + 0.1 * 1.0) / (1 - 0.9**2)
    v = (0.999 * 0.001 * 0.25 + 0.001 * 1.0) / (1 - 0.999**2)
    assert theta[0] == pytest.approx(expected - 0.1 * m / (np.sqrt(v) + 1e-8), rel=1e-12)


def test_without_hidden_layers_it_finds_the_principal_plane():
    """The network reaches the error of PCA, which is the best affine one, to 1 %."""
    X = np.random.default_rng(0).normal(size=(100, 5)) * [3.0, 2.0, 1.0, 0.5, 0.5]
    net, pca = Autoencoder(2, hidden=(), random_state=0).fit(X), PCA(2).fit(X)
    errors = [((X - m.inverse_transform(m.embedding_)) ** 2).sum() for m in (net, pca)]
    assert errors[1] <= errors[0] < 1.01 * errors[1]


def test_the_vae_without_hidden_layers_is_probabilistic_pca():
    """Its noise variance comes within a tenth of the closed form, and its means span the principal plane."""
    X = np.random.default_rng(0).normal(size=(200, 5)) * [3.0, 2.0, 0.5, 0.5, 0.5]
    vae = VAE(2, hidden=(), n_epochs=1000, random_state=0).fit(X)
    closed = dreval.methods.ProbabilisticPCA(2).fit(X)
    assert vae.noise_variance_ * X.var(axis=0).mean() == pytest.approx(closed.noise_variance_, rel=0.1)
    assert dreval.latent_r2(vae.embedding_, latent=closed.embedding_) > 0.99


@each_class
def test_bent_data_are_reconstructed_better_than_by_principal_components(cls):
    """A curve in ten dimensions: less than a fifth of the error of one principal component."""
    t = np.random.default_rng(0).uniform(-2, 2, size=(150, 1))
    X = np.sin(t @ np.linspace(0.3, 1.5, 10)[None] + np.arange(10))
    net, pca = cls(1, random_state=0).fit(X), PCA(1).fit(X)
    errors = [((X - m.inverse_transform(m.embedding_)) ** 2).sum() for m in (net, pca)]
    assert errors[0] < 0.2 * errors[1]


@each_class
def test_new_rows_go_through_the_encoder(cls):
    """The fitted rows get the embedding; the place of a row does not depend on the other rows."""
    X = np.random.default_rng(0).normal(size=(70, 4))
    net = cls(2, n_epochs=5, random_state=0).fit(X)
    assert_array_equal(net.transform(X), net.embedding_)
    assert_allclose(net.transform(X[3:4]), net.embedding_[3:4], atol=1e-12)
    assert net.loss_.shape == (5,)


@each_class
def test_the_seed_has_an_effect(cls):
    """The same seed gives the same numbers, another seed does not; batches and rounds have an effect."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    settings = [{}, {}, {"random_state": 1}, {"batch_size": 7}, {"n_epochs": 6}, {"learning_rate": 0.02}]
    embeddings = [cls(2, **({"n_epochs": 5, "random_state": 0} | options)).fit_transform(X) for options in settings]
    assert_array_equal(embeddings[0], embeddings[1])
    assert len({embedding.tobytes() for embedding in embeddings}) == 5


def test_rounds_by_default():
    """3000 steps, within 100 and 600 rounds."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    rounds = [Autoencoder(2, hidden=(), batch_size=size).fit(X).n_epochs_ for size in (90, 9, 1)]
    assert rounds == [600, 300, 100]


@each_class
@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"hidden": 8}, "`hidden` must be a list of integers"),
        ({"hidden": (8, 0)}, "`hidden` must be an integer >= 1"),
        ({"n_epochs": 0}, "`n_epochs`"),
        ({"batch_size": 0}, "`batch_size`"),
        ({"learning_rate": 0.0}, "`learning_rate` must be above 0"),
    ],
)
def test_illegal_parameters_raise_an_error(cls, parameters, match):
    """The error names the argument."""
    with pytest.raises(InputError, match=match):
        cls(**parameters).fit(np.random.default_rng(0).normal(size=(10, 3)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_class
def test_diverging_training_raises_an_error(cls):
    """Steps of 1e200 overflow, and the error has a hint."""
    with pytest.raises(MethodFailed, match="smaller"):
        cls(2, n_epochs=5, learning_rate=1e200).fit(np.random.default_rng(0).normal(size=(10, 3)))
