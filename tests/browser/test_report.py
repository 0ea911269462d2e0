"""The report in a real browser, from file://."""

import csv
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

CHARTS = ["history", "distribution", "iterations", "instances", "burn-in"]


def names(page):
    return page.locator("#benchmarks tbody .name > a").all_inner_texts()


def wait_for_charts(page):
    page.wait_for_function(
        "document.querySelector('.chart') && [...document.querySelectorAll('.chart .plot')].every(it => it.querySelector('canvas'))"
    )


def test_the_index_answers_first_and_lists_everything(visit, report):
    page = visit(report / "index.html")
    page.wait_for_selector("#forest tbody tr")
    answer = page.locator("h1").inner_text()
    assert re.match(r"✗ \d+ regressions, \d+ improvements, ", answer)
    assert "slower than before" in page.locator("h1 + .fact").inner_text()
    assert "Of 63 benchmarks, in their latest runs: 2 failed;" in page.locator(".headline").inner_text()
    # The plot begins near the top.
    assert page.locator("#forest").bounding_box()["y"] < 420
    page.get_by_role("button", name="Table").click()
    page.wait_for_selector("#benchmarks tbody tr")
    assert page.url.endswith("#view=table")
    assert page.locator("#shown").inner_text() == "70 rows"
    assert len(names(page)) == 70
    row = page.locator("#benchmarks tbody tr", has_text="zstd[level=3]").nth(1)
    assert re.search(r"fast · synthetic · #compress", row.inner_text())
    assert re.search(r"[\d.]+ ms \[[\d.]+–[\d.]+\]", row.inner_text())
    assert row.locator(".sparkline path").get_attribute("d").startswith("M")


def test_what_is_not_news_is_folded_and_unfolds(visit, report):
    page = visit(report / "index.html")
    page.wait_for_selector("#forest tbody tr")
    rows = page.locator("#forest tbody tr:not(.fold)")
    decided = rows.count()
    assert page.locator("#forest .chip.equivalent, #forest .chip.inconclusive").count() == 0
    fold = page.locator("#forest .fold button", has_text="undecided").first
    assert re.match(r"\d+ benchmarks: \d+ undecided", fold.inner_text())
    fold.click()
    assert rows.count() > decided
    assert page.locator("#forest .chip.inconclusive").count() > 0
    # The decided set the axis: none of their intervals ends at its ends.
    page.locator("#forest .fold button").first.click()
    assert page.locator("#forest .forest-end").count() == 0
    page.get_by_role("button", name="Values").click()
    assert "→" in page.locator("#forest tbody tr").first.inner_text()


def test_search_filters_and_order_are_kept_in_the_address(visit, report):
    page = visit(report / "index.html", "#view=table")
    page.wait_for_selector("#benchmarks tbody tr")
    page.fill('[name="q"]', "sort stable")
    assert page.locator("#shown").inner_text() == "20 of 70 rows"
    page.get_by_role("button", name="latest").click()
    page.wait_for_function("location.hash.includes('sort=-value')")
    largest = names(page)[0]
    assert largest == "sort[size=524288][stable]"
    fragment = page.evaluate("location.hash")
    again = visit(report / "index.html", fragment)
    again.wait_for_selector("#benchmarks tbody tr")
    assert again.input_value('[name="q"]') == "sort stable"
    assert names(again) == names(page)
    assert again.locator('[data-sort="value"]').get_attribute("aria-sort") == "descending"
    again.get_by_role("button", name="Clear").click()
    again.wait_for_function("!location.hash.includes('q=')")
    again.get_by_role("button", name="Table").click()
    again.wait_for_function("document.querySelectorAll('#benchmarks tbody tr').length === 70")


def test_filters_by_tag_suite_variant_state_and_metric_agree(visit, report):
    page = visit(report / "index.html", "#view=table&tag=compress&variant=fast")
    page.wait_for_selector("#benchmarks tbody tr")
    assert names(page) == ["zstd[level=3]"]
    page.goto((report / "index.html").as_uri() + "#view=table&state=failures")
    page.wait_for_function("document.querySelectorAll('#benchmarks tbody tr').length === 3")
    assert names(page) == ["sometimes fails", "sometimes fails", "always fails"]
    page.select_option('[name="metric"]', "peak_memory")
    page.wait_for_function("location.hash.includes('metric=peak_memory')")
    page.wait_for_function("document.querySelector('#benchmarks tbody').innerText.includes('MiB')")
    page.select_option('[name="suite"]', "sweep")
    page.wait_for_function("document.getElementById('shown').innerText.startsWith('0 of')")


def test_the_answer_leads_to_the_rows_that_it_speaks_of(visit, report):
    page = visit(report / "index.html")
    page.wait_for_selector("#forest tbody tr")
    page.get_by_role("link", name="2 failed").click()
    page.wait_for_function("document.querySelectorAll('#benchmarks tbody tr').length === 3")
    assert set(names(page)) == {"sometimes fails", "always fails"}
    page.locator(".explained summary").click()
    page.get_by_role("link", name="by more than 5 % between instances").click()
    page.wait_for_function("document.querySelector('#benchmarks tbody').innerText.includes('noisy')")


def test_every_chart_is_drawn(visit, page_of):
    page = visit(page_of("zstd-level-3"))
    wait_for_charts(page)
    assert page.locator(".chart").evaluate_all("all => all.map(it => it.dataset.chart)") == CHARTS
    # A chart that is drawn has many different pixels, an empty one has one.
    for chart in CHARTS:
        colours = page.locator(f'[data-chart="{chart}"] canvas').evaluate(
            """canvas => new Set(new Uint32Array(canvas.getContext('2d')
               .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
        )
        assert colours > 20, chart


def test_a_chart_can_be_looked_at_another_way_and_hovered(visit, page_of):
    page = visit(page_of("gzip-level-6"))
    wait_for_charts(page)
    chart = page.locator('[data-chart="instances"]')
    chart.get_by_role("button", name="by host").click()
    assert chart.get_by_role("button", name="by host").get_attribute("aria-pressed") == "true"
    plot = page.locator('[data-chart="history"] .plot')
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    found = False
    for x in range(60, int(box["width"]) - 10, 7):
        for y in range(40, int(box["height"]) - 40, 9):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if page.locator(".chart-tooltip").count():
                found = True
                break
        if found:
            break
    text = page.locator(".chart-tooltip").first.inner_text()
    assert re.search(r"\d+ ms \(95 % CI \d+–\d+ ms, 5 instances × 6 on 3 hosts\)", text)
    assert "5 burn-in" in text


def test_a_double_click_shows_everything_again_after_zooming(visit, page_of):
    page = visit(page_of("gzip-level-6"))
    wait_for_charts(page)
    plot = page.locator('[data-chart="iterations"] .plot')
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 60)
    pixels = "() => document.querySelector('[data-chart=iterations] canvas').toDataURL()"
    before = page.evaluate(pixels)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Shift")
    page.wait_for_function(f"before => ({pixels})() !== before", arg=before)
    page.mouse.dblclick(box["x"] + 300, box["y"] + 60)
    page.wait_for_function(f"before => ({pixels})() === before", arg=before)


def test_older_runs_are_loaded_when_asked_for(visit, page_of):
    page = visit(page_of("many-iterations"))
    wait_for_charts(page)
    choice = page.locator('[data-chart="iterations"] select')
    before = page.locator('[data-chart="iterations"] p').text_content()
    choice.select_option("load")
    page.wait_for_function("document.querySelector('[data-chart=iterations] select').options.length > 2")
    assert choice.input_value() == "0"
    choice.select_option("")
    assert page.locator('[data-chart="iterations"] p').text_content() == before


def test_every_number_can_be_traced(visit, page_of):
    page = visit(page_of("sometimes-fails"))
    wait_for_charts(page)
    page.locator("#runs .trace").first.click()
    text = page.locator("#trace").inner_text()
    assert "what it rests on" in text
    assert re.search(r"Iterations excluded: 3 in interrupted instances, 4 burn-in, \d+ failed, \d+ timed out\.", text)
    assert page.locator("#trace [aria-label=Instances] tbody tr").count() == 5
    page.keyboard.press("Escape")
    assert not page.locator("#trace").is_visible()


def test_a_number_of_the_index_leads_to_what_it_rests_on(visit, report):
    page = visit(report / "index.html", "#view=table&q=zstd")
    page.wait_for_selector("#benchmarks tbody tr")
    page.locator("#benchmarks .trace").first.click()
    page.wait_for_selector("#trace[open]")
    assert page.locator("#trace [aria-label=Instances] tbody tr").count() == 5


def test_every_iteration_can_be_read_and_saved(visit, page_of):
    page = visit(page_of("sometimes-fails"))
    page.get_by_role("button", name="Show the table").click()
    page.wait_for_selector("#iterations tbody tr")
    assert page.locator("#iterations tbody tr").count() == 100
    assert "1 to 100 of 272" in page.locator("#iterations").inner_text()
    page.get_by_role("button", name="Oldest").click()
    page.wait_for_function("document.querySelector('#iterations').innerText.includes('201 to 272')")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.DictReader(download.value.path().open(newline="", encoding="utf-8")))
    assert len(rows) == 272
    failed = next(row for row in rows if row["outcome"] == "failed")
    assert failed["message"].endswith("'quotes'\n  at step 2 of 5")
    assert failed["wall_time (s)"] == ""


def test_charts_can_be_saved(visit, page_of):
    page = visit(page_of("zstd-level-3"))
    wait_for_charts(page)
    chart = page.locator('[data-chart="distribution"]')
    with page.expect_download() as download:
        chart.get_by_role("button", name="SVG").click()
    svg = download.value.path().read_text(encoding="utf-8")
    assert svg.startswith("<svg") and "wall time (ms)" in svg
    with page.expect_download() as download:
        chart.get_by_role("button", name="CSV").click()
    assert download.value.path().read_text().startswith("group,value,place,instance,colour,low,q1,median,q3,high,count\n")


def test_summaries_without_samples_are_marked_and_not_judged(visit, report, page_of):
    page = visit(report / "index.html")
    page.wait_for_selector("#forest tbody tr")
    page.locator(".explained summary").click()
    page.get_by_role("link", name="have only summaries of their source").click()
    page.wait_for_function("document.querySelectorAll('#benchmarks tbody tr').length === 2")
    assert names(page) == ["only summaries", "one summary"]
    row = page.locator("#benchmarks tbody tr").first
    assert re.search(r"1\.\d\d ms ± 0\.\d\d \(iqr\)\s+\? undecided\s+summary median of 30, spread iqr", row.inner_text())
    assert row.locator(".sparkline path").get_attribute("d").startswith("M")
    row.locator(".trace").click()
    page.wait_for_selector("#trace[open]")
    text = page.locator("#trace").inner_text()
    assert "a summary, median of 30, spread iqr. The source kept no samples, so there is no interval." in text
    assert re.search(r"max 1\.\d\d ms, min \d", text)


def test_a_long_history_of_summaries_is_drawn_without_intervals(visit, page_of):
    page = visit(page_of("only-summaries"))
    wait_for_charts(page)
    assert page.locator(".chart").evaluate_all("all => all.map(it => it.dataset.chart)") == ["history"]
    assert page.locator(".chart h3").inner_text() == "wall time: run by run, as the source summarised it"
    assert "300 summaries that the source kept instead of samples (median/iqr), without an interval" in page.locator(".chart").text_content()
    assert "--benchmark-save-data" in page.locator(".headline .explained").text_content()
    page.wait_for_selector("#iterations")
    assert "None: the source kept summaries and no samples." in page.locator("#iterations").inner_text()
    assert page.locator("#runs tbody tr").count() == 12
    with page.expect_download() as download:
        page.locator(".chart").get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(download.value.path().open(newline="", encoding="utf-8")))
    assert len(rows) == 300
    assert {row["lower"] for row in rows} == {""}


def test_a_single_summary_says_why_nothing_is_drawn(visit, page_of):
    page = visit(page_of("one-summary"))
    page.wait_for_selector("#runs tbody tr")
    assert "Nothing to draw yet" in page.locator("#charts").inner_text()
    assert page.locator("#charts .zoom").count() == 0


def test_samples_and_summaries_of_one_history_are_told_apart(visit, page_of):
    page = visit(page_of("summaries-then-samples"))
    wait_for_charts(page)
    assert page.locator(".chart").evaluate_all("all => all.map(it => it.dataset.chart)") == CHARTS
    assert "a summary and a mean of samples may differ" in page.locator('[data-chart="history"]').text_content()
    with page.expect_download() as download:
        page.locator('[data-chart="history"]').get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(download.value.path().open(newline="", encoding="utf-8")))
    count = lambda group: sum(row["group"] == group for row in rows)
    assert [count(group) for group in ["baseline", "baseline, summaries", "fast", "fast, summaries"]] == [4, 8, 4, 8]


def test_runs_back_to_back_are_told_whatever_they_are_taken_as(visit, report, page_of):
    page = visit(page_of("runs-as-instances"))
    assert "Instances are single runs of hyperfine, one right after another" in page.locator(".headline .explained").text_content()
    page = visit(page_of("runs-as-iterations"))
    assert "are the iterations of one instance; so there is no interval" in page.locator(".headline .explained").text_content()
    page.get_by_role("link", name="user time", exact=True).first.click()
    page.wait_for_function("document.querySelector('#charts .notes').innerText.includes('hyperfine keeps a time for every run')")
    page = visit(report / "index.html")
    page.locator(".explained summary").click()
    assert page.locator(".explained").inner_text().count("1 benchmark: ") == 2


def test_metrics_are_chosen_by_the_address(visit, page_of):
    page = visit(page_of("zstd-level-3"), "#metric=peak_memory")
    wait_for_charts(page)
    assert page.locator("#charts-title").inner_text() == "peak memory"
    page.get_by_role("link", name="user time").first.click()
    page.wait_for_function("document.querySelector('#charts-title').innerText === 'user time'")
    assert "metric=user_time" in page.url


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>\"'&</title>", "../../etc/passwd", "benchmarks/überlång_çşğ/日本語_test.py::test[α→β \\ \u2028]", "x" * 200]
)
def test_odd_names_are_shown_as_they_are(visit, report, name):
    page = visit(report / "index.html", "#view=table&suite=odd+names")
    page.wait_for_selector("#benchmarks tbody tr")
    titles = page.locator("#benchmarks .name > a").evaluate_all("all => all.map(it => it.title)")
    assert name in titles
    page.locator("#benchmarks .name > a").nth(titles.index(name)).click()
    wait_for_charts(page)
    assert page.locator(".about .of").evaluate("it => it.textContent") == name
    page.get_by_role("button", name="Show the table").click()
    page.wait_for_selector("#iterations tbody tr")


@pytest.mark.parametrize("beginning", ["always-fails", "single-instance", "single-iteration"])
def test_pages_with_little_to_show_teach(visit, page_of, beginning):
    page = visit(page_of(beginning))
    page.wait_for_selector("#runs tbody tr")
    text = page.locator("main").text_content()
    if beginning == "always-fails":
        assert "no iteration of the run" in text
        assert "synthetic failure: <b>no such" in page.locator("#failures").evaluate("it => it.textContent")
    else:
        assert "Fewer than 3 instances: two runs cannot be compared, only longer histories." in text
        assert "One run so far" in text
    # What failed has neither means nor a distribution.
    wait_for_charts(page) if beginning != "single-iteration" else page.wait_for_timeout(200)
    charts = page.locator(".chart").evaluate_all("all => all.map(it => it.dataset.chart)")
    assert charts == {"always-fails": ["history", "iterations"], "single-instance": ["distribution", "iterations", "burn-in"], "single-iteration": []}[beginning]


def is_dark(page):
    red = re.match(r"rgb\((\d+)", page.evaluate("getComputedStyle(document.body).backgroundColor"))
    return int(red.group(1)) < 100


def test_dark_mode_follows_the_preference_and_the_switch_and_is_remembered(visit, report, page_of):
    assert is_dark(visit(report / "index.html", dark=True))
    page = visit(report / "index.html")
    page.wait_for_selector("#forest tbody tr")
    assert not is_dark(page)
    page.get_by_role("button", name="Theme").click()
    assert is_dark(page)
    page.goto(page_of("zstd").as_uri())
    wait_for_charts(page)
    assert is_dark(page)
    page.get_by_role("button", name="Theme").click()
    assert not is_dark(page)


def test_dark_pages_are_printed_in_light_colours_and_fit_the_paper(visit, report, page_of):
    for path in [report / "index.html", page_of("sometimes-fails")]:
        page = visit(path, "#view=table" if path.name == "index.html" else "", width=717, height=1000, dark=True)
        page.wait_for_selector("#benchmarks tbody tr, .chart canvas")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert not is_dark(page)
        dot = page.locator("[data-colour]").first.evaluate("it => it.style.background || it.style.stroke")
        assert dot in ("rgb(0, 114, 178)", "rgb(213, 94, 0)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 717, path.name


@pytest.mark.parametrize("beginning", ["benchmarks-io", "xxxx", "sometimes-fails", "gzip", "only-summaries", "summaries-then"])
def test_a_phone_needs_no_sideways_scrolling(visit, report, page_of, beginning):
    for path in [report / "index.html", page_of(beginning)]:
        page = visit(path, width=390, height=844)
        page.wait_for_selector("#forest tbody tr, .chart canvas")
        if page.get_by_role("button", name="Show the table").count():
            page.get_by_role("button", name="Show the table").click()
            page.wait_for_selector("#iterations tbody tr")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_keyboard_suffices(visit, report):
    page = visit(report / "index.html", "#view=table&q=gzip")
    page.wait_for_selector("#benchmarks tbody tr")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the table"
    page.locator('[data-sort="noise"] button').focus()
    page.keyboard.press("Enter")
    assert page.locator('[data-sort="noise"]').get_attribute("aria-sort") == "descending"
    page.locator("#benchmarks .name > a").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".chart")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(visit, report, page_of, dark, width):
    for path in [report / "index.html", page_of("sometimes-fails"), page_of("only-summaries")]:
        page = visit(path, width=width, dark=dark)
        page.wait_for_selector("#forest tbody tr, .chart canvas")
        if page.get_by_role("button", name="Show the table").count():
            page.get_by_role("button", name="Show the table").click()
            page.wait_for_selector("#iterations tbody tr")
        found = Axe().run(page, options={"preload": False}).response["violations"]
        serious = [
            (it["id"], it["nodes"][0]["html"], it["nodes"][0]["failureSummary"])
            for it in found
            if it["impact"] in ("serious", "critical")
        ]
        assert serious == [], path.name


def test_without_script_the_answer_is_still_there(visit, page_of):
    page = visit(page_of("zstd-level-3"), script=False)
    assert "Wall time: undecided, after against before" in page.locator("body").inner_text()
    assert "needs JavaScript" in page.locator("body").inner_text()


def test_no_page_is_larger_than_300_kb(report):
    for path in [*report.glob("*.html"), *(report / "benchmark").iterdir()]:
        assert path.stat().st_size <= 300_000, path.name


def test_the_programs_own_report_opens(visit, measured_report):
    page = visit(measured_report / "index.html")
    page.wait_for_selector("#benchmarks tbody tr")
    assert sorted(names(page)) == ["exit 3", "true"]
    page.get_by_role("link", name="true", exact=True).click()
    wait_for_charts(page)
    assert re.search(r"Excluded: 3 burn-in\.", page.locator(".headline").inner_text())
    page.get_by_role("link", name="peak memory", exact=True).click()
    page.wait_for_function("document.querySelector('#charts-title').innerText === 'peak memory'")
    page.wait_for_function("document.querySelector('#runs').innerText.includes('MiB')")


@pytest.fixture(scope="session")
def twelve_variants(new_records):
    """The page of a benchmark with twelve variants, two runs of each."""
    records = new_records()
    for day in (1, 2):
        session = records.record("session", suite="s", tool="t", started=f"2026-05-0{day}T10:00:00Z", name="0123456789abcdef" * 2)
        for variant in range(12):
            run = records.record("run", session=session, variant=f"v{variant:02}", metrics={"wall_time": {"unit": "s"}})
            for instance in range(3):
                records.instance(run, {"id": "sort"}, {"wall_time": 1 + variant / 10 + instance / 1000})
    (page,) = (records.report() / "benchmark").glob("*.html")
    return page


def test_many_variants_are_folded(visit, twelve_variants):
    page = visit(twelve_variants)
    wait_for_charts(page)
    assert "10 more variants" in page.locator(".headline").inner_text()
    # Single iterations have no course.
    charts = lambda: page.locator(".chart").evaluate_all("all => all.map(it => it.dataset.chart)")
    assert charts() == ["history", "distribution"]
    page.get_by_text("1 more chart: mean of each instance").click()
    page.wait_for_function("document.querySelectorAll('.chart').length === 3")
    wait_for_charts(page)
    assert charts() == ["history", "distribution", "instances"]
    assert page.locator(".chart .plot canvas").last.bounding_box()["width"] > 400
    assert not re.search("[0-9a-f]{32}", page.locator("main").inner_text())
