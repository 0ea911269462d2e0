"""Searches a text by word: a small library to measure."""

import bisect

STOP_WORDS = """
the and of to in is it that was for with on he she they we you not are be this have from by at or had but
""".split()


def tokens(text):
    """Splits a text into words in lower case."""
    words = []
    word = []
    for letter in text:
        if letter.isalpha():
            word.append(letter.lower())
        elif word:
            words.append("".join(word))
            word.clear()
    if word:
        words.append("".join(word))
    return words


def stem(word):
    """Removes an ending."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word


def count(words):
    """Counts words by their stem."""
    counts = {}
    for word in words:
        key = stem(word)
        counts[key] = counts.get(key, 0) + 1
    return counts


def index(words):
    """Returns the places of each word that is no stop word."""
    places = {}
    for place, word in enumerate(words):
        for stop_word in STOP_WORDS:
            if word == stop_word:
                break
        else:
            places.setdefault(word, []).append(place)
    return places


def lookup(sorted_words, wanted):
    """Returns how many of the wanted words are among sorted ones."""
    found = 0
    for word in wanted:
        place = bisect.bisect_left(sorted_words, word)
        if place < len(sorted_words) and sorted_words[place] == word:
            found += 1
    return found


def distance(one, other):
    """Returns how many letters differ between two words."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for place, against in enumerate(other, 1):
            change = before + (letter != against)
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, change)
    return row[-1]


def similar(word, words):
    """Returns the words that differ from a word by at most two letters."""
    return [other for other in words if distance(word, other) <= 2]


def encode(places):
    """Packs ascending places into bytes, seven bits each."""
    packed = bytearray()
    last = 0
    for place in places:
        gap, last = place - last, place
        while gap > 127:
            packed.append(gap & 127 | 128)
            gap >>= 7
        packed.append(gap)
    return bytes(packed)


def decode(packed):
    """Unpacks places."""
    places = []
    place = shift = gap = 0
    for byte in packed:
        gap |= (byte & 127) << shift
        if byte & 128:
            shift += 7
            continue
        place += gap
        places.append(place)
        gap = shift = 0
    return places
