#!/usr/bin/env python3
"""Convolution of an image with a small filter by scipy."""

from indicator import median_time, parameter, report

filter_width = parameter("filter_width", 7)
width = parameter("width", 300)
reps = parameter("reps", 10)

import numpy
import scipy.ndimage

generator = numpy.random.default_rng(1)
image, weights = generator.random((width, width)), generator.random((filter_width, filter_width))
elapsed = median_time(lambda: scipy.ndimage.convolve(image, weights), reps)
operations = 2 * width**2 * filter_width**2
report("Conv2D", "scipy", {"filter_width": filter_width, "reps": reps, "width": width}, elapsed, operations)
