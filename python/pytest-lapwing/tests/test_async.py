"""Coroutines: nothing of the event loop is timed."""

import pytest


@pytest.mark.parametrize("plugin", ["asyncio", "anyio[asyncio]", "anyio[trio]"])
def test_coroutines_are_timed_and_failures_and_time_outs_are_theirs(suite, plugin):
    name, _, backend = plugin.partition("[")
    sleep = "trio" if "trio" in backend else "asyncio"
    suite.write(f"""
    import time, pytest, {sleep}
    pytestmark = pytest.mark.{name}

    @pytest.fixture
    def anyio_backend():
        return "{sleep}"

    @pytest.mark.lapwing(burn_in=1, iterations=2)
    async def test_good():
        await {sleep}.sleep(0.02)

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    async def test_bad():
        await {sleep}.sleep(0)
        raise ValueError("no")

    @pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=0.1)
    async def test_waits():
        await {sleep}.sleep(10)

    @pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=0.1)
    async def test_computes():
        time.sleep(10)

    async def test_fixture(benchmark_time, benchmark_memory):
        async with benchmark_memory():
            with benchmark_time:
                await {sleep}.sleep(0)
    """)
    records = suite.passes(passed=2, failed=3)
    good = records.iterations("test_good")
    assert [it["burn_in"] for it in good] == [True, False, False]
    assert all(it["metrics"]["wall_time"] >= 0.02 for it in good)
    assert records.outcomes("test_bad") == ["failed"] * 2
    for name in ("test_waits", "test_computes"):
        assert records.outcomes(name) == ["timed_out"] * 2
        assert records.iterations(name)[0]["metrics"] == {"wall_time": 0.1}
    assert {"wall_time", "peak_memory"} <= set(records.iterations("test_fixture")[0]["metrics"])


def test_auto_mode_and_async_fixtures(suite, clock):
    suite.ini("asyncio_mode = auto")
    suite.write("""
    import asyncio, pytest
    from pytest_lapwing import timing

    @pytest.fixture
    async def resource():
        timing.clock.sleep(2)
        await asyncio.sleep(0)
        yield 3
        timing.clock.sleep(2)

    @pytest.mark.lapwing
    async def test_it(resource):
        await asyncio.sleep(0)
        timing.clock.sleep(resource)
    """)
    records = suite.passes()
    assert [it["metrics"]["wall_time"] for it in records.iterations("test_it")] == [3.0] * 4
