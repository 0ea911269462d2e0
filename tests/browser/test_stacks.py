"""The page of stacks, and the index of their benchmarks."""

import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import REPOSITORY


@pytest.fixture(scope="module")
def stacks(program, tmp_path_factory):
    """The report of the stacks of the example."""
    work = tmp_path_factory.mktemp("stacks")
    for arguments in [["import", REPOSITORY / "examples/indicators/record.jsonl.gz"], ["report", "-o", "report"]]:
        subprocess.run([program, "--store", "s.db", *arguments], cwd=work, check=True, capture_output=True)
    return work / "report"


@pytest.mark.parametrize("width,dark", [(1280, False), (390, True)])
def test_the_page_shows_the_advice_the_versions_and_the_failures(visit, stacks, width, dark):
    page = visit(stacks / "stacks.html", width=width, height=844, dark=dark)
    assert page.locator("h1").inner_text().startswith("No stack is clearly the best; numpy==2.2.6 scipy==1.14.1")
    matrix = page.locator("table.matrix")
    assert matrix.locator("tbody tr").count() == 4
    assert matrix.locator("td:not(:empty)").count() == 16
    assert matrix.locator("td.failed").all_inner_texts() == ["✗ does not resolve"]
    row = page.locator(".stack-failures tbody tr")
    assert row.locator("td").nth(1).inner_text() == "numpy, scipy"
    page.get_by_role("link", name="1 stack failed").click()
    assert page.evaluate("location.hash") == "#failures"
    page.locator('[data-chart="parallel"]').scroll_into_view_if_needed()
    page.wait_for_selector('[data-chart="parallel"] canvas')
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    serious = [it["id"] for it in Axe().run(page, options={"preload": False}).response["violations"] if it["impact"] in ("serious", "critical")]
    assert serious == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_benchmark_is_a_row_with_its_best_and_its_worst_stack(visit, stacks, width):
    page = visit(stacks / "index.html", width=width, height=844)
    page.wait_for_selector("#benchmarks tbody tr")
    assert page.locator("#shown").inner_text() == "4 rows"
    # Indicators are shown by the time that they report.
    assert page.locator('[name="metric"]').input_value() == "elapsed"
    row = page.locator("#benchmarks tbody tr").first
    assert row.locator(".stack").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    row.locator(".name a").first.click()
    page.wait_for_selector('#charts-title:text-is("elapsed")', state="attached")
