"""Counts words of a text that it makes itself. Three spots are slow, and seven only look like it."""

import re
import sys

WORDS = "the quick brown fox jumps over a lazy dog and runs far away from every hill".split()


def make_text(lines):
    text = ""
    number = 7
    for line in range(lines):
        words = []
        for place in range(9):
            number = number * 1103515245 + 12345 & 0x7FFFFFFF
            words.append(WORDS[number >> 16 & 0xF] + str(number >> 20 & 0x3F))
        text = text + " ".join(words) + "\n"
    return text


def split(text):
    pattern = re.compile("[a-z]+[0-9]*")
    found = []
    for line in text.splitlines():
        for word in pattern.findall(line):
            found.append(word)
    return found


def count(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def known(words):
    seen = []
    for word in words:
        if word not in seen:
            seen.append(word)
    return len(seen)


def longest(words):
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best


def checksum(words):
    total = 0
    for word in words:
        value = 0
        for letter in word * 4:
            value = (value * 31 + ord(letter)) % 1000003
        total = (total + value) % 1000003
    return total


def ranks(counts):
    order = []
    for word in counts:
        order.append((-counts[word], word))
        order.sort()
    return order[:3]


def main(lines):
    words = split(make_text(lines))
    counts = count(words)
    print(len(words), known(words), longest(words), checksum(words))
    print(" ".join("%s=%d" % (word, -number) for number, word in ranks(counts)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
