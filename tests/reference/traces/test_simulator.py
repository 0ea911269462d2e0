"""The simulator of runs against small cases worked out by hand."""

from collections import defaultdict

import pytest
from planted import PLANTS, planted, without_cause
from simulator import TASK_EVENTS, Setting, Task, Worker, simulate

ONE = (Worker("h0:w0"),)
TWO = (Worker("h0:w0"), Worker("h0:w1"))
HOSTS = (Worker("h0:w0"), Worker("h1:w0"))


def times(run, event):
    """The seconds at which each task reached an event, in the order of their plans; None if it never did."""
    return [
        (it.task.name, it.worker.name, it.events[event] / 1e9 if event in it.events else None) for it in run.attempts
    ]


def test_two_tasks_on_one_worker_follow_each_other_with_all_delays():
    setting = Setting(planning=0.1, to_worker=0.2, load=0.3, publish=0.4, notice=0.5)
    run = simulate([Task("a:0", 1.0), Task("a:1", 2.0)], ONE, setting)
    expected = [
        {
            "planned": 0.1,
            "enqueued": 0.3,
            "started": 0.3,
            "loaded": 0.6,
            "computed": 1.6,
            "published": 2.0,
            "completed": 2.5,
        },
        {
            "planned": 2.6,
            "enqueued": 2.8,
            "started": 2.8,
            "loaded": 3.1,
            "computed": 5.1,
            "published": 5.5,
            "completed": 6.0,
        },
    ]
    assert [{event: at / 1e9 for event, at in it.events.items()} for it in run.attempts] == expected
    assert run.makespan() == pytest.approx(5.9)
    assert run.makespan(("started", "computed")) == pytest.approx(4.8)


def test_whichever_worker_is_free_first_gets_the_first_task_that_is_ready():
    tasks = [Task("a:0", 3.0), Task("a:1", 1.0), Task("b:2", 1.0, ("a:0",)), Task("a:3", 1.0), Task("a:4", 1.0)]
    run = simulate(tasks, TWO, Setting())
    assert times(run, "started") == [
        ("a:0", "h0:w0", 0.0),
        ("a:1", "h0:w1", 0.0),
        ("a:3", "h0:w1", 1.0),
        ("a:4", "h0:w1", 2.0),
        ("b:2", "h0:w0", 3.0),
    ]


def test_tasks_that_are_dealt_out_wait_in_the_queue_of_their_worker():
    tasks = [Task(f"a:{at}", 1.0) for at in range(4)]
    run = simulate(tasks, TWO, Setting(placement="static", shares=(3, 1)))
    assert times(run, "enqueued") == [(f"a:{at}", f"h0:w{at // 3}", 0.0) for at in range(4)]
    assert [at for _, _, at in times(run, "started")] == [0.0, 1.0, 2.0, 0.0]


def test_a_task_waits_for_the_one_copy_of_its_input():
    tasks = [Task("a:0", 1.0, copy=2.0), Task("a:1", 1.0), Task("b:2", 1.0, ("a:0",)), Task("b:3", 1.0, ("a:0",))]
    run = simulate(tasks, HOSTS, Setting(to_worker=0.5))
    assert times(run, "started") == [
        ("a:0", "h0:w0", 0.5),
        ("a:1", "h1:w0", 0.5),
        ("b:2", "h0:w0", 2.0),
        ("b:3", "h1:w0", 3.5),
    ]
    (copy,) = run.transfers
    assert (copy.dataset, copy.source.name, copy.target.name, copy.mode) == ("a:0", "h0:w0", "h1:w0", "remote")
    assert [at / 1e9 for at in copy.events.values()] == pytest.approx([1.5, 1.6, 1.7, 3.3, 3.5, 3.5])


def test_a_task_can_be_sent_to_its_worker_after_the_copy():
    tasks = [Task("a:0", 1.0, copy=2.0), Task("a:1", 1.5), Task("b:2", 3.0, ("a:0",)), Task("b:3", 1.0, ("a:0",))]
    run = simulate(tasks, HOSTS, Setting(to_worker=0.5, copies_first=True))
    assert times(run, "planned")[3] == ("b:3", "h1:w0", 2.0)
    assert times(run, "enqueued")[3] == times(run, "started")[3] == ("b:3", "h1:w0", 4.5)


@pytest.mark.parametrize(
    ("memory", "modes", "begin"),
    [("host", ["remote"], 3.0), ("careless", ["remote", "redundant"], 5.0), ("worker", ["remote", "remote"], 5.0)],
)
def test_data_are_copied_per_host_or_per_worker(memory, modes, begin):
    workers = (Worker("h0:w0"), Worker("h1:w0"), Worker("h1:w1"))
    # Both tasks on h1 need the data: one begins at 1.0, the other at 3.0.
    tasks = [Task("a:0", 1.0, copy=2.0), Task("a:1", 1.0), Task("a:2", 3.0), Task("b:3", 5.0, ("a:0",))]
    tasks += [Task("b:4", 1.0, ("a:0",)), Task("b:5", 1.0, ("a:0", "a:2"))]
    run = simulate(tasks, workers, Setting(memory=memory))
    assert [it.mode for it in run.transfers] == modes
    assert times(run, "started")[-1][::2] == ("b:5", begin)


def test_a_task_of_a_worker_that_dies_is_tried_again_elsewhere_when_that_is_known():
    workers = (Worker("h0:w0", end=1.5), Worker("h0:w1"))
    run = simulate(
        [Task("a:0", 1.0), Task("a:1", 1.0), Task("a:2", 1.0), Task("a:3", 1.0)], workers, Setting(detection=2.0)
    )
    assert [(it.task.name, it.worker.name, it.lost) for it in run.attempts] == [
        ("a:0", "h0:w0", False),
        ("a:1", "h0:w1", False),
        ("a:2", "h0:w0", True),
        ("a:3", "h0:w1", False),
        ("a:2", "h0:w1", False),
    ]
    assert run.attempts[2].events == dict.fromkeys(("planned", "enqueued", "started", "loaded"), 10**9)
    assert run.attempts[4].events["planned"] == 3.5e9
    assert run.makespan() == 4.5


def test_workers_that_join_late_get_what_is_left():
    workers = (Worker("h0:w0"), Worker("h0:w1", begin=2.5))
    run = simulate([Task(f"a:{at}", 1.0) for at in range(5)], workers, Setting())
    assert [at for _, name, at in times(run, "started") if name == "h0:w1"] == [2.5]
    assert run.makespan() == 4.0


@pytest.mark.parametrize(("freeze", "first", "second"), [(False, 1.0, 4.0), (True, 4.0, 5.0)])
def test_in_a_stall_nothing_begins_or_nothing_proceeds(freeze, first, second):
    run = simulate(
        [Task("a:0", 1.0), Task("a:1", 1.0)], ONE, Setting(stall=(0.5, 3.5 if freeze else 3.0), freeze=freeze)
    )
    assert [at for _, _, at in times(run, "computed")] == [first, second]


def test_tasks_at_once_on_a_host_slow_each_other_down():
    # Both at half speed until 1.0 of work is done at 2.0, then the longer one alone.
    run = simulate([Task("a:0", 1.0), Task("a:1", 2.0)], TWO, Setting(contention=1.0))
    assert [at for _, _, at in times(run, "computed")] == [2.0, 3.0]
    apart = simulate([Task("a:0", 1.0), Task("a:1", 2.0)], HOSTS, Setting(contention=1.0))
    assert [at for _, _, at in times(apart, "computed")] == [1.0, 2.0]


def test_a_slow_worker_works_and_a_serial_controller_plans_one_after_another():
    workers = (Worker("h0:w0", slowness=3.0), Worker("h0:w1"))
    run = simulate([Task("a:0", 1.0), Task("a:1", 1.0)], workers, Setting(planning=0.5, serial=True))
    assert [at for _, _, at in times(run, "planned")] == [0.5, 1.0]
    assert [at for _, _, at in times(run, "computed")] == [3.5, 2.0]


def check(run):
    """Each task ends once and begins after its inputs and their copies; no worker has two tasks at once."""
    done = {it.task.name: it for it in run.attempts if not it.lost}
    assert sorted(done) == sorted(task.name for task in run.tasks)
    assert sum(not it.lost for it in run.attempts) == len(done)
    shared = run.setting.memory == "host"
    stored = {(it.dataset, it.target.host if shared else it.target.name): it for it in run.transfers}
    assert len(stored) == len(run.transfers)
    busy = defaultdict(list)
    for it in run.attempts:
        events = [it.events[event] for event in TASK_EVENTS if event in it.events]
        assert events == sorted(events)
        assert it.lost or len(events) == len(TASK_EVENTS)
        if "started" in it.events:
            busy[it.worker].append((it.events["started"], it.events.get("published", it.worker.end * 1e9)))
        place = it.worker.host if shared else it.worker.name
        for name in it.task.inputs:
            assert done[name].events["completed"] <= it.events["planned"]
            if (name, place) in stored and "started" in it.events:
                assert stored[name, place].events["unloaded"] <= it.events["started"]
    for periods in busy.values():
        periods.sort()
        assert all(end <= begin for (_, end), (begin, _) in zip(periods, periods[1:], strict=False))


@pytest.mark.parametrize("number", range(len(PLANTS)))
def test_no_run_with_a_cause_breaks_a_rule(number):
    check(planted(number).run)


@pytest.mark.parametrize("number", range(20))
def test_no_balanced_run_breaks_a_rule(number):
    check(without_cause(number)[0])
