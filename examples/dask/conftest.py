"""A cluster for each module, and a client for each execution of a test."""

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one thread each, on this machine."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1 GiB") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of its own, with all workers there and nothing left of the execution before."""
    with Client(cluster) as client:
        client.wait_for_workers(2)
        yield client
