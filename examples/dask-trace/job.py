"""A word count in miniature, computed by Dask on this machine and traced.

    python job.py WORKERS THREADS FILE [DAYS]

Each page of a day is fetched (which waits), and its words are counted (in Python, which holds the interpreter's lock).
The counts of a day are added up in a tree; then the next day begins.
"""

import argparse
import random
import time
from collections import Counter

from distributed import Client, Future, LocalCluster
from pytest_lapwing import trace_dask

PAGES = 5
WORDS = 300_000


def fetch(number: int) -> str:
    """Returns a page; the same number has the same text."""
    time.sleep(0.1)
    return random.Random(number).randbytes(WORDS).hex(" ")


def count(page: str) -> Counter:
    counts: Counter = Counter()
    for word in page.split():
        counts[word.upper()[::-1]] += 1
    return counts


def add(left: Counter, right: Counter) -> Counter:
    return left + right


def day(client: Client, number: int) -> Future:
    """Returns how often each word occurs on a day's pages."""
    pages = [client.submit(fetch, number * PAGES + page, key=f"fetch-{number}-{page}") for page in range(PAGES)]
    counts = [client.submit(count, page, key=f"count-{number}-{at}") for at, page in enumerate(pages)]
    level = 0
    while len(counts) > 1:
        pairs = enumerate(zip(counts[::2], counts[1::2]))
        added = [client.submit(add, *pair, key=("add", number, level, at)) for at, pair in pairs]
        counts = added + counts[2 * len(added) :]
        level += 1
    return counts[0]


def compute(client: Client, days: int) -> int:
    """Returns the number of words; each day waits for the one before."""
    return sum(day(client, number).result().total() for number in range(days))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workers", type=int)
    parser.add_argument("threads", type=int)
    parser.add_argument("file")
    parser.add_argument("days", type=int, nargs="?", default=6)
    chosen = parser.parse_args()
    cluster = LocalCluster(
        n_workers=chosen.workers,
        threads_per_worker=chosen.threads,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )
    with cluster, Client(cluster) as client:
        client.wait_for_workers(chosen.workers)
        with trace_dask(client, chosen.file, benchmark="word count"):
            begin = time.perf_counter()
            words = compute(client, chosen.days)
            took = time.perf_counter() - begin
    print(f"{words} words in {took:.2f} s")


if __name__ == "__main__":
    main()
