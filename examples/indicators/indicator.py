"""What the example indicators share: parameters from environment variables, timing, and the document.

An indicator needs nothing of this: it only has to print one JSON object (docs/indicators.md).
"""

import json
import os
import statistics
import sys
import time


def parameter(name, default):
    """Return the environment variable NAME (upper case) as the type of the default."""
    value = type(default)(os.environ.get(name.upper(), default))
    print(f"{name.upper()} set to {value}", file=sys.stderr)
    return value


def median_time(work, reps):
    """Return the median time of one call in seconds, after one call as warm-up."""
    work()
    times = []
    for _ in range(reps):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def report(name, framework, parameters, elapsed, operations):
    """Print the document of an indicator that did this many operations in `elapsed` seconds."""
    rate = operations / elapsed
    document = {
        "name": name,
        "framework": framework,
        "@parameters": parameters,
        "@result": {"elapsed": elapsed, "rate": rate},
        "overall_score": rate,
        "@metrics": {
            "elapsed": {"unit": "s", "better": "lower"},
            "rate": {"unit": "1/s", "better": "higher"},
            "overall_score": {"better": "higher"},
        },
    }
    json.dump(document, sys.stdout)
