"""The pages that tell a history: runs, parametrisations of a test, bars."""

import csv
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

JOIN = "benchmarks-test-join-py-test-join-10-1000"


def the_test(report):
    (page,) = (report / "test").glob("benchmarks-test-join*.html")
    return page


def canvases(page, number):
    page.wait_for_function(f"document.querySelectorAll('.plot canvas').length === {number}")


def point_at_column(page, column, row):
    """Clicks the point of a row of the first chart's data, where ECharts says that it is."""
    page.evaluate("document.querySelector('[data-chart=history]').scrollIntoView()")
    place = page.evaluate(
        f"""() => {{
          const plot = document.querySelector('[data-chart=history] .plot');
          const chart = echarts.getInstanceByDom(plot);
          const source = chart.getOption().dataset[0].source;
          const [x, y] = chart.convertToPixel({{ seriesIndex: 1 }}, [source.place[{row}], source.{column}[{row}]]);
          const box = plot.getBoundingClientRect();
          return [box.left + x, box.top + y];
        }}"""
    )
    page.mouse.click(*place)


def test_a_click_on_a_point_opens_its_run(visit, page_of):
    page = visit(page_of(JOIN))
    page.wait_for_selector("[data-chart=history] canvas")
    point_at_column(page, "value", 5)
    page.wait_for_selector("#trace[open] .about-run h3")
    text = page.locator("#trace").inner_text()
    assert re.search(r"packages.example-library\s+2\.4\.0\s+2\.5\.0", text), text
    assert "trace=" in page.evaluate("location.hash")
    page.keyboard.press("Escape")
    page.wait_for_function("!location.hash.includes('trace')")


def test_a_run_says_what_differs_how_it_went_and_where_its_files_are(visit, page_of):
    page = visit(page_of(JOIN))
    page.wait_for_selector("#runs tbody tr")
    # Three sessions from the end everything failed; each has two variants.
    failed = page.locator("#runs tbody tr").nth(4)
    assert "failed" in failed.inner_text()
    failed.locator("button").first.click()
    page.wait_for_selector("#trace[open] .artifacts")
    dialog = page.locator("#trace")
    assert "no iteration counts" in dialog.inner_text()
    assert "ValueError: <i>shape</i>" in dialog.locator("pre").first.text_content()
    links = dialog.locator(".artifacts a").evaluate_all("all => all.map(it => it.href)")
    # The page is a local file, so that it may lead to others.
    allowed = ("https://ci.example/runs/", "file:///data/profiles/")
    assert {it for it in allowed if any(link.startswith(it) for link in links)} == set(allowed), links
    assert all(it.startswith(allowed) for it in links), links
    texts = dialog.locator(".artifacts code").all_inner_texts()
    assert "javascript:alert(1)" in texts and "/data/profiles/join.prof" not in texts


def test_the_history_marks_failures_and_the_change_of_the_benchmark(visit, page_of):
    page = visit(page_of(JOIN))
    page.wait_for_selector("[data-chart=history] canvas")
    # A long caption stands behind a question mark.
    caption = page.locator("[data-chart=history] .explained")
    assert not caption.locator("p").is_visible()
    caption.locator("summary").click()
    text = caption.locator("p").inner_text()
    assert "× at the foot are 2 runs with failures." in text and "the benchmark itself changed" in text


def test_a_run_says_that_the_benchmark_itself_changed(visit, page_of):
    page = visit(page_of(JOIN))
    page.wait_for_selector("#runs tbody tr")
    # The last button shows all that there are.
    page.locator("#runs .buttons button").last.click()
    row = page.locator("#runs tbody tr", has_text="new epoch").first
    assert "the benchmark itself changed" in row.locator("td[title]").first.get_attribute("title")
    row.locator("button").first.click()
    page.wait_for_selector("#trace[open] .about-run h3")
    assert "The benchmark itself changed (its definition) since the run of" in page.locator("#trace").inner_text()


def test_the_source_of_a_test_stands_folded_on_its_page(visit, page_of):
    page = visit(page_of(JOIN))
    page.wait_for_selector("#source")
    assert not page.locator("#source pre").is_visible()
    page.locator("#source summary").click()
    assert page.locator("#source pre").inner_text().startswith("def test_join(shape):")
    assert "benchmarks/test_join.py, line 12" in page.locator("#source summary").inner_text()


def test_all_parametrisations_of_a_test_are_drawn_together(visit, report, page_of):
    page = visit(page_of(JOIN))
    page.get_by_role("link", name="all parameters").click()
    canvases(page, 2)
    assert page.locator(".chart h3").all_inner_texts() == ["wall time: baseline", "wall time: fast"]
    series = page.evaluate("echarts.getInstanceByDom(document.querySelector('.plot')).getOption().legend[0].data")
    assert series == ["10-100", "10-1000", "100-100"]
    head = page.locator("#members th").nth(1)
    assert head.inner_text() == "latest wall time [95 % CI]"
    page.get_by_role("link", name="peak memory").click()
    page.wait_for_function("document.querySelector('.chart h3').textContent.startsWith('peak memory')")
    assert head.inner_text() == "latest peak memory [95 % CI]"
    assert "MiB" in page.locator("#members tbody tr").first.inner_text()
    page.get_by_role("link", name="100-100").click()
    page.wait_for_selector("#runs tbody tr")
    assert page.locator(".about .of").inner_text().endswith("[100-100]")


def test_parametrisations_are_searched_for_and_the_address_keeps_it(visit, report):
    page = visit(the_test(report))
    canvases(page, 2)
    page.fill('[name="q"]', "1000")
    page.wait_for_function("document.querySelectorAll('#members tbody tr').length === 2")
    assert page.locator("#shown").inner_text() == "1 of 3 parametrisations."
    again = visit(the_test(report), page.evaluate("location.hash"))
    again.wait_for_function("document.querySelectorAll('#members tbody tr').length === 2")
    legend = again.evaluate("echarts.getInstanceByDom(document.querySelector('.plot')).getOption().series.map(it => it.name)")
    assert "10-1000" in legend and "10-100" not in legend


def test_levels_of_one_session_are_a_curve(visit, new_records):
    records = new_records()
    session = records.record("session", suite="s", tool="t", started="2026-05-01T10:00:00Z")
    run = records.record("run", session=session, metrics={"wall_time": {"unit": "s", "better": "lower"}})
    for level in (1, 6, 9):
        for instance in range(3):
            records.instance(run, {"id": f"zip[level={level}]"}, {"wall_time": level + instance / 100})
    report = records.report()
    (path,) = (report / "test").glob("*.html")
    page = visit(path)
    page.wait_for_selector("[data-chart=sweep] canvas")
    assert page.locator(".chart:visible").count() == 1
    assert page.locator("[data-chart=sweep] .plot").bounding_box()["y"] < 400
    assert page.locator("h1").inner_text() == "Wall time: 1.01 s at level 1, 9.01 s at level 9"
    (path,) = (report / "benchmark").glob("zip-level-6*.html")
    page = visit(path)
    page.wait_for_selector("#charts [data-chart=sweep] canvas")
    assert page.locator("[data-chart=history]").count() == 0


def test_a_chart_is_zoomed_with_keys(visit, page_of):
    page = visit(page_of(JOIN))
    page.wait_for_selector("[data-chart=history] canvas")
    zoom = "(({ start, end }) => [start, end])(echarts.getInstanceByDom(document.querySelector('[data-chart=history] .plot')).getOption().dataZoom[0])"
    page.locator("[data-chart=history] .plot").focus()
    assert page.evaluate(zoom) == [0, 100]
    page.keyboard.press("+")
    assert page.evaluate(zoom) == [25, 75]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(zoom) == [37.5, 87.5]
    page.keyboard.press("0")
    assert page.evaluate(zoom) == [0, 100]


def test_the_csv_of_a_history_stands_for_itself(visit, page_of, report):
    for path, heads in [
        (page_of(JOIN), "group,started,session,variant,version,run,value,lower,upper,instances,failures,unit"),
        (the_test(report), "group,session,variant,version,run,value,lower,upper,instances,failures,unit"),
    ]:
        page = visit(path)
        page.wait_for_selector("[data-chart=history] canvas")
        with page.expect_download() as download:
            page.locator("[data-chart=history]").first.get_by_role("button", name="CSV").click()
        lines = open(download.value.path(), encoding="utf-8").read().splitlines()
        assert lines[0] == heads
        assert sum(line.startswith("group,") for line in lines) == 1
        first = dict(zip(heads.split(","), lines[1].split(",")))
        assert re.match(r"\d{4}-\d\d-\d\d", first.get("started", first["session"])), first
        assert len(first["run"]) == 12 and first["unit"] in ("ms", "s"), first
        assert first["variant"] == "baseline" and float(first["value"]) > 0


def test_the_csv_of_bars_names_them(visit, report):
    page = visit(report / "bars.html")
    page.wait_for_selector("[data-chart=bars] canvas")
    with page.expect_download() as download:
        page.locator("[data-chart=bars]").first.get_by_role("button", name="CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    heads = ["suite", "benchmark", "setting", "versions", "measured", "median", "mean", "low", "high", "count", "unit"]
    assert list(rows[0]) == ["group", *heads]
    for row in rows:
        assert row["suite"] and row["benchmark"] and row["setting"] and row["unit"], row
        assert float(row["low"]) <= float(row["mean"]) <= float(row["high"]), row


def test_values_of_runs_are_seen_on_a_phone(visit, page_of):
    page = visit(page_of(JOIN), width=390)
    page.wait_for_selector("#runs tbody tr")
    for place in ("#runs tbody tr td:nth-child(2) button", "#metrics ~ details tbody td:nth-child(2) a"):
        box = page.locator(place).first.bounding_box()
        assert box["x"] + box["width"] <= 390, (place, box)


def test_a_test_with_one_parametrisation_has_no_page_of_its_own(visit, report, page_of):
    assert not list((report / "test").glob("gzip*"))
    page = visit(page_of("gzip"))
    page.wait_for_selector("#runs tbody tr")
    assert not page.locator("#all-parametrisations").is_visible()
    index = visit(report / "index.html", "#view=table&q=test_join[10-1000]")
    index.wait_for_selector("#benchmarks tbody tr")
    index.get_by_role("link", name="all parameters").first.click()
    canvases(index, 2)


def test_bars_are_grouped_filtered_and_kept_in_the_address(visit, report):
    page = visit(report / "bars.html")
    page.wait_for_selector(".plot canvas")
    # A chart of a benchmark has a bar for each of its variants; of one variant there is none.
    assert not any(title.startswith("steady") for title in page.locator(".chart h3").all_inner_texts())
    page.fill('[name="q"]', "test_join")
    page.wait_for_function("document.getElementById('shown').textContent === '3 charts'")
    canvases(page, 3)
    page.get_by_role("button", name="by variant").click()
    page.fill('[name="q"]', "")
    page.select_option('[name="category"]', "benchmarks")
    page.wait_for_function("document.querySelectorAll('.chart').length > 0 && location.hash.includes('by=variant')")
    again = visit(report / "bars.html", page.evaluate("location.hash"))
    again.wait_for_selector(".plot canvas")
    titles = again.locator(".chart h3").all_inner_texts()
    assert "fast: a history, benchmarks" in titles, titles
    assert again.locator('[data-group="variant"]').get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off_or_inaccessible(visit, report, page_of, dark, width):
    places = [(the_test(report), ""), (report / "bars.html", ""), (page_of(JOIN), "")]
    for path, fragment in places:
        page = visit(path, fragment, width=width, dark=dark)
        page.wait_for_selector(".plot canvas")
        if path == page_of(JOIN):
            page.locator("#runs tbody button").first.click()
            page.wait_for_selector("#trace[open] .about-run h3")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, (path, overflow)
        found = Axe().run(page, options={"preload": False}).response["violations"]
        serious = [it["id"] for it in found if it["impact"] in ("serious", "critical") or it["id"] == "landmark-unique"]
        assert serious == [], (path, serious)


def test_pages_are_small(report):
    for path in [*(report / "test").glob("*.html"), report / "bars.html", *(report / "data").glob("*.js")]:
        assert path.stat().st_size < 300_000, path


@pytest.fixture(scope="session")
def odd_bars(new_records):
    """A report of two suites with tests of the same names, numbers below zero, and a rate in two units."""
    records = new_records()
    for suite, unit in [("one", "1/s"), ("two", "B")]:
        session = records.record("session", suite=suite, tool="t", started="2026-05-01T10:00:00Z")
        for variant in ["default", "fast"]:
            metrics = {"wall_time": {"unit": "s"}, "delta": {"unit": "s"}, "rate": {"unit": unit}}
            run = records.record("run", session=session, variant=variant, metrics=metrics)
            for test in range(40):
                tags = ["even"] if test % 2 == 0 else []
                name = f"f.py::test_with_quite_a_long_name_that_a_phone_has_no_room_for[{test}]"
                for value in [1, 2, 12]:
                    values = {"wall_time": value, "delta": -1 - value / 1000, "rate": value * 5e9}
                    records.instance(run, {"id": name, "tags": tags}, values)
    return records.report()


def first_plot(page, expression):
    return page.evaluate(f"(() => {{ const chart = echarts.getInstanceByDom(document.querySelector('.plot')); const model = chart.getModel(); return {expression}; }})()")


def names_beside_bars(page):
    return page.evaluate(
        """[...document.querySelectorAll('.plot')].flatMap((plot) => {
             const option = echarts.getInstanceByDom(plot).getOption();
             return option.dataset[0].source.place.map((at) => option.yAxis[0].axisLabel.formatter(at));
           })"""
    )


def test_bars_of_one_unit_stand_in_a_chart(visit, odd_bars):
    page = visit(odd_bars / "bars.html", "#metric=rate&by=variant")
    canvases(page, 4)
    titles = page.locator(".chart h3").all_inner_texts()
    assert titles == ["default: one, in 1/s", "fast: one, in 1/s", "default: two, in B", "fast: two, in B"]
    axes = page.evaluate("[...document.querySelectorAll('.plot')].map((plot) => echarts.getInstanceByDom(plot).getOption().xAxis[0].name)")
    assert axes == ["rate (G/s)", "rate (G/s)", "rate (GiB)", "rate (GiB)"]


def test_titles_of_bars_have_the_suite_where_there_are_several(visit, odd_bars):
    page = visit(odd_bars / "bars.html", "#q=name_that+[7]")
    canvases(page, 2)
    name = "f.py::test_with_quite_a_long_name_that_a_phone_has_no_room_for[7]"
    assert page.locator(".chart h3").all_inner_texts() == [f"one: {name}", f"two: {name}"]


def test_filters_let_pass_single_bars_of_a_variant_s_chart(visit, odd_bars):
    page = visit(odd_bars / "bars.html", "#by=variant&suite=one&q=[1")
    canvases(page, 2)
    names = names_beside_bars(page)
    assert len(names) == 22 and all("[1" in name for name in names), names
    assert [name.split("[")[1] for name in names[:4]] == ["1]", "10]", "11]", "12]"]
    page = visit(odd_bars / "bars.html", "#by=variant&suite=one&tag=even")
    canvases(page, 2)
    assert len(names_beside_bars(page)) == 40


def test_bars_below_zero_and_wide_spreads_are_drawn_whole(visit, odd_bars):
    page = visit(odd_bars / "bars.html", "#by=variant&metric=delta")
    canvases(page, 4)
    low, high = first_plot(page, "model.getComponent('xAxis', 0).axis.scale.getExtent()")
    assert low < -1.011 and high == 0
    page = visit(odd_bars / "bars.html", "#by=variant")
    canvases(page, 4)
    source = first_plot(page, "chart.getOption().dataset[0].source")
    # The mean of 1, 2 and 12 is 5, their standard deviation the root of 37.
    assert (source["median"][0], source["mean"][0]) == (2, 5)
    assert source["low"][0] == pytest.approx(5 - 37**0.5, abs=1e-3)
    assert first_plot(page, "model.getComponent('xAxis', 0).axis.scale.getExtent()")[0] < -1.08
    # Whoever reads the first bars of a long chart sees the axis too.
    axes = first_plot(page, "[0, 1].map((at) => [model.getComponent('xAxis', at).get('show'), ...model.getComponent('xAxis', at).axis.scale.getExtent()])")
    assert axes[0] == axes[1] and axes[0][0] is True, axes


def test_bars_can_be_read_on_a_phone(visit, odd_bars):
    page = visit(odd_bars / "bars.html", "#by=variant", width=390)
    canvases(page, 4)
    # The names stand above the bars, which have the whole width.
    plot = first_plot(page, "(({ width, height }) => ({ width, height }))(model.getComponent('grid').coordinateSystem.getRect())")
    assert plot["width"] > 280 and plot["height"] > 40 * 25, plot
    names = names_beside_bars(page)
    widest = max(page.evaluate("""(names) => {
        const context = document.createElement('canvas').getContext('2d');
        context.font = "11px system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
        return names.map((name) => context.measureText(name).width);
    }""", names))
    assert widest < 362 and len(set(names)) == 40, (widest, names)
