#!/usr/bin/env python3
"""Writes src/golden.rs: what other programs say of the same numbers.

Needs numpy and scipy, and R as `Rscript`. Run it in crates/stats:

    python3 tests/golden.py && rustfmt src/golden.rs
"""

import math
import random
import subprocess
from itertools import combinations

import numpy
import scipy
from scipy import optimize, stats

RANDOM = random.Random(7)


def normal(count, centre, spread, digits):
    return [round(RANDOM.gauss(centre, spread), digits) for _ in range(count)]


SIDES = [
    ("plain", [4.12, 4.05, 4.20, 4.31, 4.08], [4.71, 4.02, 4.95, 4.26, 4.80, 4.58]),
    ("tiny", [1.00, 1.20, 1.10], [1.15, 1.30, 1.25]),
    ("ties", [3.1, 3.2, 3.2, 3.4, 3.1, 3.0], [3.2, 3.5, 3.4, 3.4, 3.6, 3.1, 3.2]),
    ("unequal", [2.0, 2.2, 2.1, 2.2], normal(12, 2.2, 0.15, 1)),
    ("medium", normal(12, 1.0, 0.1, 6), normal(15, 1.1, 0.2, 6)),
    ("medium ties", normal(14, 1.0, 0.1, 2), normal(11, 1.05, 0.2, 2)),
    ("large", normal(50, 10.0, 0.3, 6), normal(60, 10.2, 0.6, 6)),
    ("large ties", normal(60, 10.0, 0.3, 1), normal(45, 10.3, 0.3, 1)),
    ("far apart", normal(40, 1.0, 0.05, 4), normal(40, 1.15, 0.05, 4)),
    ("separated", [1.0, 1.1, 1.2, 1.3, 1.05], [2.0, 2.1, 2.2, 2.3, 2.05]),
]


def mann_whitney(b, c):
    has_ties = len(set(b + c)) < len(b + c)
    if len(b) * len(c) > 900:
        answer = stats.mannwhitneyu(c, b, method="asymptotic")
        return answer.statistic, answer.pvalue, "Normal"
    if not has_ties:
        answer = stats.mannwhitneyu(c, b, method="exact")
        return answer.statistic, answer.pvalue, "Exact"
    statistic = stats.mannwhitneyu(c, b).statistic
    if math.comb(len(b + c), len(b)) < 3e5:
        method = stats.PermutationMethod(n_resamples=numpy.inf)
        return statistic, stats.mannwhitneyu(c, b, method=method).pvalue, "ExactWithTies"
    # Too many permutations for scipy; the same distribution by a dictionary of sums.
    ranks = [round(2 * rank) for rank in stats.rankdata(b + c)]
    ways = [{0: 1}] + [{} for _ in b]
    for rank in ranks:
        for chosen in range(len(b), 0, -1):
            for total, count in ways[chosen - 1].items():
                ways[chosen][total + rank] = ways[chosen].get(total + rank, 0) + count
    observed = sum(ranks[: len(b)])
    lower = sum(count for total, count in ways[-1].items() if total <= observed)
    upper = sum(count for total, count in ways[-1].items() if total >= observed)
    p = min(1, 2 * min(lower, upper) / math.comb(len(ranks), len(b)))
    return statistic, p, "ExactWithTies"


def placements(b, c):
    """Of each value of c the share of b below it, equal ones counting one half."""
    b, c = numpy.array(b), numpy.array(c)
    return ((b[None, :] < c[:, None]) + 0.5 * (b[None, :] == c[:, None])).mean(axis=1)


def brunner_munzel_statistic(b, c):
    if max(b) < min(c):
        return math.inf
    if max(c) < min(b):
        return -math.inf
    return stats.brunnermunzel(b, c).statistic


def brunner_munzel(b, c):
    statistic = brunner_munzel_statistic(b, c)
    if math.isinf(statistic):
        return None
    of_b, of_c = placements(c, b), placements(b, c)
    # As DeLong's variance of an area under the curve, which is the same thing.
    parts = of_c.var(ddof=1) / len(c), of_b.var(ddof=1) / len(b)
    se = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(c) - 1) + parts[1] ** 2 / (len(b) - 1))
    half = stats.t.ppf(0.975, freedom) * se
    centre = of_c.mean()
    p = stats.brunnermunzel(b, c).pvalue
    if min(len(b), len(c)) < 10:
        pool, lower, upper, count = b + c, 0, 0, 0
        for chosen in combinations(range(len(pool)), len(b)):
            rest = [pool[k] for k in range(len(pool)) if k not in chosen]
            permuted = brunner_munzel_statistic([pool[k] for k in chosen], rest)
            lower += permuted <= statistic + 1e-9
            upper += permuted >= statistic - 1e-9
            count += 1
        p = min(1, 2 * min(lower, upper) / count)
    return [statistic, freedom, p, centre, max(0, centre - half), min(1, centre + half)]


def permutation(b, c):
    if math.comb(len(b + c), len(b)) > 3e5:
        return None
    answer = stats.permutation_test(
        (numpy.log(b), numpy.log(c)),
        lambda x, y, axis: abs(x.mean(axis=axis) - y.mean(axis=axis)),
        vectorized=True, n_resamples=numpy.inf, alternative="greater",
    )
    return answer.pvalue


def hodges_lehmann(b, c):
    """R's wilcox.test where the interval is exact; its median of differences always."""
    vector = lambda side: "c(" + ",".join(map(repr, side)) + ")"
    script = f"""
        x <- log({vector(b)}); y <- log({vector(c)}); m <- length(x); n <- length(y)
        d <- sort(outer(y, x, "-"))
        k <- if (m * n <= 900) qwilcox(0.025, m, n) else floor(0.5 + m*n/2 - qnorm(.975)*sqrt(m*n*(m+n+1)/12))
        ends <- if (k >= 1) c(d[k], d[m*n + 1 - k]) else c(NA, NA)
        if (k >= 1 && m * n <= 900 && !any(duplicated(c(x, y)))) {{
            test <- wilcox.test(y, x, conf.int = TRUE, exact = TRUE)
            stopifnot(all.equal(as.numeric(test$conf.int), ends), all.equal(as.numeric(test$estimate), median(d)))
        }}
        cat(sprintf("%.17g", exp(c(median(d), ends))))
    """
    out = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    ratio, lower, upper = (float("nan") if x == "NA" else float(x) for x in out.stdout.split())
    return ratio, None if math.isnan(lower) else (lower, upper)


def fieller(b, c):
    before, after = numpy.mean(b), numpy.mean(c)
    v_b, v_c = numpy.var(b, ddof=1) / len(b), numpy.var(c, ddof=1) / len(c)
    ratio = after / before
    scaled = ratio**2 * v_b
    freedom = (scaled + v_c) ** 2 / (scaled**2 / (len(b) - 1) + v_c**2 / (len(c) - 1))
    t = stats.t.ppf(0.975, freedom)
    crossing = lambda rho: abs(after - rho * before) / math.sqrt(v_c + rho**2 * v_b) - t
    lower = optimize.brentq(crossing, -10 * ratio, ratio, xtol=1e-15, rtol=1e-14)
    upper = optimize.brentq(crossing, ratio, 10 * ratio, xtol=1e-15, rtol=1e-14)
    return [ratio, lower, upper, stats.ttest_ind(c, b, equal_var=False).pvalue]


def resamples(sizes, count):
    """Index vectors from a small generator that the tests have too."""
    state = 7
    for _ in range(count):
        drawn = []
        for size in sizes:
            positions = []
            for _ in range(size):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                positions.append((state >> 33) % size)
            drawn.append(positions)
        yield drawn


def studentised(b, c):
    y_b, y_c = numpy.log(b), numpy.log(c)
    d = y_c.mean() - y_b.mean()
    se = lambda one, other: math.sqrt(stats.sem(one) ** 2 + stats.sem(other) ** 2)
    t = []
    for i, j in resamples((len(b), len(c)), 999):
        t.append((y_c[j].mean() - y_b[i].mean() - d) / se(y_b[i], y_c[j]))
    half = numpy.quantile(numpy.abs(t), 0.95, method="weibull") * se(y_b, y_c)
    return [math.exp(d), math.exp(d - half), math.exp(d + half)]


def bca(b, c, statistic):
    """scipy's own BCa, given the resamples' ratios; and scipy's with resamples of its own."""
    from scipy.stats import _resampling
    from scipy._lib._array_api import array_namespace

    b, c = numpy.array(b), numpy.array(c)
    ratio = lambda x, y, axis=-1: statistic(y, axis=axis) / statistic(x, axis=axis)
    ratios = numpy.array([ratio(b[i], c[j]) for i, j in resamples((len(b), len(c)), 999)])
    low, high, _ = _resampling._bca_interval(
        (b, c), ratio, -1, 0.025, ratios, None, array_namespace(b)
    )
    given = numpy.quantile(ratios, [low, high])
    own = stats.bootstrap((b, c), ratio, n_resamples=99_999, method="BCa", rng=7, batch=5000)
    own = own.confidence_interval
    return [*given, own.low, own.high]


def rust(value):
    if value is None:
        return "None"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(rust(float(x)) for x in value) + "]"
    return repr(float(value))


def table(name, kind, rows):
    body = "".join(f"    {row},\n" for row in rows)
    return f"pub(crate) const {name}: [{kind}; {len(rows)}] = [\n{body}];\n\n"


def main():
    r = subprocess.run(["Rscript", "-e", "cat(R.version.string)"], capture_output=True, text=True).stdout
    text = f"""//! What other programs say of the same numbers. Written by tests/golden.py with
//! numpy {numpy.__version__}, scipy {scipy.__version__} and {r}; the calls stand there.

use crate::RankDistribution::{{self, Exact, ExactWithTies, Normal}};

/// Fails unless `actual` is `expected` up to a relative error.
pub(crate) fn assert_relative(name: &str, actual: f64, expected: f64, error: f64) {{
    let fits = (actual - expected).abs() <= error * expected.abs();
    assert!(fits, "{{name}}: {{actual}} is not {{expected}}");
}}

/// The positions that a resample draws, from the small generator that tests/golden.py has too.
pub(crate) fn positions(state: &mut u64, size: usize) -> Vec<usize> {{
    let step = |state: &mut u64| {{
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*state >> 33).expect("31 bits") % size
    }};
    (0..size).map(|_| step(state)).collect()
}}

"""
    kind = "(&str, &[f64], &[f64])"
    text += table("GOLDEN_SIDES", kind, [f'("{n}", &{rust(b)}, &{rust(c)})' for n, b, c in SIDES])
    rows = [mann_whitney(b, c) for _, b, c in SIDES]
    text += table("MANN_WHITNEY", "(f64, f64, RankDistribution)", [f"({rust(u)}, {rust(p)}, {d})" for u, p, d in rows])
    some = lambda x: "None" if x is None else f"Some({rust(x)})"
    text += table("BRUNNER_MUNZEL", "Option<[f64; 6]>", [some(brunner_munzel(b, c)) for _, b, c in SIDES])
    text += table("PERMUTATION", "Option<f64>", [some(permutation(b, c)) for _, b, c in SIDES])
    pair = lambda x: "None" if x is None else f"Some(({rust(x[0])}, {rust(x[1])}))"
    rows = [hodges_lehmann(b, c) for _, b, c in SIDES]
    text += table("HODGES_LEHMANN", "(f64, Option<(f64, f64)>)", [f"({rust(x)}, {pair(y)})" for x, y in rows])
    text += table("FIELLER", "[f64; 4]", [rust(fieller(b, c)) for _, b, c in SIDES])
    resampled = [(b, c) for name, b, c in SIDES if name in ("medium", "large")]
    text += table("STUDENTISED", "[f64; 3]", [rust(studentised(b, c)) for b, c in resampled])
    for name, statistic in (("BCA_MEAN", numpy.mean), ("BCA_MEDIAN", numpy.median)):
        text += table(name, "[f64; 4]", [rust(bca(b, c, statistic)) for b, c in resampled])
    with open("src/golden.rs", "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
