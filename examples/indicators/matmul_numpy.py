#!/usr/bin/env python3
"""Multiplication of two square matrices by numpy."""

from indicator import median_time, parameter, report

dtype = parameter("dtype", "float64")
matrix_size = parameter("matrix_size", 256)
reps = parameter("reps", 20)

import numpy

generator = numpy.random.default_rng(1)
one, other = (generator.random((matrix_size, matrix_size)).astype(dtype) for _ in range(2))
elapsed = median_time(lambda: one @ other, reps)
# Each of the n² elements takes n multiplications and n − 1 additions.
operations = matrix_size**2 * (2 * matrix_size - 1)
report("Matmul", "numpy", {"dtype": dtype, "matrix_size": matrix_size, "reps": reps}, elapsed, operations)
