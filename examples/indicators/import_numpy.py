#!/usr/bin/env python3
"""Time to import numpy."""

import time

from indicator import report

start = time.perf_counter()
import numpy

elapsed = time.perf_counter() - start
report("Import", "numpy", {"module": "numpy"}, elapsed, 1)
