#!/usr/bin/env python3
"""How often intervals of a ratio cover the truth when there are few instances.

Simulates A/A comparisons (true ratio 1) and prints, as a Markdown table, the share of
95 % intervals that hold 1: Welch's t on logarithms of instance means, which Lapwing
uses, beside the percentile bootstrap of whole instances. Needs numpy and scipy.

    python3 benches/interval_coverage.py [--simulations 4000] [--seed 7]
"""

import argparse

import numpy
from scipy import stats

BETWEEN, WITHIN, ITERATIONS, RESAMPLES = 0.03, 0.05, 10, 1000


def instance_means(random, instances):
    """Instance means of a benchmark that takes 1 s on average."""
    centres = random.normal(1, BETWEEN, instances)
    return random.normal(centres[:, None], WITHIN, (instances, ITERATIONS)).mean(axis=1)


def welch(baseline, candidate):
    answer = stats.ttest_ind(numpy.log(candidate), numpy.log(baseline), equal_var=False)
    interval = answer.confidence_interval(0.95)
    return numpy.exp(interval.low), numpy.exp(interval.high)


def percentile_bootstrap(random, baseline, candidate):
    def centres(side):
        return side[random.integers(0, len(side), (RESAMPLES, len(side)))].mean(axis=1)

    return numpy.quantile(centres(candidate) / centres(baseline), [0.025, 0.975])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--simulations", type=int, default=4000)
    options.add_argument("--seed", type=int, default=7)
    options = options.parse_args()
    random = numpy.random.default_rng(options.seed)
    print("| instances a side | Welch's t on logs | percentile bootstrap |")
    print("|--:|--:|--:|")
    for instances in (3, 5, 10, 20):
        covered = [0, 0]
        for _ in range(options.simulations):
            sides = instance_means(random, instances), instance_means(random, instances)
            for method, (low, high) in enumerate(
                (welch(*sides), percentile_bootstrap(random, *sides))
            ):
                covered[method] += low <= 1 <= high
        shares = [f"{100 * count / options.simulations:.1f} %" for count in covered]
        print(f"| {instances} | {shares[0]} | {shares[1]} |", flush=True)


if __name__ == "__main__":
    main()
