#!/usr/bin/env python3
"""Evaluation of an expression over arrays by numexpr."""

from indicator import median_time, parameter, report

length = parameter("length", 1_000_000)
reps = parameter("reps", 20)

import numexpr
import numpy

generator = numpy.random.default_rng(1)
a, b = generator.random(length), generator.random(length)
elapsed = median_time(lambda: numexpr.evaluate("2*a**2 + 3*b**2 - a*b"), reps)
report("Expression", "numexpr", {"length": length, "reps": reps}, elapsed, 7 * length)
