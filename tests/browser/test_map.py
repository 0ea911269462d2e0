"""The map of a history, and the open changes beside it."""

import random
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

NIGHTS = 24


@pytest.fixture(scope="session")
def nights(new_records):
    """The report of 24 nights of eight benchmarks: `scan` is 40 % slower since the 17th, and `flaky` failed once."""
    records = new_records()
    chance = random.Random(3)
    for night in range(NIGHTS):
        started = f"2026-05-{night + 1:02}T02:00:00Z"
        session = records.record("session", suite="nightly", tool="t", started=started, name=f"night-{night:02}")
        metrics = {"wall_time": {"unit": "s", "better": "lower"}}
        run = records.record("run", session=session, version={"name": f"1.{night}", "date": started}, metrics=metrics)
        for name in ("sort", "scan", "parse", "join", "render", "hash", "pack", "flaky"):
            if name == "flaky" and night == 5:
                instance = records.record("instance", run=run, benchmark={"id": name})
                records._write("iteration", instance=instance, index=0, outcome="failed", metrics={})
                records._write("instance_end", instance=instance)
                continue
            level = 1.4 if name == "scan" and night >= 16 else 1.0
            records.instance(run, {"id": name}, {"wall_time": level * chance.lognormvariate(0, 0.01)})
    return records.report()


def opened(visit, nights, **more):
    page = visit(nights / "index.html", **more)
    page.wait_for_selector("#history-map[data-ready]")
    return page


def colour_at(page, row, column, rows=8):
    """The colour in the middle of a cell of the whole map."""
    return page.evaluate(
        """([row, column, rows, nights]) => {
          const map = document.getElementById("history-map");
          const left = Math.min(240, Math.max(90, map.clientWidth * 0.24));
          const x = left + ((map.clientWidth - left - 6) * (column + 0.5)) / nights;
          const y = ((map.clientHeight - 22) * (row + 0.5)) / rows;
          const copy = document.createElement("canvas");
          [copy.width, copy.height] = [map.width, map.height];
          const pen = copy.getContext("2d", { willReadFrequently: true });
          pen.drawImage(map, 0, 0);
          return [...pen.getImageData(Math.round(x) + 2, Math.round(y), 1, 1).data].slice(0, 3);
        }""",
        [row, column, rows, NIGHTS],
    )


def test_the_answer_is_the_step_and_the_map_shows_it(visit, nights):
    page = opened(visit, nights)
    assert page.locator("h1").inner_text().startswith("✗ 1 new regression")
    assert re.match(r"scan: wall time slower by [\d.]+ % \[[\d.]+, [\d.]+\], since 1\.16, 2026-05-17\.", page.locator("h1 + .fact").inner_text())
    assert page.locator("#history-map").bounding_box()["y"] < 400
    assert "8 rows × 24 nights" in page.locator("#map-range").inner_text()
    # Rows are in the order of the names: flaky, hash, join, pack, parse, render, scan, sort.
    usual = colour_at(page, 7, 3)
    assert [colour_at(page, 6, column) == usual for column in (3, 15, 17, 23)] == [True, True, False, False]
    red, green, _ = colour_at(page, 6, 20)
    assert red > green + 50
    assert colour_at(page, 0, 5) != usual
    findings = page.locator(".open-findings li")
    assert findings.count() == 1 and "since 1.16" in findings.inner_text()
    assert findings.locator("svg path").count() == 2


def test_a_cell_says_what_it_is_and_leads_to_its_run(visit, nights):
    page = opened(visit, nights)
    page.locator("#history-map").focus()
    for key in ["ArrowDown"] * 7 + ["ArrowLeft"] * 3:
        page.keyboard.press(key)
    page.wait_for_function("/1\\.\\d+ s/.test(document.getElementById('map-cell').innerText)")
    said = page.locator("#map-cell").inner_text()
    assert re.match(r"scan · 1\.\d\d, 2026-05-\d\d · 1\.\d+ s, about \d+ % worse than the level before", said), said
    page.keyboard.press("Enter")
    page.wait_for_selector("#trace[open]")
    assert "scan" in page.title()


def test_a_search_leaves_rows_and_is_kept(visit, nights):
    page = opened(visit, nights)
    page.fill('[name="q"]', "s")
    page.wait_for_function("document.getElementById('map-range').innerText.startsWith('4 rows')")
    page.get_by_role("button", name="Table").click()
    page.wait_for_selector("#benchmarks tbody tr")
    assert page.locator("#benchmarks tbody tr").count() == 4
    page.get_by_role("button", name="Map").click()
    assert page.locator("#history-map").is_visible()


def test_zooming_shows_less_and_all_comes_back(visit, nights):
    page = opened(visit, nights)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("document.getElementById('map-range').innerText.includes(' of 8 benchmarks')")
    page.get_by_role("button", name="All", exact=True).click()
    page.wait_for_function("document.getElementById('map-range').innerText.startsWith('8 rows')")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious_and_nothing_overflows(visit, nights, dark, width):
    page = opened(visit, nights, width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"preload": False}).response["violations"]
    serious = [(it["id"], it["nodes"][0]["html"]) for it in found if it["impact"] in ("serious", "critical")]
    assert serious == []
