#!/usr/bin/env python3
"""Writes tests/fixtures/shape/golden.json: descriptions of made-up series, and slopes.

Run it in crates/stats; the README beside the fixture has the command and the versions. Everything is done the long way:
likelihoods from whole covariance matrices, fits by numpy's least squares for every candidate.
"""

import json
import pathlib

import numpy as np
from scipy.linalg import toeplitz
from scipy.stats import t as student

FILE = pathlib.Path(__file__).parent / "fixtures" / "shape" / "golden.json"

SHORT = [(0, 0), (0.15, 0), (0.3, 0), (0.45, 0), (0.6, 0), (0.7, 0), (0.6, -0.3), (0.7, -0.3), (0.7, -0.5), (0, -0.2)]
LONG = [(phi, -share * phi) for phi in (0.8, 0.9, 0.95, 1) for share in (0, 0.3, 0.5, 0.7, 0.8, 0.9)]


def drawn_in(values):
    padded = np.concatenate([values[2::-1], values, values[:-4:-1]])
    middle = np.array([np.median(padded[i : i + 7]) for i in range(len(values))])
    distance = np.abs(values - middle)
    spread = 1.4826 * np.median(distance) or 1.2533 * np.mean(distance)
    return np.clip(values, middle - 4 * spread, middle + 4 * spread)


def rounding(values, clipped):
    different = np.unique(values)
    gap = np.diff(different).min() if 1 < len(different) < len(values) else 0.0
    return min(gap**2 / 12, np.sum(np.diff(clipped) ** 2) / 2 / len(values))


def twice_log(left, phi, psi, floor):
    n = len(left)
    if phi == 1:
        # Differences are a moving average; the first one, 0, is given.
        left = np.concatenate([[0.0], np.diff(left)])
        covariances, given, terms = [1 + psi * psi, psi], np.log(1 + psi * psi), n - 1
    else:
        first = (1 + 2 * phi * psi + psi * psi) / (1 - phi * phi)
        second = phi * first + psi
        covariances, given, terms = [first] + [second * phi**lag for lag in range(n - 1)], 0.0, n
    matrix = toeplitz(np.pad(covariances, (0, n - len(covariances))))
    squares = left @ np.linalg.solve(matrix, left)
    return (terms * np.log(squares / terms + floor) + np.linalg.slogdet(matrix)[1] - given) * n / terms


def least(left, kinds, floor):
    return min(twice_log(left, phi, psi, floor) for phi, psi in kinds)


def fit(z, *columns):
    matrix = np.column_stack([np.ones(len(z)), *columns])
    coefficients = np.linalg.lstsq(matrix, z, rcond=None)[0]
    return z - matrix @ coefficients, coefficients


def best_segments(z, most):
    n = len(z)

    def cost(start, end):
        return np.sum((z[start:end] - z[start:end].mean()) ** 2)

    costs = {(s, e): cost(s, e) for s in range(n) for e in range(s + 3, n + 1)}
    best = [{e: (costs[0, e], []) for e in range(3, n + 1)}]
    for steps in range(1, most + 1):
        row = {}
        for end in range(3 * (steps + 1), n + 1):
            row[end] = min(
                ((best[-1][s][0] + costs[s, end], best[-1][s][1] + [s]) for s in range(3 * steps, end - 2)),
                key=lambda it: it[0],
            )
        best.append(row)
    return [row[n][1] for row in best[1:] if n in row]


def descriptions(values):
    y = drawn_in(values)
    n, log = len(y), np.log(len(y))
    z = (y - y.mean()) / y.std()
    floor = rounding(values, y) / y.std() ** 2 + 1e-12
    t = np.arange(n) - (n - 1) / 2
    level = least(z, SHORT, floor)
    found = []

    def add(name, places, left, terms, penalty):
        gain = (level - least(left, SHORT, floor)) * (n - terms - 2) / n - penalty
        found.append({"name": name, "places": [int(it) for it in places], "gain": float(gain)})

    for places in best_segments(z, min(10, max(n // 3 - 1, 1))):
        lengths = np.diff([0, *places, n])
        left = np.concatenate([part - part.mean() for part in np.split(z, places)])
        add("steps", places, left, len(places), 3 * len(places) * log + np.sum(np.log(lengths / n)))
    add("line", [], fit(z, t)[0], 1, log)
    number = min(24, n)
    knots = [i * (n - 1) // (number - 1) for i in range(number)]

    def ramp(ends):
        return np.clip((np.arange(n) - ends[0]) / (ends[1] - ends[0]), 0, 1)

    ramps = [(a, b) for a in knots for b in knots if b - a >= max(6, n // 6)]
    ends = min(ramps, key=lambda it: np.sum(fit(z, ramp(it))[0] ** 2))
    if ends != (0, n - 1):
        add("ramp", ends, fit(z, ramp(ends))[0], 2, log * (1 + (ends[0] > 0) + (ends[1] < n - 1)))
    bends = []
    for _ in range(4):
        margin = n // (12 if bends else 6)
        fits = []
        for knot in knots:
            if max(margin, 1) <= knot <= n - 1 - max(margin, 1) and knot not in bends:
                places = sorted([*bends, knot])
                left = fit(z, t, *(np.maximum(np.arange(n) - place, 0) for place in places))[0]
                corners = np.diff((z - left)[[0, *places, n - 1]])
                total = corners.sum()
                if np.all(corners * np.sign(total) >= -0.03 * abs(total)):
                    fits.append((np.sum(left**2), places, left))
        if not fits:
            break
        _, bends, left = min(fits, key=lambda it: it[0])
        add("bends", bends, left, 1 + len(bends), log * (1 + 2 * len(bends)))
    if n >= 20:
        fits = [(step, fit(z, t, np.arange(n) >= step)[0]) for step in range(3, n - 2)]
        step, left = min(fits, key=lambda it: np.sum(it[1] ** 2))
        add("line and step", [step], left, 3, 4 * log)
    return found, float((level - least(z, LONG, floor)) * (n - 2) / n)


def slope(values, times):
    y, n = drawn_in(values), len(values)
    t = times - times.mean()
    left, (_, per_unit) = fit(y, t)
    raw = np.sum(left[1:] * left[:-1]) / np.sum(left**2)
    rho = min(max(raw + (2 + 4 * raw) / n, 0), 0.95)
    noise = toeplitz(rho ** np.arange(n))
    matrix = np.column_stack([np.ones(n), t])
    maker = np.eye(n) - matrix @ np.linalg.pinv(matrix)
    weights = t / np.sum(t * t)
    error = np.sqrt(np.sum(left**2) / np.trace(maker @ noise) * (weights @ noise @ weights))
    reach = student.ppf(0.975, max(3, (n - 2) * (1 - rho) / (1 + rho))) * error
    return {"per_unit": float(per_unit), "lower": float(per_unit - reach), "upper": float(per_unit + reach), "rho": float(rho)}


def autocorrelated(random, n, rho):
    noise = random.normal(size=n)
    for at in range(1, n):
        noise[at] = rho * noise[at - 1] + np.sqrt(1 - rho * rho) * noise[at]
    return noise


def series():
    random = np.random.default_rng(20261126)
    at = np.arange
    yield "noise 12", random.normal(size=12)
    yield "noise 40", random.normal(size=40)
    yield "step 15", random.normal(size=15) + 5.0 * (at(15) >= 8)
    yield "stairs 60", np.log(100 + 50 * (at(60) * 4 // 60) + 0.5 * random.normal(size=60))
    yield "line 30", np.log1p(0.1 * at(30) / 30) + 0.01 * random.normal(size=30)
    yield "flat, then a line 60", np.log1p(0.2 * np.maximum(0, at(60) / 60 - 0.5)) + 0.01 * random.normal(size=60)
    yield "slowing rise 48", 10 * (1 - np.exp(-3 * at(48) / 48)) + random.normal(size=48)
    yield "line and step 50", 0.2 * at(50) + 6.0 * (at(50) >= 30) + random.normal(size=50)
    yield "autocorrelated 60", autocorrelated(random, 60, 0.6)
    yield "walk 80", np.cumsum(random.normal(size=80)) + random.normal(size=80)
    yield "wave 100", 2 * np.sin(2 * np.pi * at(100) / 50) + random.normal(size=100)
    yield "rounded 40", np.round(random.normal(size=40) + 0.05 * at(40))
    yield "spikes 50", random.normal(size=50) + 20.0 * (random.random(50) < 0.08)
    yield "falling rate 90", np.round(100 - 0.3 * at(90) + 2 * random.normal(size=90), 1)


def main():
    rows = []
    for name, values in series():
        values = np.round(values, 6)
        found, wandering = descriptions(values)
        times = np.arange(len(values)) * 1.0 + np.arange(len(values)) // 10 * 2.5
        row = {"name": name, "values": values.tolist(), "descriptions": found, "wandering": wandering}
        rows.append(json.dumps({**row, "times": times.tolist(), "slope": slope(values, times)}))
    FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
