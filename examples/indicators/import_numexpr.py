#!/usr/bin/env python3
"""Time to import numexpr."""

import time

from indicator import report

start = time.perf_counter()
import numexpr

elapsed = time.perf_counter() - start
report("Import", "numexpr", {"module": "numexpr"}, elapsed, 1)
