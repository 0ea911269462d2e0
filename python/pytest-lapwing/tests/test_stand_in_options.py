"""Options of pytest-benchmark: done, ignored with a notice, or refused, whether that plugin is installed or not."""

import json

import pytest
from pytest_lapwing import stand_in, timing

ABSENT = ["-p", "no:benchmark"]
QUICK = ["--benchmark-max-time=0.02"]
BOTH = pytest.mark.parametrize("which", [ABSENT, []], ids=["absent", "installed"])


@pytest.fixture
def one(suite):
    return suite.write("def test_it(benchmark): benchmark(len, '')")


def without_recording(suite, *options):
    return suite.pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)


@BOTH
def test_options_about_the_table_are_ignored_with_one_notice(one, which):
    given = """
        --benchmark-sort=mean --benchmark-columns=min,max --benchmark-group-by=func --benchmark-name=short
        --benchmark-time-unit=ms --benchmark-storage=s --benchmark-verbose
        --benchmark-autosave --benchmark-save-data --benchmark-save=x
        --benchmark-disable-gc --benchmark-min-time=0.001 --benchmark-warmup=on
    """
    records = one.passes(*which, *QUICK, *given.split())
    assert records.iterations("test_it")[0]["burn_in"] is True
    (notice,) = [line for line in one.result.outlines if line.startswith("ignored by pytest-lapwing: ")]
    assert "--benchmark-sort" in notice and "--benchmark-save" not in notice and "--benchmark-min-time" not in notice


@BOTH
def test_what_is_stored_anyway_need_not_be_asked_for(one, which):
    one.passes(*which, *QUICK, "--benchmark-autosave", "--benchmark-save-data")
    said = "every run is stored with all rounds, also without --benchmark-autosave and --benchmark-save-data; --lapwing-name=NAME names it"
    assert said in one.result.outlines


@BOTH
def test_a_saved_run_is_a_session_of_that_name(one, which):
    (session,) = one.passes(*which, *QUICK, "--benchmark-save=base").of("session")
    assert session["name"] == "base"


@BOTH
@pytest.mark.parametrize("option", ["disable", "skip"])
def test_an_option_that_leaves_nothing_to_record_is_named(one, which, option):
    assert one.run(*which, f"--benchmark-{option}") is None
    one.result.stdout.fnmatch_lines([f"nothing was recorded: --benchmark-{option} *"])


@BOTH
def test_without_such_options_there_is_no_notice(one, which):
    one.passes(*which, *QUICK)
    assert "ignored by" not in one.result.stdout.str()


PROMISES = [
    ("--benchmark-histogram", "lapwing report"),
    ("--benchmark-cprofile=tottime", "cprofile=True"),
    ("--benchmark-cprofile-dump=x", "cprofile=True"),
]


@BOTH
@pytest.mark.parametrize("option, instead", PROMISES)
def test_a_promise_that_nobody_keeps_is_refused(one, which, option, instead):
    assert one.run(*which, option) is None
    assert one.result.ret == pytest.ExitCode.USAGE_ERROR
    one.result.stderr.fnmatch_lines([f"*{option.partition('=')[0]} is an option of pytest-benchmark, *{instead}*"])
    assert not (one.path / "x.json").exists()


KEPT = ["--benchmark-json=x.json", "--benchmark-autosave", "--benchmark-save=x", "--benchmark-compare", "--benchmark-compare-fail=mean:5%"]


@pytest.mark.parametrize("option", [*(it for it, _ in PROMISES), *KEPT])
def test_without_recording_it_is_refused_where_pytest_benchmark_is_absent(one, option):
    result = without_recording(one, *ABSENT, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0]
    result.stderr.fnmatch_lines([f"*{name} is an option of *, which is absent or disabled: record with `pytest --la*"])


@pytest.fixture
def compared(suite, clock, lapwing, monkeypatch):
    """Records rounds of so many seconds by a clock that only they move, and returns what pytest says."""
    monkeypatch.setattr(stand_in, "clock", timing.clock)
    suite.write("""
    import pathlib
    from pytest_lapwing import timing

    def test_it(benchmark):
        text = pathlib.Path("seconds").read_text()
        times = iter([eval(text) * (1 + n % 2 / 100) for n in range(10)])
        benchmark.pedantic(lambda: timing.clock.sleep(next(times)), rounds=10)
    """)

    def run(seconds, *options):
        (suite.path / "seconds").write_text(str(seconds))
        arguments = ["-p", "no:cacheprovider", "--lapwing", "--lapwing-suite=s", *options]
        return suite.pytester.runpytest_inprocess(*arguments)

    return run


@BOTH
def test_the_new_session_is_compared_with_an_earlier_one(compared, which):
    first = compared(1.0, *which, "--benchmark-compare", "--lapwing-name=base")
    assert first.ret == 0
    first.stdout.fnmatch_lines(["there is no earlier session of this suite to compare with: *"])
    second = compared(2.0, *which, "--benchmark-compare", "--lapwing-name=new")
    assert second.ret == 0
    second.stdout.fnmatch_lines(["new against base: 1 slower in these runs *"])
    third = compared(2.0, *which, "--benchmark-compare=base", "--lapwing-name=new")
    third.stdout.fnmatch_lines(["new against base: 1 slower in these runs *"])


@BOTH
def test_a_limit_closes_the_gate(compared, which):
    gate = "--benchmark-compare-fail=mean:5%"
    assert compared(1.0, *which, gate).ret == pytest.ExitCode.TESTS_FAILED
    slower = compared(1.2, *which, "--benchmark-compare-fail", "min:30%", "mean:5%", "--benchmark-compare")
    assert slower.ret == pytest.ExitCode.TESTS_FAILED
    slower.stdout.fnmatch_lines(["* against *: 1 slower in these runs *smallest effect 5 %)", f"{gate}: a mean is worse"])
    assert compared(1.2, *which, "--benchmark-compare", gate).ret == 0
    assert compared(1.4, *which, "--benchmark-compare-fail=mean:50%").ret == 0


@BOTH
def test_a_gate_is_open_where_nothing_is_shown_and_says_what_is_undecided(compared, which):
    compared(1.0, *which)
    noisy = compared("1.3 ** (n % 3 - 1)", *which, "--benchmark-compare-fail=mean:5%")
    assert noisy.ret == 0
    noisy.stdout.fnmatch_lines(["*: no mean is shown to be worse, 1 benchmark undecided: more rounds would tell"])


@BOTH
def test_results_are_written_into_a_file_and_saved_ones_are_compared(compared, suite, which):
    assert compared(1.0, *which, "--benchmark-json=x.json").ret == 0
    written = json.loads((suite.path / "x.json").read_text())
    assert [it["name"] for it in written["benchmarks"]] == ["test_it"]
    folder = suite.path / ".benchmarks" / "Linux"
    folder.mkdir(parents=True)
    (suite.path / "x.json").rename(folder / "0001_x.json")
    second = compared(2.0, *which, "--benchmark-compare=0001")
    assert second.ret == 0
    second.stdout.fnmatch_lines(["*: 1 slower in these runs *"])


@BOTH
def test_a_comparison_that_cannot_be_made_is_refused(one, lapwing, which):
    for option, why in (
        ("--benchmark-compare=nosuch", "there is no such session"),
        ("--benchmark-compare-fail=min:0.001", "the limit is a share of the time"),
        ("--benchmark-compare-fail=stddev:5%", "the limit is a share of the time"),
    ):
        result = one.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider", *which, option)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{option}: *{why}*"])
    one.run(*which, "--benchmark-compare")
    one.result.stderr.fnmatch_lines(["*leave out --lapwing-output"])


def test_without_recording_options_about_measuring_are_said_to_have_no_effect(one):
    options = ["--benchmark-only", "--benchmark-min-rounds=9", "--benchmark-sort=mean"]
    result = without_recording(one, *ABSENT, *options)
    assert result.ret == 0
    said = "without effect, as nothing is measured without --lapwing: --benchmark-min-rounds, --benchmark-sort"
    assert [it for it in result.outlines if "without effect" in it] == [said]
    for options in (["--benchmark-only"], ["--benchmark-disable", "--benchmark-sort=mean"], QUICK):
        which = ABSENT if options != QUICK else []
        assert "without effect" not in without_recording(one, *which, *options).stdout.str()


def test_without_recording_pytest_benchmark_does_what_it_says_where_it_is_installed(one):
    result = without_recording(one, *QUICK, "--benchmark-json=x.json")
    assert result.ret == 0 and (one.path / "x.json").exists()


def test_a_program_that_drives_pytest_is_not_stopped_by_options_in_the_configuration_file(one):
    one.ini("addopts = --benchmark-json=x.json")
    assert one.run("--lapwing-driven", *QUICK).outcomes("test_it")


@BOTH
@pytest.mark.parametrize(
    "option",
    [
        "min-time=soon", "max-time=x", "min-rounds=0", "min-rounds=1.5", "precision=2", "confidence=95",
        "timer=perf_counter", "calibration-precision=x", "warmup=maybe", "warmup-iterations=x", "sort=worst",
        "columns=min,worst", "name=tiny", "time-unit=h", "save=a/b", "compare-fail=mean", "compare-fail=worst:5%",
        "compare-fail=mean:five%", "cprofile=x", "cprofile-loops=0", "cprofile-top=x",
    ],
)  # fmt: skip
def test_wrong_values_are_refused_as_by_pytest_benchmark(one, which, option):
    assert one.run(*which, f"--benchmark-{option}") is None
    assert one.result.ret == pytest.ExitCode.USAGE_ERROR
    one.result.stderr.fnmatch_lines([f"*argument --benchmark-{option.partition('=')[0]}: *"])


@BOTH
@pytest.mark.parametrize("marker", ["bogus=1", "'group'"])
def test_a_marker_that_pytest_benchmark_refuses_is_an_error_of_the_test(suite, which, marker):
    suite.write(f"""
    import pytest

    @pytest.mark.benchmark({marker})
    def test_it(benchmark):
        benchmark(len, "")
    """)
    suite.run(*which)
    suite.result.assert_outcomes(errors=1)
    suite.result.stdout.fnmatch_lines(["*ValueError: the marker benchmark does not accept *"])
