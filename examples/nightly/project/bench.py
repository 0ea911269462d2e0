"""Benchmarks of `words`: prints the seconds per call of one of them, or the lines that each executes.

    python3 bench.py NAME       measures NAME and prints {"wall_time": ...}
    python3 bench.py --lines    prints {NAME: number of executed lines}: the same on every machine
"""

import json
import os
import random
import sys
import time

import words

# Repeats all work, as a slower machine would.
REPEAT = float(os.environ.get("BENCH_REPEAT", "1"))


def made_up_text(number):
    """Returns a text of so many words, the same every time."""
    chance = random.Random(7)
    letters = "etaoinshrdlu"
    known = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(number // 4)]
    known += words.STOP_WORDS[:8] * (number // 80)
    return " ".join(chance.choice(known) for _ in range(number))


def benchmarks(number):
    """Returns functions by name; `number` is the size of their input."""
    text = made_up_text(number)
    found = words.tokens(text)
    names = sorted(set(found))
    places = words.index(found)
    packed = [words.encode(some) for some in places.values()]
    return {
        "tokens": lambda: words.tokens(text),
        "count": lambda: words.count(found),
        "index": lambda: words.index(found),
        "lookup": lambda: words.lookup(names, found),
        "similar": lambda: words.similar("station", names[:300]),
        "encode": lambda: [words.encode(some) for some in places.values()],
        "decode": lambda: [words.decode(some) for some in packed],
    }


def lines(function):
    """Returns how many lines a function executes."""
    executed = 0

    def trace(_frame, event, _argument):
        nonlocal executed
        executed += event == "line"
        return trace

    sys.settrace(trace)
    function()
    sys.settrace(None)
    return executed


def seconds(function, at_least=0.05):
    """Returns the time of a call in seconds, of the fastest of five rounds."""
    function()
    calls = 1
    while True:
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        if (took := time.perf_counter() - begin) > at_least / 5:
            break
        calls *= 2
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(round(calls * REPEAT)):
            function()
        times.append((time.perf_counter() - begin) / calls)
    return min(times)


if __name__ == "__main__":
    if sys.argv[1] == "--lines":
        print(json.dumps({name: lines(run) for name, run in benchmarks(1_000).items()}))
    else:
        print(json.dumps({"wall_time": seconds(benchmarks(8_000)[sys.argv[1]])}))
