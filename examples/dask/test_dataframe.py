"""Data frames."""

import dask
import pytest


@pytest.fixture
def table():
    """Half a month of made-up measurements, one a second."""
    return dask.datasets.timeseries(start="2026-01-01", end="2026-01-16", partition_freq="3D", seed=1)


@pytest.mark.lapwing
def test_groupby(client, table, benchmark_all):
    """Few groups: what is moved is small."""
    with benchmark_all(client):
        result = table.groupby("name").agg({"x": "mean", "y": ["min", "max"]}).compute()
    assert len(result) == 26


@pytest.mark.shuffle
@pytest.mark.lapwing
def test_shuffle_join(client, table, benchmark_all):
    """Both tables are sorted into new partitions by the key."""
    left = table[["id", "x"]].partitions[:4]
    right = table[["id", "y"]].partitions[4:5].drop_duplicates(subset="id")
    with benchmark_all(client):
        left.merge(right, on="id", how="inner", npartitions=8).x.count().compute()


@pytest.mark.shuffle
@pytest.mark.lapwing
def test_set_index(client, table, benchmark_all):
    """A sort of the whole table."""
    with benchmark_all(client):
        table[["id", "x"]].partitions[:4].set_index("id").x.sum().compute()
