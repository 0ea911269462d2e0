"""Compares what the store holds of a source with what the other reader found in it."""

import math
from dataclasses import asdict

from reader import counts, instances_of_each_benchmark

# What has the same name and unit everywhere, and so must have the same values.
METRICS = ("wall_time", "cpu_time", "user_time", "system_time", "peak_memory", "throughput", "task_memory")


def samples(instances, metrics):
    """The samples of each instance in their order; the instances in an order that names play no part in."""
    return sorted(
        [(it.burn_in, it.outcome, *(it.values.get(metric, -1.0) for metric in metrics)) for it in instance.iterations]
        for instance in instances
    )


def close(ours, theirs):
    return ours == theirs or (
        isinstance(ours, float) and isinstance(theirs, float) and math.isclose(ours, theirs, rel_tol=1e-12)
    )


def compare_samples(ours, theirs):
    # Rates of bytes are derived in some importers, and compared where the reader has them.
    has_bytes = any("bytes_per_second" in it.values for instance in theirs for it in instance.iterations)
    metrics = (*METRICS, "bytes_per_second") if has_bytes else METRICS
    for our, their in zip(samples(ours, metrics), samples(theirs, metrics), strict=True):
        for k, (mine, expected) in enumerate(zip(our, their, strict=True)):
            assert all(map(close, mine, expected)), f"iteration {k}: {mine} instead of {expected}"


def told(summary):
    """The centre of a summary, where the source has only one."""
    return next(summary[name] for name in ("value", "unstated", "median", "mean") if name in summary)


def compare_summaries(ours, theirs):
    for metric in METRICS:
        found, expected = (
            [it.summaries[metric] for it in side if metric in it.summaries] for side in (ours, theirs)
        )
        assert len(found) == len(expected), f"instances with a summary of {metric}"
        if not expected:
            continue
        if all(set(it) == {"value"} for it in expected):
            # The source does not say what its one number is; the importer may know it.
            found = [{"value": told(it)} for it in found]
        common = set.intersection(*map(set, found), *map(set, expected))
        assert common, f"no statistic of {metric} in common: {found[0]} and {expected[0]}"
        for name in common:
            centres = zip(sorted(it[name] for it in found), sorted(it[name] for it in expected), strict=True)
            for mine, right in centres:
                assert close(float(mine), float(right)), f"{name} of {metric}: {mine} instead of {right}"


def compare(ours, theirs):
    assert theirs or not ours, "the other reader finds nothing"
    found, expected = asdict(counts(ours)), asdict(counts(theirs))
    differing = {name: f"{found[name]} instead of {expected[name]}" for name in found if found[name] != expected[name]}
    assert not differing
    assert instances_of_each_benchmark(ours) == instances_of_each_benchmark(theirs)
    compare_samples(ours, theirs)
    compare_summaries(ours, theirs)


def of(files, path):
    """The instances of a file, or of all files of a folder."""
    return [it for name, its in files.items() if name == str(path) or name.startswith(f"{path}/") for it in its]
