#!/usr/bin/env python3
"""Writes tests/fixtures/factors/*.json: what R, statsmodels, numpy, scikit-learn, pyDOE3 and allpairspy say of the same numbers.

Needs numpy, statsmodels, scikit-learn, pyDOE3, allpairspy and R as `Rscript`. Run it in crates/stats:

    python3 tests/golden_factors.py
"""

import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import numpy
import sklearn
import statsmodels
import statsmodels.api as sm
from allpairspy import AllPairs
from pyDOE3.doe_optimal.optimal import optimal_design
from sklearn.decomposition import PCA

FOLDER = pathlib.Path("tests/fixtures/factors")
CHANCE = random.Random(22)


def treatment(count):
    return {"kind": "treatment", "values": [CHANCE.random() < 0.5 for _ in range(count)]}


def levels(count, number):
    return {"kind": "levels", "values": [CHANCE.randrange(number) for _ in range(count)], "count": number}


def numbers(values):
    return {"kind": "numbers", "values": values}


def own_columns(factor):
    if factor["kind"] == "levels":
        return [[float(value == level) for value in factor["values"]] for level in range(1, factor["count"])]
    return [[float(value) for value in factor["values"]]]


def columns(factors, terms):
    """Returns the columns of a term's list: [] intercept, [i] main, [i, i] square, [i, j] pair."""
    rows = len(factors[0]["values"])
    all_columns = []
    for term in terms:
        if not term:
            all_columns.append([1.0] * rows)
        elif len(term) == 1:
            all_columns += own_columns(factors[term[0]])
        else:
            for one in own_columns(factors[term[0]]):
                for other in own_columns(factors[term[1]]):
                    all_columns.append([a * b for a, b in zip(one, other)])
    return numpy.array(all_columns).T


R_SCRIPT = """
args <- commandArgs(TRUE)
x <- as.matrix(read.csv(args[1], header = FALSE)); new <- as.matrix(read.csv(args[2], header = FALSE))
y <- scan(args[3], quiet = TRUE); w <- scan(args[4], quiet = TRUE)
names <- paste0("c", seq_len(ncol(x))); colnames(x) <- names; colnames(new) <- names
data <- data.frame(x[, -1, drop = FALSE], y = y, w = w)
fit <- lm(y ~ . - w, data = data, weights = w)
s <- summary(fit)
line <- function(name, values) cat(name, formatC(values, digits = 17, format = "g"), "\\n")
line("coefficients", coef(fit))
line("errors", s$coefficients[, 2]); line("t", s$coefficients[, 3]); line("p", s$coefficients[, 4])
line("sigma", s$sigma); line("r2", s$r.squared); line("adjusted", s$adj.r.squared)
line("leverage", hatvalues(fit)); line("standardised", rstandard(fit)); line("cook", cooks.distance(fit))
suppressWarnings(for (kind in c("confidence", "prediction")) {
  p <- predict(fit, data.frame(new[, -1, drop = FALSE], w = 1), interval = kind, weights = rep(1, nrow(new)))
  line(paste0(kind, "_lower"), p[, 2]); line(paste0(kind, "_upper"), p[, 3]); line(paste0(kind, "_mean"), p[, 1])
})
"""


def by_r(x, new, y, weights):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        numpy.savetxt(path / "x.csv", x, delimiter=",", fmt="%.17g")
        numpy.savetxt(path / "new.csv", new, delimiter=",", fmt="%.17g")
        numpy.savetxt(path / "y", y, fmt="%.17g")
        numpy.savetxt(path / "w", weights, fmt="%.17g")
        (path / "fit.R").write_text(R_SCRIPT)
        files = [str(path / name) for name in ("fit.R", "x.csv", "new.csv", "y", "w")]
        output = subprocess.run(["Rscript", *files], check=True, capture_output=True, text=True).stdout
    answers = {}
    for line in output.splitlines():
        name, *values = line.split()
        answers[name] = [None if value in ("NA", "NaN") else float(value) for value in values]
    return answers


def case(name, factors, terms, new, noise, weighted=False):
    x, rows = columns(factors, terms), len(factors[0]["values"])
    spread = x.std(axis=0)
    effects = numpy.array([CHANCE.gauss(0, 3) for _ in range(x.shape[1])]) / numpy.where(spread > 0, spread, 1)
    y = [round(float(value), 6) for value in 100 + x[:, 1:] @ effects[1:] - (x[:, 1:] @ effects[1:]).mean()
         + numpy.array([CHANCE.gauss(0, noise) for _ in range(rows)])]
    weights = [round(CHANCE.uniform(0.5, 4), 3) for _ in range(rows)] if weighted else [1.0] * rows
    answer = by_r(x, columns(new, terms), y, weights)
    kept = [at for at, value in enumerate(answer["coefficients"]) if value is not None]
    # Numbers around their mean: the same model, and as many digits as the answer shall have.
    centred = x[:, kept] - numpy.where(numpy.isin(x[:, kept], (0, 1)).all(axis=0), 0, x[:, kept].mean(axis=0))
    fit = sm.WLS(y, centred, weights=weights).fit()
    robust = {"hc3": fit.get_robustcov_results("HC3").bse[1:].tolist()}
    return {"name": name, "factors": factors, "terms": terms, "new": new, "responses": y,
            "weights": weights if weighted else None, "r": answer, "statsmodels": robust}


def all_pairs(count):
    return [[]] + [[at] for at in range(count)] + [list(pair) for pair in itertools.combinations(range(count), 2)]


def linear_models():
    plain = [treatment(60) for _ in range(5)]
    needs = [treatment(60) for _ in range(4)]
    needs.append({"kind": "treatment", "values": [a and b for a, b in zip(needs[0]["values"], needs[1]["values"])]})
    needs.append({"kind": "treatment", "values": [not a for a in needs[2]["values"]]})
    start = 1_750_000_000
    times = [round(start + 977.3 * row, 1) for row in range(80)]
    hours = [round(float(numpy.cos(2 * numpy.pi * (time % 86400) / 86400)), 12) for time in times]
    mixed = [treatment(80), levels(80, 4), numbers([float(CHANCE.choice([1, 2, 4, 8])) for _ in range(80)]),
             numbers(times), numbers(hours), treatment(80)]
    mixed_terms = [[], [0], [1], [2], [5], [3], [4], [2, 2], [0, 1], [0, 2], [0, 5], [1, 2], [2, 5]]
    blocks = [treatment(40), treatment(40), levels(40, 5), numbers([round(CHANCE.gauss(5, 2), 3) for _ in range(40)])]
    blocks.append(numbers([round(2 * value - 3, 6) for value in blocks[3]["values"]]))

    def new(factors, count=4):
        def some(factor):
            return [factor["values"][CHANCE.randrange(len(factor["values"]))] for _ in range(count)]
        return [{**factor, "values": some(factor)} for factor in factors]

    return [
        case("treatments and pairs", plain, all_pairs(5), new(plain), 1.0),
        case("treatments that need or exclude each other", needs, all_pairs(6), new(needs), 2.0),
        case("levels, numbers, squares, times", mixed, mixed_terms, new(mixed), 1.5),
        case("blocks, weights, an aliased number", blocks, [[], [0], [1], [2], [3], [4], [0, 1], [0, 3]], new(blocks),
             1.0, weighted=True),
    ]


def principal_components():
    rows = [[round(CHANCE.gauss(0, 1 + column) + row / 9, 6) for column in range(6)] for row in range(25)]
    rows = [row + [3.5] for row in rows]
    cases = []
    for scaling in ("centred", "standardised"):
        values = numpy.array(rows)
        values = values - values.mean(axis=0)
        if scaling == "standardised":
            spread = values.std(axis=0, ddof=1)
            values = values / numpy.where(spread > 0, spread, 1)
        fit = PCA(svd_solver="full").fit(values)
        scores = fit.transform(values)
        signs = [1 if vector[numpy.argmax(abs(vector))] > 0 else -1 for vector in fit.components_]
        cases.append({"scaling": scaling, "variances": fit.explained_variance_.tolist(),
                      "shares": fit.explained_variance_ratio_.tolist(),
                      "loadings": [(sign * vector).tolist() for sign, vector in zip(signs, fit.components_)],
                      "scores": [(sign * column).tolist() for sign, column in zip(signs, scores.T)]})
    return {"rows": rows, "cases": cases}


def covering():
    """Sizes of allpairspy's designs. With n=3 it does not cover all triples, so these are of strength 2 only."""
    shapes = [[2] * 4, [3] * 4, [3] * 13, [4] * 10, [5] * 8, [2, 3, 4, 5], [4, 3, 3, 3, 2, 2, 2, 2], [10, 2, 2, 2, 2],
              [3] * 30, [2, 2, 2, 2, 2, 2, 3, 3, 3, 5, 6], [2] * 15 + [3] * 5, [6, 5, 4, 3, 2]]
    return [{"levels": levels, "runs": len(list(AllPairs([list(range(count)) for count in levels])))} for levels in shapes]


def efficiency(x):
    sign, log = numpy.linalg.slogdet(x.T @ x)
    return 100 * float(numpy.exp(log / x.shape[1])) / x.shape[0] if sign > 0 else 0.0


def expanded(design, terms):
    """Returns the columns of a design in coding -1 … 1."""
    design = numpy.asarray(design, dtype=float)
    return numpy.array([numpy.prod([design[:, at] for at in term], axis=0) if term else numpy.ones(len(design))
                        for term in terms]).T


def optimal():
    """The best D-efficiencies of pyDOE3's methods from the same candidates."""
    quadratic = lambda count: all_pairs(count)[: count + 1] + [[at, at] for at in range(count)] + all_pairs(count)[count + 1:]
    main = lambda count: all_pairs(count)[: count + 1]
    shapes = [(2, 6, [], 1, 8), (2, 6, [[[0, 1], [1, 1]], [[2, 1], [3, 0]]], 1, 10), (2, 7, [[[0, 1], [1, 1]], [[0, 1], [2, 1]]], 1, 14),
              (5, 2, [], 2, 8), (5, 2, [[[0, 4], [1, 4]], [[0, 4], [1, 3]], [[0, 3], [1, 4]]], 2, 10), (3, 3, [], 2, 14), (3, 3, [[[0, 2], [1, 2]]], 2, 16)]
    cases = []
    for levels, factors, forbidden, degree, runs in shapes:
        allowed = [run for run in itertools.product(range(levels), repeat=factors)
                   if not any(all(run[factor] == level for factor, level in members) for members in forbidden)]
        candidates = numpy.array(allowed) / (levels - 1) * 2 - 1
        terms = main(factors) if degree == 1 else quadratic(factors)
        found = {}
        for method in ("sequential", "simple_exchange", "fedorov", "modified_fedorov", "detmax"):
            # Without an augmented matrix its start from nothing often stays singular.
            designs = [optimal_design(candidates, runs, degree, "D", method, alpha=alpha, max_iter=50)[0]
                       for alpha in (0, 0.001, 0.1)]
            found[method] = max(efficiency(expanded(design, terms)) for design in designs)
        cases.append({"levels": levels, "factors": factors, "forbidden": forbidden, "terms": terms, "runs": runs, "found": found})
    return cases


def write(name, content, by):
    FOLDER.mkdir(parents=True, exist_ok=True)
    document = {"written_by": "tests/golden_factors.py", "with": by, "cases": content}
    (FOLDER / f"{name}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    r = subprocess.run(["Rscript", "--version"], capture_output=True, text=True)
    write("linear_model", linear_models(), f"{(r.stdout + r.stderr).strip()} lm; statsmodels {statsmodels.__version__} WLS")
    write("principal_components", principal_components(), f"numpy {numpy.__version__}, scikit-learn {sklearn.__version__} PCA")
    write("covering", covering(), "allpairspy 2.5.1")
    write("optimal", optimal(), "pyDOE3 1.6.2 optimal_design")
