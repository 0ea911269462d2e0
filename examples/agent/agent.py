#!/usr/bin/env python3
"""Plays an agent that tries ten changes of work.py, by the rules of skills/lapwing/SKILL.md: one change, the program's own check, judge, keep or undo.

    agent.py REPOSITORY [--seed N] [OPTION…] -- COMMAND…

REPOSITORY has work.py, committed. The command measures it; options are those of `lapwing judge`. Three changes make it faster, seven do nothing.
Prints what was accepted, as JSON.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

# What an agent that has looked at a profile, or at the code alone, would try.
CHANGES = {
    "a set of known words": ("    seen = []\n    for word in words:\n        if word not in seen:\n            seen.append(word)\n", "    seen = set()\n    for word in words:\n        seen.add(word)\n"),
    "sort once": ("        order.append((-counts[word], word))\n        order.sort()\n", "        order.append((-counts[word], word))\n    order.sort()\n"),
    "checksums of words that were seen": (
        "    total = 0\n    for word in words:\n        value = 0\n        for letter in word * 4:\n            value = (value * 31 + ord(letter)) % 1000003\n        total = (total + value) % 1000003\n",
        "    total, values = 0, {}\n    for word in words:\n        if word not in values:\n            value = 0\n            for letter in word * 4:\n                value = (value * 31 + ord(letter)) % 1000003\n            values[word] = value\n        total = (total + values[word]) % 1000003\n",
    ),
    "an f-string": ('print(" ".join("%s=%d" % (word, -number) for number, word in ranks(counts)))', 'print(" ".join(f"{word}={-number}" for number, word in ranks(counts)))'),
    "no concatenation": ('        text = text + " ".join(words) + "\\n"\n', '        text += " ".join(words) + "\\n"\n'),
    "an empty text": ('    best = ""\n', "    best = str()\n"),
    "a shorter name": ("    pattern = re.compile", "    pattern = compiled = re.compile"),
    "parentheses": ("number >> 16 & 0xF", "(number >> 16) & 15"),
    "a tuple": ("WORDS = ", "WORDS = [*"),
    "an import where it is used": ("def split(text):\n", "def split(text):\n    import re\n\n"),
}
REAL = {"a set of known words", "sort once", "checksums of words that were seen"}


def run(folder, *words):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def changed(source, name):
    before, after = CHANGES[name]
    assert source.count(before) == 1, name
    source = source.replace(before, after)
    # The list that was opened is closed.
    return source.replace(".split()\n", ".split()]\n", 1) if name == "a tuple" else source


def play(folder, seed, judge):
    """Tries all changes in a random order; returns the names of those that were accepted."""
    source = folder / "work.py"
    names, accepted = list(CHANGES), []
    random.Random(seed).shuffle(names)
    expected = run(folder, sys.executable, "work.py", "300").stdout
    for name in names:
        source.write_text(changed(source.read_text(), name))
        # Faster is not correct.
        assert run(folder, sys.executable, "work.py", "300").stdout == expected, name
        done = run(folder, "lapwing", "judge", "--campaign", "speed", "--baseline", "HEAD", "--format", "json", *judge)
        if done.returncode not in (0, 1, 125):
            sys.exit(done.stdout + done.stderr)
        print(f"{name}: {json.loads(done.stdout)['headline']}", file=sys.stderr)
        if done.returncode == 0:
            run(folder, "git", "commit", "--quiet", "--all", "--message", name)
            accepted.append(name)
        else:
            run(folder, "git", "checkout", "--quiet", "work.py")
    return accepted


def main():
    folder, *options = sys.argv[1:] or sys.exit(__doc__)
    seed = 0
    if options[:1] == ["--seed"]:
        seed, options = int(options[1]), options[2:]
    accepted = play(Path(folder), seed, options)
    shown = json.loads(run(folder, "lapwing", "campaign", "show", "--format", "json").stdout)
    missed, wrong = sorted(REAL - set(accepted)), sorted(set(accepted) - REAL)
    print(json.dumps({"accepted": accepted, "missed": missed, "wrong": wrong, "campaign": shown["headline"]}))


if __name__ == "__main__":
    main()
