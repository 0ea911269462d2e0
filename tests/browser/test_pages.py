"""The pages about all benchmarks: comparison, variability, detection, burn-in, cleaning."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = ["compare.html", "variability.html", "detection.html", "burn-in.html", "cleaning.html"]


def open_page(visit, report, name, fragment="", **how):
    page = visit(report / name, fragment, **how)
    page.wait_for_selector("table.listing tbody tr")
    return page


def names(page):
    return page.locator("table.listing tbody td.name").evaluate_all("all => all.map(it => it.firstElementChild.textContent)")


def shown(page):
    return page.locator("#shown").inner_text()


def test_every_page_leads_to_every_other(visit, report, page_of):
    for path in [report / "index.html", *(report / it for it in PAGES), page_of("gzip")]:
        page = visit(path)
        links = page.locator("nav.pages a").evaluate_all("all => all.map(it => it.href.split('/').pop())")
        assert links == ["index.html", "compare.html", "studies.html", "bars.html", *PAGES[1:]], path.name
        for title in ["Warm-up", "Benchmarks"]:
            page.locator("nav.pages").get_by_role("link", name=title).click()
            page.wait_for_selector("table tbody tr")
            assert page.locator('nav.pages [aria-current="page"]').inner_text() == title


def test_the_comparison_answers_first_and_shows_the_worst_on_top(visit, report):
    page = open_page(visit, report, "compare.html")
    assert re.match(
        r"✗ \d+ regressions, \d+ improvements, 1 slower in these runs \(one run each; another may differ\), "
        r"\d+ not measured, \d+ undecided, \d+ unchanged within [\d.]+ %",
        page.locator("h1").inner_text(),
    )
    page.locator(".explained summary").click()
    assert "126 comparisons of 63 benchmarks, false discoveries at most 5 %." in page.locator(".explained").inner_text()
    assert "Suite synthetic, wall time: 1.02× [1.01, 1.03] (geometric mean of 8 benchmarks)" in page.locator(".suites").inner_text()
    row = page.locator("table.listing tbody tr").first
    assert re.search(r"wall time · .*\s+1\.\d+× \[1\.\d+, 1\.\d+\]\s+[\d.]+ \w?s → [\d.]+ \w?s\s+✗ regression", row.inner_text())
    # Wall time first, and of that the worst.
    texts = page.locator("table.listing tbody tr", has_text="✗ regression").all_inner_texts()
    kinds = ["wall time ·" in text for text in texts]
    assert kinds == sorted(kinds, reverse=True) and len(set(kinds)) == 2
    ratios = [float(re.search(r"([\d.]+)×", text).group(1)) for text in texts[: kinds.count(True)]]
    assert ratios == sorted(ratios, reverse=True)
    # The dot stands to the right of the line at 1.
    dot = float(row.locator(".dot-of-ratio").get_attribute("cx").removesuffix("%"))
    assert dot > float(row.locator(".one").get_attribute("x1").removesuffix("%"))
    axis = page.locator(".forest-axis text").all_text_contents()
    assert "1×" in axis and len(axis) >= 3


def test_equivalent_comparisons_are_folded_and_p_values_shown_on_demand(visit, report):
    page = open_page(visit, report, "compare.html")
    number = int(re.search(r"(\d+) unchanged within", page.locator("h1").inner_text()).group(1))
    assert shown(page) == f"{126 - number} of 126 rows, {number} “no change” folded"
    assert page.locator(".chip.equivalent:visible").count() == 0
    row = page.locator("table.listing tbody tr").first
    p_value = r"[<\d.]+ \([<\d.]+\)\s+5 / 5"
    assert not re.search(p_value, row.inner_text())
    page.get_by_role("button", name="p-values").click()
    assert re.search(p_value, row.inner_text())
    page.get_by_role("button", name=f"Show {number} “no change”").click()
    assert shown(page) == "126 rows"


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_the_first_result_at_once(visit, report, dark):
    page = open_page(visit, report, "compare.html", width=390, height=844, dark=dark)
    box = page.locator("table.listing tbody tr").first.bounding_box()
    assert box["y"] + box["height"] < 844
    plot = page.locator("table.listing tbody .forest-plot").first.bounding_box()
    assert plot["width"] > 300
    # The fields besides the search are folded.
    assert not page.locator('[name="metric"]').is_visible()
    page.get_by_role("button", name="Filters", exact=True).click()
    page.select_option('[name="metric"]', "peak_memory")
    assert page.get_by_role("button", name="Filters (1)").is_visible()


def test_comparisons_are_filtered_and_the_address_keeps_it(visit, report):
    page = open_page(visit, report, "compare.html")
    page.select_option('[name="verdict"]', "not_measured")
    page.wait_for_function("location.hash === '#verdict=not_measured'")
    page.wait_for_function("document.querySelectorAll('table.listing tbody tr').length < 20")
    assert "only in the candidate" in page.locator("table.listing tbody").inner_text()
    page.select_option('[name="verdict"]', "")
    page.select_option('[name="metric"]', "peak_memory")
    page.fill('[name="q"]', "gzip")
    page.wait_for_function("location.hash.includes('q=gzip')")
    assert names(page) == ["gzip[level=6]"] and shown(page) == "1 of 126 rows"
    again = open_page(visit, report, "compare.html", page.evaluate("location.hash"))
    assert names(again) == ["gzip[level=6]"]
    again.get_by_role("link", name="gzip[level=6]").click()
    again.wait_for_selector(".verdicts .chip")
    again.wait_for_function("document.getElementById('charts-title').textContent === 'peak memory'")


def test_an_inconclusive_comparison_says_why(visit, report):
    page = open_page(visit, report, "compare.html", "#verdict=inconclusive")
    rows = page.locator("table.listing tbody tr").all_inner_texts()
    reasons = r"between .* and .*; needs|need 3 instances|only summaries|not significant|smallest effect"
    assert [row for row in rows if not re.search(reasons, row)] == []


def test_the_index_and_a_benchmark_show_its_verdict(visit, report):
    page = open_page(visit, report, "index.html", "#view=table&q=gzip")
    row = page.locator("#benchmarks tbody tr")
    assert row.locator(".chip").inner_text() == "✗ regression"
    assert re.search(r"1\.\d+× .* after against before", row.locator(".chip").get_attribute("title"))
    row.get_by_role("link", name="gzip[level=6]").click()
    page.wait_for_selector(".verdicts")
    assert re.match(r"✗ Wall time: after is 1\.\d+× slower than before", page.locator("h1").inner_text())
    assert re.search(r"✗ regression wall time 1\.\d+× \[.*\], after against before\.", page.locator(".verdicts").inner_text())


def test_the_funnel_follows_the_metric(visit, report):
    page = open_page(visit, report, "cleaning.html")
    steps = page.locator(".funnel:visible tbody th").all_inner_texts()
    assert steps == ["recorded", "known", "past burn-in", "not failed", "not outlying", "steady", "viable"]
    text = page.locator(".funnel:visible").inner_text()
    assert re.search(r"past burn-in\s+61\s+3,480\s+[\d,]+\s+4,878 burn-in", text)
    assert "instances without iterations" in text
    before = page.locator("h1").inner_text()
    page.select_option('[name="metric"]', "peak_memory")
    page.wait_for_function("!document.querySelector('[data-metric=peak_memory]').hidden")
    after = page.locator("h1").inner_text()
    assert re.match(r"[\d,]+ of [\d,]+ iterations count", before) and after.endswith("by peak memory")


def test_what_is_not_judged_is_listed_with_its_reason(visit, report):
    page = open_page(visit, report, "cleaning.html")
    page.locator(".headline .fact").get_by_role("link").first.click()
    page.wait_for_function("document.querySelectorAll('table.listing tbody tr').length === 3")
    reasons = dict(zip(names(page), page.locator("table.listing tbody td:last-child").all_inner_texts()))
    assert reasons == {
        "always fails": "no: no iteration succeeded",
        "only summaries": "no: no iteration was recorded",
        "one summary": "no: no iteration was recorded",
    }


def test_burn_in_is_filtered_by_class_and_drawn_on_demand(visit, report):
    page = open_page(visit, report, "burn-in.html")
    loaded = "[...document.scripts].filter(it => it.src.includes('/data/')).length"
    assert page.evaluate(loaded) == 1
    page.get_by_role("button", name="Draw the rows of the table").click()
    page.wait_for_function("document.querySelectorAll('#multiples canvas').length === 12")
    assert 2 <= page.evaluate(loaded) <= 13
    page.get_by_role("button", name=re.compile("Draw 12 more of")).click()
    page.wait_for_function("document.querySelectorAll('#multiples canvas').length === 24")
    page.select_option('[name="class"]', "too short")
    page.wait_for_function("document.querySelectorAll('#multiples canvas').length === 0")
    assert "single iteration" in names(page)
    assert "None of these rows has iterations enough to draw." in page.locator("#multiples").inner_text()
    page.fill('[name="q"]', "slow to warm")
    page.select_option('[name="class"]', "")
    page.wait_for_function("document.querySelectorAll('#multiples canvas').length === 1")
    row = page.locator("table.listing tbody tr").inner_text()
    assert re.search(r"warm-up\s+4 as planned\s+4\s+\d+\s+none\s+[\d.]+ s\s+[\d.]+ %", row)


def test_the_noisiest_stands_on_top(visit, report):
    page = open_page(visit, report, "variability.html")
    assert names(page)[0] == "noisy"
    between = page.locator('table.listing td[data-label="CV between"]').all_inner_texts()
    values = [float(text.split(" %")[0]) for text in between]
    assert values == sorted(values, reverse=True)
    assert re.match(r"\d+ of 60 benchmarks vary by more than 5 % between instances", page.locator("h1").inner_text())
    page.get_by_role("button", name="Plot noise sources").click()
    page.wait_for_selector("#overview canvas")
    page.select_option('[name="metric"]', "peak_memory")
    page.locator("h1", has_text="by peak memory").wait_for()
    page.wait_for_function("document.querySelectorAll('#overview canvas').length === 1")
    page.locator(".headline .fact").get_by_role("link", name="fewer than 3 instances").click()
    page.wait_for_function("document.querySelectorAll('table.listing tbody tr').length < 10")
    assert "more instances" in page.locator("table.listing tbody tr").first.inner_text()


def test_what_cannot_be_detected_stands_on_top(visit, report):
    page = open_page(visit, report, "detection.html")
    assert re.match(
        r"\d+ of 56 benchmarks can detect 5 % in every setting with at most 25 instances × 25 iterations per side", page.locator("h1").inner_text()
    )
    assert re.search(r"\d+ rows cannot\. 4 more with too few measurements", page.locator(".headline .fact").inner_text())
    assert names(page)[0] == "noisy"
    needed = page.locator('table.listing td[data-label="for 5 %"]').all_inner_texts()
    groups = ["not detected", "×", "too few measurements"]
    order = [next(at for at, it in enumerate(groups) if it in text) for text in needed]
    assert order == sorted(order) and set(order) == {0, 1, 2}
    row = page.locator("table.listing tbody tr").first.inner_text()
    assert re.search(r"~\d+ %\s+~\d+ %\s+~\d+ %\s+~\d+ %\s+not detected\s+(–|\d+ × \d+ [\d.,]+ \w+)\s+\d+ %\s+[\d.]+ %", row)


def test_detection_is_filtered_and_sorted(visit, report):
    page = open_page(visit, report, "detection.html")
    page.locator(".headline .fact").get_by_role("link", name="4 more").click()
    page.wait_for_function("document.querySelectorAll('table.listing tbody tr').length === 4")
    assert "single instance" in names(page) and "Comparing" not in page.locator("main").inner_text()
    page.select_option('[name="state"]', "yes")
    page.get_by_role("button", name="for 5 %").click()
    page.wait_for_function("location.hash.includes('sort=-needed')")
    needed = page.locator('table.listing td[data-label="for 5 %"]').all_inner_texts()
    sizes = [int(instances) * int(iterations) for instances, iterations in (text.split(" × ") for text in needed)]
    assert sizes == sorted(sizes, reverse=True)
    again = open_page(visit, report, "detection.html", page.evaluate("location.hash"))
    assert names(again) == names(page)


def test_what_is_detected_is_drawn_when_asked_for(visit, report):
    page = open_page(visit, report, "detection.html")
    page.get_by_role("button", name="Draw what is detected").click()
    page.wait_for_selector("#overview canvas")
    assert re.search(r"^\d+ of 56 benchmarks can detect 5 %", page.locator("#overview h3").inner_text())
    box = page.locator("#overview canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 60, box["y"] + 80)
    page.wait_for_selector(".chart-tooltip")
    assert re.search(r" \(1\.\d\), 25 × 25 per side\s+detects\s+\d+ %, by formula", page.locator(".chart-tooltip").inner_text())
    page.select_option('[name="metric"]', "user_time")
    page.wait_for_function("/ of (?!56 )\\d+ benchmarks can/.test(document.querySelector('#overview h3').textContent)")
    page.get_by_role("button", name="Put the charts away").click()
    assert not page.locator("#overview").is_visible()


def test_a_benchmark_says_what_it_could_detect(visit, page_of):
    page = visit(page_of("noisy"))
    page.wait_for_selector(".detectable")
    said = page.locator(".detectable").inner_text()
    assert re.fullmatch(r"Comparing 10 instances × 10 iterations per side would detect a slowdown of \d+ % or more by wall time, 95 % of the time \(by formula\)\.", said)
    page.get_by_role("link", name="sensitivity", exact=True).click()
    page.wait_for_selector("table.listing tbody tr")
    assert "noisy" in names(page)


@pytest.mark.parametrize("dark", [False, True])
def test_power_curves_are_drawn_and_told(visit, page_of, dark):
    page = visit(page_of("noisy"), width=390, height=844, dark=dark)
    page.wait_for_selector(".detectable")
    picture = page.locator(".power svg")
    assert not picture.is_visible()
    page.get_by_text("Probability of detecting each slowdown").click()
    box = picture.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["height"] > 120
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    label = picture.get_attribute("aria-label")
    rates = re.fullmatch(
        r"Power curves\. A slowdown of 5 % is detected ([\d.]+) % of the time with 5 × 5, ([\d.]+) % of the time with 10 × 10, ([\d.]+) % of the time with 25 × 25",
        label,
    )
    rates = [float(it) for it in rates.groups()]
    assert rates == sorted(rates) and rates[0] < rates[2]
    rows = page.locator(".power tbody tr").all_inner_texts()
    assert [it.split("\t")[0] for it in rows] == ["5 × 5", "10 × 10", "25 × 25"]
    assert all(re.search(r"[\d.]+ %\t~[\d.]+ %$", it) for it in rows)
    # The thicker the curve, the more is measured; each has a colour of its own that is not the page's.
    styles = page.locator(".power polyline").evaluate_all("all => all.map(it => [getComputedStyle(it).stroke, parseFloat(getComputedStyle(it).strokeWidth)])")
    assert len({colour for colour, _ in styles}) == 3
    assert [width for _, width in styles] == sorted(width for _, width in styles)
    page_colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page_colour not in {colour for colour, _ in styles}


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_needs_no_sideways_scrolling(visit, report, name):
    page = open_page(visit, report, name, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_the_paper(visit, report, name):
    page = open_page(visit, report, name, width=717, height=1000, dark=True)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 717
    assert page.locator("table.listing tbody tr").count() > 50


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_suffices(visit, report, name):
    page = open_page(visit, report, name)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the table"
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'rows'")
    page.locator('[data-sort="name"] button').focus()
    page.keyboard.press("Enter")
    assert page.locator('[data-sort="name"]').get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (390, False), (390, True)])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(visit, report, name, width, dark):
    # A part of the rows has everything that all of them have, and takes less time.
    page = open_page(visit, report, name, "#suite=synthetic", width=width, dark=dark)
    for button in ["p-values, sample sizes", "Draw the rows of the table", "Plot noise sources", "Draw what is detected"]:
        if page.get_by_role("button", name=button).count():
            page.get_by_role("button", name=button).click()
            page.wait_for_selector(".chart canvas, .with-p")
    found = Axe().run(page, options={"preload": False}).response["violations"]
    serious = [(it["id"], it["nodes"][0]["html"], it["nodes"][0]["failureSummary"]) for it in found if it["impact"] in ("serious", "critical")]
    assert serious == []


@pytest.mark.parametrize("name", PAGES)
def test_without_script_the_answer_is_still_there(visit, report, name):
    page = visit(report / name, script=False)
    assert re.search(r"\d", page.locator("h1").inner_text())
    assert "needs JavaScript" in page.locator("main").inner_text()
