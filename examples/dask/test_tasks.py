"""The scheduler itself: tasks that do next to nothing, and plain Python objects."""

import random

import dask.bag
import pytest

WORDS = [f"word{number}" for number in range(2000)]


def increment(number):
    return number + 1


@pytest.mark.lapwing
@pytest.mark.parametrize("tasks", [100, 400])
def test_many_small_tasks(client, tasks, benchmark_all):
    """What a task costs beside its work."""
    with benchmark_all(client):
        assert client.submit(sum, client.map(increment, range(tasks))).result() == tasks * (tasks + 1) // 2


def page(number):
    return random.Random(number).choices(WORDS, k=20_000)


@pytest.mark.lapwing
def test_word_count(client, benchmark_all):
    """Counts words of made-up pages."""
    bag = dask.bag.from_sequence(range(16), npartitions=8).map(page).flatten()
    with benchmark_all(client):
        assert sum(count for _, count in bag.frequencies().topk(10, key=1).compute()) > 1000
