"""Tasks that count: the work is that of the workers' processes."""

import random

import pytest
from distributed import Client, LocalCluster

ITEMS = 200_000


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            yield client


def count(seed):
    from toolz import frequencies

    items = random.Random(seed).choices(range(1000), k=ITEMS)
    return len(frequencies(items))


@pytest.mark.lapwing(burn_in=1, iterations=2)
def test_frequencies(client, benchmark_all):
    with benchmark_all(client):
        client.gather(client.map(count, range(8), pure=False))
