#!/usr/bin/env python3
"""Writes src/power/golden.rs: what other programs say of the noncentral t distribution and of power.

Needs mpmath, scipy and statsmodels. Run it in crates/stats:

    python3 tests/golden_power.py && rustfmt src/power/golden.rs
"""

import mpmath
import scipy
import statsmodels
from scipy.optimize import brentq
from statsmodels.stats.power import TTestIndPower, TTestPower

mpmath.mp.dps = 30


def upper_tail(t, nu, delta):
    """The integral over the density of the square root of chi-squared / nu, with 30 digits.

    scipy.stats.nct.sf agrees to 1e-11 on all of them; its cdf is NaN far out.
    """
    t, nu, delta = mpmath.mpf(t), mpmath.mpf(nu), mpmath.mpf(delta)
    constant = mpmath.log(2) + nu / 2 * mpmath.log(nu / 2) - mpmath.loggamma(nu / 2)

    def integrand(u):
        density = mpmath.exp(constant + (nu - 1) * mpmath.log(u) - nu * u * u / 2)
        return density * mpmath.ncdf(delta - t * u)

    spread = 1 / mpmath.sqrt(2 * nu)
    last = 1 + 35 * spread
    cuts = [1 + k * spread for k in (-20, -12, -8, -6, -4, -2, -1, 0, 1, 2, 4, 6, 8, 12, 20, 30)]
    if t:
        cuts += [(delta + k) / t for k in (-14, -9, -6, -3, -1, 0, 1, 3, 6, 9, 14)]
    return mpmath.quad(integrand, [0, *sorted({cut for cut in cuts if 0 < cut < last}), last])


TAILS = [
    ("1", "0", "2.1"), ("1", "3", "0.5"), ("1", "8", "5"), ("1", "40", "60"), ("1.5", "-2", "2.1"), ("1.5", "40", "38"),
    ("2", "0.5", "5"), ("2", "8", "60"), ("2", "40", "2.1"), ("3.7", "3", "2.1"), ("3.7", "8", "38"), ("3.7", "40", "60"),
    ("4", "0", "0.5"), ("4", "3", "5"), ("4", "40", "38"), ("8", "0.5", "2.1"), ("8", "8", "5"), ("8", "40", "60"),
    ("18", "3", "2.1"), ("18", "-2", "0.5"), ("18", "8", "38"), ("18", "40", "38"), ("48", "0", "2.1"), ("48", "8", "5"),
    ("48", "40", "60"), ("1000", "3", "2.1"), ("1000", "40", "38"), ("12345.6", "0.5", "2.1"), ("12345.6", "40", "38"),
    ("1000000", "3", "5"), ("1000000", "8", "5"), ("1000000", "40", "38"),
]
UNPAIRED = [(3, 1.5, 0.05), (5, 0.5, 0.05), (5, 2.0, 0.05), (10, 1.3, 0.05), (10, 0.0, 0.05), (10, 0.2, 0.01),
            (25, 0.8, 0.05), (25, 1.5, 0.001), (50, 0.3, 0.1)]
PAIRED = [(3, 1.5, 0.05), (5, 0.5, 0.05), (10, 1.3, 0.05), (25, 0.4, 0.01)]
UNPAIRED_EFFECTS = [(3, 0.05, 0.8), (5, 0.05, 0.95), (10, 0.05, 0.8), (25, 0.05, 0.8), (25, 0.01, 0.9), (20, 0.05, 0.99)]
PAIRED_EFFECTS = [(3, 0.05, 0.8), (5, 0.05, 0.95), (10, 0.05, 0.8), (25, 0.01, 0.9)]


def powers(name, comment, of, rows):
    print(f"/// {comment}", file=FILE)
    print(f"pub(super) const {name}: [(usize, f64, f64, f64); {len(rows)}] = [", file=FILE)
    for n, effect, alpha in rows:
        print(f"({n}, {effect!r}, {alpha!r}, {float(of(effect, n, alpha))!r}),", file=FILE)
    print("];\n", file=FILE)


def effects(name, comment, of, rows, farthest):
    print(f"/// {comment}", file=FILE)
    print(f"pub(super) const {name}: [(usize, f64, f64, f64); {len(rows)}] = [", file=FILE)
    for n, alpha, power in rows:
        # solve_power itself stops at 1e-6; a wider bracket meets its NaN.
        most = farthest / n**0.5
        effect = brentq(lambda e: of(e, n, alpha) - power, 0, most, xtol=1e-14, rtol=1e-14)
        print(f"({n}, {alpha!r}, {power!r}, {effect!r}),", file=FILE)
    print("];\n", file=FILE)


with open("src/power/golden.rs", "w") as FILE:
    print(f"""//! What other programs say of the noncentral t distribution and of power. Written by tests/golden_power.py with
//! mpmath {mpmath.__version__}, scipy {scipy.__version__} and statsmodels {statsmodels.__version__}; the calls stand there.

/// ν, δ, t, and the probability of more than t, integrated with 30 digits.
pub(super) const TAILS: [(f64, f64, f64, f64); {len(TAILS)}] = [""", file=FILE)
    for nu, delta, t in TAILS:
        value = float(upper_tail(t, nu, delta))
        print(f"({float(nu)}, {float(delta)}, {float(t)}, {value!r}),", file=FILE)
    print("];\n", file=FILE)
    unpaired, paired = TTestIndPower(), TTestPower()
    powers("UNPAIRED", "Values a side, effect size, α and TTestIndPower().power.", unpaired.power, UNPAIRED)
    powers("PAIRED", "Pairs, effect size, α and TTestPower().power.", paired.power, PAIRED)
    effects("UNPAIRED_EFFECTS", "Values a side, α, power and the effect size at which TTestIndPower().power is that.",
            unpaired.power, UNPAIRED_EFFECTS, 6.7)
    effects("PAIRED_EFFECTS", "Pairs, α, power and the effect size at which TTestPower().power is that.",
            paired.power, PAIRED_EFFECTS, 6)
