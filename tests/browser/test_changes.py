"""The page of changes in the history, and what other pages show of them."""

import json
import re
import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import data_of

RUNS = 40
STEP = 25
COMMITS = [f"{'abcdef'[run % 6]}{run:039x}" for run in range(RUNS)]
WEB = "https://github.com/example/tool"


def seconds(benchmark, run):
    """Noise of 1 %, and a step of two benchmarks."""
    noise = 1 + 0.01 * ((run * 7919 + benchmark * 104729) % 101 - 50) / 50
    step = 1.3 if benchmark < 2 and run >= STEP else 1
    return (1 + benchmark) * noise * step


@pytest.fixture(scope="module")
def changed(new_records):
    """The directory of a report of a history with a change of two benchmarks."""
    records = new_records()
    for number, commit in enumerate(COMMITS):
        day = f"2026-{5 + number // 28:02}-{1 + number % 28:02}"
        attributes = {"repository": "git@github.com:example/tool.git"}
        session = records.record("session", suite="tool", started=f"{day}T02:00:00Z", tool="test", attributes=attributes)
        packages = {"numpy": "2.3.1" if number < STEP else "2.4.0"}
        run = records.record(
            "run",
            session=session,
            version={"commit": commit, "date": f"{day}T01:00:00Z"},
            metrics={"wall_time": {"unit": "s", "better": "lower"}},
            environment={"packages": packages},
        )
        for benchmark in range(6):
            records.instance(run, {"id": f"bench_{benchmark}"}, {"wall_time": seconds(benchmark, number)})
    return records.report()


def open_changes(visit, report, fragment="", **how):
    page = visit(report / "changes.html", fragment, **how)
    page.wait_for_selector("table.listing tbody tr")
    page.wait_for_selector(".cause canvas")
    return page


def test_a_cause_shows_its_evidence_and_links_to_the_commits(visit, changed):
    page = open_changes(visit, changed)
    assert page.locator("h1").inner_text().startswith("✗ 2 new regressions in 6 histories, 40 runs")
    # The first chart is on the first screen, above the facts.
    assert page.locator(".cause .plot").first.bounding_box()["y"] < 400
    picture = page.locator(".runs-picture")
    assert re.fullmatch(r"before [\d.]+ m?s in 25 runs, after [\d.]+ m?s in 15 runs", picture.get_attribute("aria-label"))
    assert page.locator(".cause").count() == 1
    facts = page.locator(".facts").inner_text()
    assert "packages.numpy 2.3.1 → 2.4.0" in facts
    links = page.locator(".facts a").evaluate_all("all => all.map(it => [it.textContent, it.href])")
    assert [f"{COMMITS[STEP][:10]}…{COMMITS[STEP][-4:]}", f"{WEB}/commit/{COMMITS[STEP]}"] in links
    (difference,) = [link for _, link in links if "/compare/" in link]
    good, last = re.fullmatch(rf"{WEB}/compare/(\w{{40}})\.\.\.(\w{{40}})", difference).groups()
    assert COMMITS.index(good) < STEP <= COMMITS.index(last)
    rows = page.locator(".cause tbody tr").all_inner_texts()
    assert len(rows) == 2 and all(COMMITS[STEP][:10] in row and "regression" in row for row in rows)


def test_a_link_to_a_finding_leads_to_its_cause_whatever_is_above(visit, changed):
    index = visit(changed / "index.html", "#view=table")
    index.wait_for_selector("table.listing tbody tr")
    since = index.locator("td.since a")
    assert since.count() == 2
    assert re.match(rf"\+\d+(\.\d)? % since {COMMITS[STEP][:10]}", since.first.inner_text())
    fragment = "#" + since.first.get_attribute("href").split("#")[1]
    page = open_changes(visit, changed, fragment, height=500)
    page.wait_for_function("scrollY > 100")
    assert -1 <= page.locator(".cause").evaluate("it => it.getBoundingClientRect().top") < 200
    row = page.locator(".cause tr:target")
    assert row.count() == 1 and "bench_" in row.inner_text()


def test_a_finding_is_found_by_its_id(visit, changed):
    page = open_changes(visit, changed)
    finding = page.locator(".cause td code").first.inner_text()
    found = open_changes(visit, changed, f"#q={finding}")
    assert found.locator("#shown").inner_text() == "1 of 2 rows"


def test_a_run_of_a_history_links_to_its_commit_and_the_difference(visit, changed):
    (path,) = (changed / "benchmark").glob("bench-0*.html")
    page = visit(path)
    page.wait_for_selector("#runs tbody tr")
    assert re.match("✗ Wall time slower by .* since", page.locator("h1").inner_text())
    assert page.locator("[data-chart=history] .plot").bounding_box()["y"] < 400
    assert page.locator(".next code").inner_text().endswith(page.locator("h1 a").get_attribute("href").split("#")[1])
    page.locator("#runs tbody tr button").first.click()
    page.wait_for_selector("#trace[open] .about-run h3")
    links = page.locator("#trace a").evaluate_all("all => all.map(it => it.href)")
    assert f"{WEB}/compare/{COMMITS[-2]}...{COMMITS[-1]}" in links
    assert f"{WEB}/commit/{COMMITS[-1]}" in links


def test_what_is_said_about_a_change_is_on_all_pages(visit, changed, program):
    triage = ["triage", "explain", "--reason", "a check more", "--by", "Ada"]
    page = open_changes(visit, changed)
    ids = page.locator(".cause td code").all_inner_texts()
    store = ["--store", str(changed.parent / "s.db")]
    subprocess.run([program, *store, *triage, *ids], check=True, capture_output=True)
    known = changed.parent / "known"
    subprocess.run([program, *store, "report", "-o", str(known)], check=True, capture_output=True)
    page = open_changes(visit, known)
    assert "explained by Ada: a check more" in page.locator(".facts").inner_text()
    (path,) = (known / "benchmark").glob("bench-0*.html")
    page = visit(path)
    page.wait_for_selector("[data-chart=history] canvas")
    assert "explained by Ada: a check more" in page.locator("#history-changes").inner_text()
    def tones(report):
        (chart,) = [it for file in (report / "data").glob("benchmarks-*.js") for name, it in data_of(file).items() if re.fullmatch("bench-0-.*[.]m0", name)]
        return json.dumps(chart)

    assert '"tone": "muted"' in tones(known) and '"tone": "worse"' in tones(changed)


def test_a_history_is_drawn_by_time_when_asked(visit, changed):
    (path,) = (changed / "benchmark").glob("bench-0*.html")
    page = visit(path)
    page.wait_for_selector("[data-chart=history] canvas")
    axis = lambda: page.evaluate("echarts.getInstanceByDom(document.querySelector('[data-chart=history] .plot')).getOption().xAxis[0].type")
    assert axis() == "category"
    button = page.locator("[data-chart=history]").get_by_role("button", name="by time")
    button.click()
    assert axis() == "time" and button.get_attribute("aria-pressed") == "true"
    # The marks of the change moved with the points.
    change = page.evaluate("echarts.getInstanceByDom(document.querySelector('[data-chart=history] .plot')).getOption().series.find(({ name }) => name === 'changes').data[0]")
    assert change[3] - change[2] == 24 * 3600 * 1000
    button.click()
    assert axis() == "category"


@pytest.mark.parametrize("width,dark", [(1280, False), (1280, True), (390, False)])
def test_the_page_is_accessible_and_fits(visit, changed, width, dark):
    page = open_changes(visit, changed, width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"preload": False}).response["violations"]
    serious = [(it["id"], it["nodes"][0]["html"]) for it in found if it["impact"] in ("serious", "critical")]
    assert serious == []
