#!/usr/bin/env python3
"""Convolution of a signal with a short filter by numpy."""

from indicator import median_time, parameter, report

filter_width = parameter("filter_width", 31)
length = parameter("length", 200_000)
reps = parameter("reps", 20)

import numpy

generator = numpy.random.default_rng(1)
signal, weights = generator.random(length), generator.random(filter_width)
elapsed = median_time(lambda: numpy.convolve(signal, weights), reps)
operations = 2 * length * filter_width
report("Conv1D", "numpy", {"filter_width": filter_width, "length": length, "reps": reps}, elapsed, operations)
