#!/usr/bin/env python3
"""Multiplication of two sparse square matrices by scipy."""

from indicator import median_time, parameter, report

density = parameter("density", 0.02)
matrix_size = parameter("matrix_size", 1000)
reps = parameter("reps", 20)

import numpy
import scipy.sparse

generator = numpy.random.default_rng(1)


def random_matrix():
    number = int(density * matrix_size**2)
    rows, columns = generator.integers(0, matrix_size, (2, number))
    shape = (matrix_size, matrix_size)
    return scipy.sparse.csr_matrix((generator.random(number), (rows, columns)), shape)


one, other = random_matrix(), random_matrix()
elapsed = median_time(lambda: one @ other, reps)
# Every element meets the elements of one row of the other matrix: a multiplication and an addition each.
operations = 2 * one.nnz * other.nnz / matrix_size
report("Matmul", "scipy", {"density": density, "matrix_size": matrix_size, "reps": reps}, elapsed, operations)
