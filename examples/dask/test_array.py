"""Arrays."""

import dask.array as da
import pytest


@pytest.mark.lapwing
def test_mean_of_squares(client, benchmark_all):
    """A reduction: every chunk is read once, little is moved."""
    x = da.random.default_rng(1).random((6000, 6000), chunks=(1000, 1000))
    with benchmark_all(client):
        assert 0.3 < (x**2).mean().compute() < 0.4


@pytest.mark.shuffle
@pytest.mark.lapwing
def test_rechunk(client, benchmark_all):
    """From rows to columns: every chunk goes to every other."""
    x = da.random.default_rng(1).random((3000, 3000), chunks=(150, 3000))
    with benchmark_all(client):
        x.rechunk((3000, 150)).sum().compute()


@pytest.mark.lapwing
def test_matrix_product(client, benchmark_all):
    """Blocks that meet each other in pairs."""
    x = da.random.default_rng(1).random((1500, 1500), chunks=(500, 500))
    with benchmark_all(client):
        (x @ x.T).trace().compute()
