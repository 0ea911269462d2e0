#!/usr/bin/env python3
"""Time to import scipy.stats."""

import time

from indicator import report

start = time.perf_counter()
import scipy.stats

elapsed = time.perf_counter() - start
report("Import", "scipy", {"module": "scipy.stats"}, elapsed, 1)
