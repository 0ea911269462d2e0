"""Noise and sensitivity of a history with one instance per night."""

import random
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

NIGHTS = 40
NOISE = {"sort": 0.01, "scan": 0.02, "parse": 0.01, "join": 0.03, "render": 0.01, "hash": 0.15, "moved": 0.01, "count": 0}


@pytest.fixture(scope="session")
def nightly(new_records):
    """The report of 40 nights: `moved` is twice as slow for the last five of them, and `count` is always the same."""
    records = new_records()
    chance = random.Random(5)
    for night in range(NIGHTS):
        started = f"2026-{5 + night // 28:02}-{night % 28 + 1:02}T02:00:00Z"
        session = records.record("session", suite="nightly", tool="t", started=started)
        metrics = {"wall_time": {"unit": "s", "better": "lower"}}
        run = records.record("run", session=session, version={"name": f"1.{night}", "date": started}, metrics=metrics)
        for name, noise in NOISE.items():
            level = 2 if name == "moved" and night >= NIGHTS - 5 else 1
            records.instance(run, {"id": name}, {"wall_time": level * chance.lognormvariate(0, noise)})
    return records.report()


def rows(page):
    page.wait_for_selector("#rows tbody tr")
    return {row.locator(".name a").inner_text(): row.locator("td").all_inner_texts() for row in page.locator("#rows tbody tr").all()}


def sizes(texts):
    return [float(text.removesuffix(" %")) for text in texts]


def test_noise_is_that_from_night_to_night(visit, nightly):
    page = visit(nightly / "variability.html")
    assert re.fullmatch(r"Half of 6 histories vary by [\d.]+ % or more from night to night", page.locator("h1").inner_text())
    table = rows(page)
    assert list(table)[:2] == ["hash", "join"]
    assert table["sort"][1] == "40"
    for name in ["sort", "join", "hash"]:
        (noise,) = sizes([table[name][3]])
        assert 0.7 < noise / (100 * NOISE[name]) < 1.4, table[name]
    assert table["moved"][-1] == "5 nights since its last change (10 are needed)"
    assert table["count"][-1] == "the same value in most nights"
    page.locator(".fact a").first.click()
    page.wait_for_function("document.querySelectorAll('#rows tbody tr').length === 1")
    assert list(rows(page)) == ["hash"]


@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
def test_sensitivity_is_the_step_that_is_seen_after_some_nights(visit, nightly, width, dark):
    page = visit(nightly / "detection.html", width=width, dark=dark)
    answer = page.locator("h1").inner_text()
    assert re.fullmatch(r"In half of 6 histories a step of [\d.]+ % is seen after 10 nights, one of [\d.]+ % after 3", answer)
    table = rows(page)
    for name in ["sort", "hash"]:
        three, five, ten = sizes(table[name][3:6])
        assert three > five > ten > 100 * NOISE[name], table[name]
    assert sizes([table["hash"][4]]) > sizes([table["sort"][4]])
    assert table["moved"][3:6] == ["–"] * 3
    serious = [it["id"] for it in Axe().run(page, options={"preload": False}).response["violations"] if it["impact"] in ("serious", "critical")]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
