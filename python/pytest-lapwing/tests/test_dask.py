"""The fixtures on a real cluster of Dask, on this machine."""

import pytest

pytest.importorskip("distributed")

CLUSTER = """
    import time, pytest
    from distributed import Client, LocalCluster, wait

    @pytest.fixture(scope="module")
    def cluster():
        with LocalCluster(n_workers=2, threads_per_worker=1, processes={processes}, dashboard_address=None) as cluster:
            yield cluster

    @pytest.fixture
    def client(cluster):
        with Client(cluster) as client:
            yield client

    def work(n):
        time.sleep(0.1)
        return bytes(1000) * n
"""
DURATIONS = {"compute_time", "transfer_time", "disk_spill_time", "serializing_time"}
MEMORY = {"average_memory", "peak_memory"}
TIMES = {"wall_time", "process_time", "worker_process_time"}


def test_a_synchronous_client(suite):
    suite.write(
        CLUSTER.format(processes=True)
        + """
    @pytest.mark.lapwing(burn_in=1, iterations=2, time_limit=60)
    def test_all(client, benchmark_all):
        with benchmark_all(client):
            wait(client.map(work, range(4)))

    def test_each(client, cluster, benchmark_memory, benchmark_task_durations, get_cluster_info, benchmark_time):
        with benchmark_memory(client), benchmark_task_durations(client), get_cluster_info(cluster):
            with benchmark_time:
                client.submit(len, client.map(work, range(3))).result()
        with benchmark_task_durations(client):
            client.submit(work, 4).result()

    def test_nested(client, cluster, benchmark_all, benchmark_time, benchmark_task_durations):
        with benchmark_all(client):
            with benchmark_time, benchmark_task_durations(client):
                client.submit(work, 5).result()
            with Client(cluster) as other, benchmark_task_durations(other):
                client.submit(work, 6).result()

    def test_empty(client, benchmark_task_durations):
        with benchmark_task_durations(client):
            pass

    def test_process_memory(client, benchmark_memory):
        with benchmark_memory():
            client.submit(work, 1).result()
    """
    )
    records = suite.passes(passed=5)
    for iteration in records.iterations("test_all"):
        metrics = iteration["metrics"]
        assert metrics.keys() == TIMES | DURATIONS | MEMORY
        # Four tasks of 0.1 s on two threads.
        assert metrics["wall_time"] >= 0.2 and metrics["compute_time"] >= 0.4
        assert metrics["disk_spill_time"] == 0
        # Two workers, each with a Python and its libraries.
        assert 40e6 < metrics["average_memory"] <= metrics["peak_memory"]
        cluster = iteration["attributes"]["cluster"]
        assert (cluster["workers"], cluster["threads"]) == (2, 2) and cluster["name"]
    (each,) = records.iterations("test_each")
    # Three tasks in the first block and one in the second, each counted once.
    assert each["metrics"]["compute_time"] >= 0.4 and each["metrics"]["wall_time"] >= 0.2
    (nested,) = records.iterations("test_nested")
    assert nested["metrics"]["compute_time"] >= 0.2 and nested["metrics"]["wall_time"] >= 0.2
    # The counting is there already and begins anew.
    (empty,) = records.iterations("test_empty")
    assert {empty["metrics"][name] for name in DURATIONS} == {0}
    assert records.iterations("test_process_memory")[0]["metrics"].keys() == {"wall_time", "process_time"} | MEMORY


COMPUTES = """
    def compute(seconds):
        begin = time.process_time()
        while time.process_time() - begin < seconds:
            pass
        return seconds
"""


def test_the_processor_time_of_workers_is_that_of_their_processes(suite):
    suite.write(
        CLUSTER.format(processes=True)
        + COMPUTES
        + """
    def test_computes(client, benchmark_process_time):
        with benchmark_process_time(client):
            wait(client.map(compute, [0.3, 0.31, 0.32]))

    def test_waits(client, benchmark_process_time):
        with benchmark_process_time(client):
            wait(client.map(work, range(3)))

    def test_nested(client, benchmark_process_time):
        with benchmark_process_time(client), benchmark_process_time(client):
            client.submit(compute, 0.33).result()

    def test_restarted(client, benchmark_process_time):
        with benchmark_process_time(client):
            client.restart()
    """
    )
    records = suite.passes(passed=4)

    def times(name):
        (iteration,) = records.iterations(name)
        return iteration["metrics"].get("worker_process_time"), iteration["metrics"]["process_time"]

    computed, own = times("test_computes")
    assert 0.9 <= computed < 2 and own < 0.5
    assert times("test_waits")[0] < 0.5
    assert 0.3 <= times("test_nested")[0] < 0.9
    # What a worker that is gone has computed is unknown.
    assert times("test_restarted")[0] is None


def test_an_asynchronous_client(suite):
    suite.write("""
    import asyncio, time, pytest
    from distributed import Client, LocalCluster

    def work(n):
        time.sleep(0.1)
        return n

    @pytest.mark.asyncio
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    async def test_it(benchmark_all, benchmark_memory, benchmark_task_durations):
        arguments = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
        async with LocalCluster(**arguments, asynchronous=True) as cluster:
            async with Client(cluster, asynchronous=True) as client:
                async with benchmark_all(client):
                    await client.gather(client.map(work, range(2)))
                with pytest.raises(TypeError):
                    with benchmark_memory(client):
                        pass
    """)
    records = suite.passes()
    for iteration in records.iterations("test_it"):
        metrics = iteration["metrics"]
        assert metrics.keys() == TIMES | DURATIONS | MEMORY
        # The block's time, and not that of making the cluster; two tasks of 0.1 s in two threads.
        assert metrics["wall_time"] >= 0.1 and metrics["compute_time"] >= 0.2


def test_two_clusters_in_one_block_add_up(suite):
    suite.write("""
    import time
    from distributed import Client, LocalCluster

    ARGUMENTS = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}

    def work(n):
        time.sleep(0.3)
        return n

    def test_it(benchmark_record, benchmark_all, benchmark_memory):
        with LocalCluster(n_workers=1, **ARGUMENTS) as a, LocalCluster(n_workers=1, **ARGUMENTS) as b:
            with Client(a) as one, Client(b) as other:
                # The same cluster counts once, and this process, the parent of both, not besides.
                with benchmark_all(one), benchmark_all(other), benchmark_memory(one), benchmark_memory():
                    for client in (one, other):
                        client.submit(work, 1, pure=False).result()
                alone = [sum(it["metrics"]["memory"] for it in info["workers"].values())
                         for info in (one.scheduler_info(), other.scheduler_info())]
                benchmark_record.attribute("alone", alone)
    """)
    (iteration,) = suite.passes().iterations("test_it")
    metrics, alone = iteration["metrics"], iteration["attributes"]["alone"]
    assert metrics["compute_time"] >= 0.6
    assert min(alone) > 0
    assert 0.75 * sum(alone) < metrics["average_memory"] <= metrics["peak_memory"] < 1.25 * sum(alone)


def test_without_recording_the_cluster_is_asked_nothing(suite):
    suite.write("""
    import pytest

    class Untouchable:
        asynchronous = False
        cluster = None

    def test_it(benchmark_all, benchmark_memory, benchmark_task_durations, get_cluster_info):
        client = Untouchable()
        with benchmark_all(client), benchmark_memory(client), benchmark_task_durations(client):
            with get_cluster_info(None):
                pass
    """)
    suite.pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_blocks_under_way_at_once_do_not_disturb_each_other():
    from pytest_lapwing import dask

    class Scheduler:
        def __init__(self):
            self.plugins = {}

        def add_plugin(self, plugin, name):
            self.plugins[name] = plugin

        def computes(self, seconds):
            (plugin,) = self.plugins.values()
            times = [{"action": "compute", "start": 1.0, "stop": 1.0 + seconds}]
            plugin.transition("key", "processing", "memory", startstops=times)

    start, stop = dask._on_scheduler()
    scheduler = Scheduler()
    first = start(scheduler)
    scheduler.computes(1)
    second = start(scheduler)
    scheduler.computes(2)
    assert (first, stop(scheduler)) == ({}, {"compute": 3})
    scheduler.computes(4)
    assert (second, stop(scheduler)) == ({"compute": 1}, {"compute": 7})
    scheduler.computes(8)
    assert (start(scheduler), stop(scheduler)) == ({}, {})
