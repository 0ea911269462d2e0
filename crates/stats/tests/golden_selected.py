"""Golden values of crates/stats/src/family/selected.rs: python golden_selected.py (scipy 1.17.1, no seed)"""
from scipy import optimize, stats


def size(estimate, error, freedom, border, share):
    t, d, b = stats.t(freedom), abs(estimate) / error, border / error
    larger = lambda theta: t.sf(d - theta) / (t.sf(b - theta) + t.cdf(-b - theta))
    return optimize.brentq(lambda theta: larger(theta) - share, -d, d + 60, xtol=1e-14) * error


for case in ((0.1, 0.04, 8, 0.09), (0.1, 0.03, 8, 0.09), (0.3, 0.05, 27, 0.2), (2.5, 1, 1e6, 1.96), (0.2, 0.04, 4, 0.15)):
    print('(%s, %r, %r, %r),' % (', '.join(map(repr, map(float, case))), min(max(0.0, size(*case, .55)), case[0]), size(*case, .02), size(*case, .98)))
