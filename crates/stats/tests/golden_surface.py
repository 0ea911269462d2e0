#!/usr/bin/env python3
"""Writes tests/fixtures/factors/ordered_surface.json: what scikit-learn and numpy say of Gaussian processes over ordered levels.

Needs numpy and scikit-learn. Run it in crates/stats:

    python3 tests/golden_surface.py
"""

import itertools
import json
import pathlib

import numpy
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel

SEED = 23


class Levels(Kernel):
    """The covariance of two settings: intercept, factors, pairs of factors, and the setting itself."""

    def __init__(self, ordered, main, pairs, rest, correlation):
        self.ordered, self.main, self.pairs, self.rest, self.correlation = ordered, main, pairs, rest, correlation

    def __call__(self, X, Y=None, eval_gradient=False):
        Y = X if Y is None else Y
        total = numpy.full((len(X), len(Y)), 10.0)
        alike = []
        for at, ordered in enumerate(self.ordered):
            distance = numpy.abs(X[:, at][:, None] - Y[:, at][None, :])
            own = self.correlation**distance if ordered else (distance == 0).astype(float)
            alike.append(own)
            total += self.main[at] * own
        for one, other in itertools.combinations(range(len(alike)), 2):
            sizes = [self.main[at] if self.ordered[at] else 1.0 for at in (one, other)]
            total += self.pairs * numpy.sqrt(sizes[0] * sizes[1]) * alike[one] * alike[other]
        return total + self.rest * (X[:, None, :] == Y[None, :, :]).all(axis=2)

    def diag(self, X):
        return numpy.diag(self(X)).copy()

    def is_stationary(self):
        return True


def case(chance, ordered, levels, scales, count):
    runs = numpy.array([[chance.integers(own) for own in levels] for _ in range(count)], dtype=float)
    runs = numpy.vstack([runs, runs[: count // 2]])  # Some settings have several runs.
    responses = chance.normal(size=len(runs)) + 3.0
    settings, place = numpy.unique(runs, axis=0, return_inverse=True)
    centre = numpy.mean([responses[place == at].mean() for at in range(len(settings))])
    kernel = Levels(ordered, scales["main"], scales["pairs"], scales["rest"], scales["correlation"])
    process = GaussianProcessRegressor(kernel=kernel, alpha=scales["noise"], optimizer=None)
    process.fit(runs, responses - centre)
    covariance = kernel(runs) + scales["noise"] * numpy.eye(len(runs))
    signal = (responses - centre) @ numpy.linalg.solve(covariance, responses - centre) / len(runs)
    asked = numpy.array([[chance.integers(own) for own in levels] for _ in range(6)], dtype=float)
    mean, posterior = process.predict(asked, return_cov=True)
    gaps = [(posterior[0, 0] + posterior[at, at] - 2 * posterior[0, at]) for at in range(6)]
    return {
        "ordered": ordered, "levels": levels, "scales": scales,
        "runs": runs.astype(int).tolist(), "responses": responses.tolist(), "asked": asked.astype(int).tolist(),
        "mean": (mean + centre).tolist(), "deviation": numpy.sqrt(signal * numpy.diag(posterior)).tolist(),
        "gap_deviation": numpy.sqrt(signal * numpy.maximum(gaps, 0)).tolist(), "signal": signal,
    }


chance = numpy.random.default_rng(SEED)
cases = [
    case(chance, [True, True, False], [6, 4, 2], {"main": [1.0, 0.3, 100.0], "pairs": 0.1, "rest": 0.03, "noise": 0.1, "correlation": 0.8}, 12),
    case(chance, [True], [9], {"main": [3.0], "pairs": 1.0, "rest": 0.001, "noise": 0.01, "correlation": 0.95}, 7),
    case(chance, [True, True, True, True], [3, 10, 5, 2], {"main": [0.003, 1.0, 0.1, 3.0], "pairs": 0.3, "rest": 0.3, "noise": 1.0, "correlation": 0.3}, 30),
]
about = f"numpy {numpy.__version__}, scikit-learn {sklearn.__version__}: GaussianProcessRegressor(kernel, alpha=noise, optimizer=None) on single runs; seed {SEED}"
path = pathlib.Path("tests/fixtures/factors/ordered_surface.json")
path.write_text(json.dumps({"about": about, "cases": cases}, indent=1) + "\n")
