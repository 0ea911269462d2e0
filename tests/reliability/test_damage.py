"""Damaged files: every command ends with an answer, `db check` notices, `db rescue` saves the rest."""

import random
import shutil

from conftest import FULL, Lapwing

# Of SQLite, as `record/store/open.rs` sets it.
PAGE = 32_768


def damage(content, way, chance):
    """Returns a damaged copy."""
    content = bytearray(content)
    start = PAGE * chance.randrange(len(content) // PAGE)
    sector = start + 512 * chance.randrange(PAGE // 512)
    if way == "page of zeros":
        content[start : start + PAGE] = bytes(PAGE)
    elif way == "page of noise":
        content[start : start + PAGE] = chance.randbytes(PAGE)
    elif way == "sector of zeros":
        content[sector : sector + 512] = bytes(512)
    elif way == "sector of noise":
        content[sector : sector + 512] = chance.randbytes(512)
    elif way == "bit":
        content[start + chance.randrange(PAGE)] ^= 1 << chance.randrange(8)
    elif way == "page of another place":
        other = PAGE * chance.randrange(len(content) // PAGE)
        content[start : start + PAGE] = content[other : other + PAGE]
    elif way == "cut":
        del content[max(start, PAGE) + 100 :]
    return content


WAYS = ["page of zeros", "page of noise", "sector of zeros", "sector of noise", "bit", "page of another place", "cut"]


def test_a_damaged_store_is_noticed_and_rescued(source, tmp_path, record_property):
    chance = random.Random(3)
    expected = source.lines()
    content = source.store.read_bytes()
    measured = {line for line in expected if '"kind":"iteration"' in line or '"kind":"span"' in line}
    cases, noticed, saved, harmless, others = 550 if FULL else 14, 0, 0, 0, 0
    for number in range(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = Lapwing(folder / "lapwing.db")
        program.store.write_bytes(damage(content, WAYS[number % len(WAYS)], chance))
        program.run("list", "benchmarks", codes=(0, 2))
        said = program.run("db", "check", codes=(0, 2))
        new = Lapwing(folder / "new.db")
        program.run("db", "rescue", program.store, "-o", new.store)
        new.run("db", "check")
        lines = new.lines()
        left = len(lines & expected)
        saved += left
        if "no damage found" in said:
            # Measurements have checksums; a letter of a name has none.
            assert measured <= lines, f"case {number}: {said}"
            harmless += left == len(expected)
            others += left < len(expected)
        else:
            noticed += 1
        shutil.rmtree(folder)
    total = cases * len(expected)
    record_property(
        "damage",
        f"{cases} damaged stores: {noticed} noticed, {harmless} changed no record, "
        f"{others} changed a text without a checksum; "
        f"{saved:,} of {total:,} records saved ({100 * saved / total:.1f} %)",
    )
