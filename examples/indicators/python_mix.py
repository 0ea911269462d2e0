#!/usr/bin/env python3
"""A mix of work in pure Python: calls, dictionaries, texts and objects."""

import json

from indicator import median_time, parameter, report

rounds = parameter("rounds", 200)
reps = parameter("reps", 10)


def fibonacci(number):
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


class Account:
    def __init__(self, owner, balance):
        self.owner, self.balance = owner, balance

    def pay(self, amount):
        self.balance += amount


def work():
    for number in range(rounds):
        fibonacci(10)
        words = [f"word{number % 7}-{index}" for index in range(50)]
        counts = {}
        for word in words:
            counts[word[:5]] = counts.get(word[:5], 0) + len(word)
        account = Account("someone", 0)
        for amount in counts.values():
            account.pay(amount)
        json.loads(json.dumps({"counts": counts, "balance": account.balance}))
        sorted(words, key=lambda it: it[::-1])


elapsed = median_time(work, reps)
report("PythonMix", "python", {"reps": reps, "rounds": rounds}, elapsed, rounds)
