"""A discrete-event simulator of a run of a task graph, and all events that such a run leaves behind.

A controller plans tasks whose inputs it knows of, workers load, compute and publish, and data that lie elsewhere
are copied first. It shares nothing with the program that it checks. Times are whole nanoseconds inside.
"""

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count, cycle

TASK_EVENTS = ("planned", "enqueued", "started", "loaded", "computed", "published", "completed")
TRANSFER_EVENTS = ("planned", "started", "loaded", "received", "unloaded", "completed")
# The events of a transfer until the data are stored, as parts of its time.
COPY_PARTS = {"planned": 0.0, "started": 0.05, "loaded": 0.1, "received": 0.9, "unloaded": 1.0}


def ns(seconds):
    return round(seconds * 1e9)


@dataclass(frozen=True)
class Task:
    """A task whose name begins with its class: `map:3`."""

    name: str
    seconds: float
    inputs: tuple = ()
    # Seconds until its output is where another task needs it; 0 if nothing needs to be copied.
    copy: float = 0.0

    @property
    def group(self):
        return self.name.partition(":")[0]


@dataclass(frozen=True)
class Worker:
    """A worker such as `h0:w1`, from the moment it joins to its death; its work takes `slowness` times as long."""

    name: str
    begin: float = 0.0
    end: float = math.inf
    slowness: float = 1.0

    @property
    def host(self):
        return self.name.partition(":")[0]


@dataclass(frozen=True)
class Setting:
    """Seconds that each task takes besides its work, and how tasks are placed."""

    planning: float = 0.0
    to_worker: float = 0.0
    load: float = 0.0
    publish: float = 0.0
    notice: float = 0.0
    # Whether the controller plans one task after another, rather than each on its own.
    serial: bool = False
    # From a worker's death until its tasks are known to be lost.
    detection: float = 0.0
    # `greedy`: the worker that is known to be free for longest gets the first task that is ready.
    # `static`: tasks are dealt out in turn and wait in the queue of their worker.
    placement: str = "greedy"
    # How many tasks each worker is dealt per turn; one each if empty.
    shares: tuple = ()
    # From, until: nothing begins, or nothing proceeds either (`freeze`).
    stall: tuple = ()
    freeze: bool = False
    # How much longer work takes for each other task that computes on the host.
    contention: float = 0.0
    # `host`: the workers of a host share data, one copy per host. `worker`: they do not, one copy per worker.
    # `careless`: they do, and yet data are copied for each worker of another host.
    memory: str = "host"
    # Whether a task is sent to its worker when its copies are there, rather than at once to wait for them there.
    copies_first: bool = False


@dataclass(eq=False)
class Attempt:
    """One try of a task; a lost one has no later events than the death of its worker."""

    task: Task
    worker: Worker
    events: dict = field(default_factory=dict)
    waits_for: set = field(default_factory=set)
    lost: bool = False


@dataclass(eq=False)
class Transfer:
    """A copy of the output of a task, for the attempt that first needed it there."""

    dataset: str
    source: Worker
    target: Worker
    task: str
    mode: str
    events: dict


@dataclass
class Run:
    """What a simulated run leaves behind."""

    tasks: list
    workers: list
    setting: Setting
    attempts: list
    transfers: list

    def makespan(self, events=TASK_EVENTS):
        """Returns the seconds from the first to the last of some events of tasks."""
        times = [at for it in self.attempts for event, at in it.events.items() if event in events]
        return (max(times) - min(times)) / 1e9


def simulate(tasks, workers, setting):
    """Runs tasks, which are in the order of submission with inputs first."""
    return _Simulation(tasks, workers, setting).run()


class _Simulation:
    def __init__(self, tasks, workers, setting):
        self.tasks, self.workers, self.setting = list(tasks), list(workers), setting
        self.position = {task.name: at for at, task in enumerate(self.tasks)}
        self.rank = {worker: at for at, worker in enumerate(self.workers)}
        self.consumers = defaultdict(list)
        for task in self.tasks:
            for name in task.inputs:
                assert self.position[name] < self.position[task.name], f"{name} is submitted after {task.name}"
                self.consumers[name].append(task)
        self.unknown = {task.name: set(task.inputs) for task in self.tasks}
        self.agenda, self.number, self.now = [], count(), 0
        self.ready = [at for at, task in enumerate(self.tasks) if not task.inputs]
        self.free = []  # (since when, rank) of workers that are known to be free
        self.planner_free = 0
        self.held = []  # attempts that are sent when their copies are there
        self.queues, self.current = defaultdict(list), {}
        self.under_way = defaultdict(list)
        self.dead = set()
        self.produced = {}  # dataset -> worker
        self.copies, self.stored = {}, set()
        self.attempts, self.transfers = [], []
        self.computing = defaultdict(dict)  # host -> attempt -> work left
        self.updated, self.version = defaultdict(int), defaultdict(int)
        turns = setting.shares or [1] * len(self.workers)
        dealt = cycle([worker for worker, turn in zip(self.workers, turns, strict=True) for _ in range(turn)])
        self.dealt = dict(zip((task.name for task in self.tasks), dealt, strict=False))
        self.next_alive = cycle(self.workers)
        self.stall = tuple(ns(it) for it in setting.stall) or (0, 0)
        assert not (setting.freeze and setting.contention), "a stop of everything under contention is not simulated"

    def run(self):
        for worker in self.workers:
            self.at(ns(worker.begin), self.join, worker)
            if worker.end < math.inf:
                self.at(ns(worker.end), self.die, worker)
        self.at(self.stall[1], lambda: None)
        while self.agenda:
            self.now = self.agenda[0][0]
            # The controller looks at everything that happened at a moment before it decides.
            while self.agenda and self.agenda[0][0] == self.now:
                _, _, action, arguments = heapq.heappop(self.agenda)
                action(*arguments)
            self.dispatch()
        assert len(self.produced) == len(self.tasks), "not all tasks were run"
        return Run(self.tasks, self.workers, self.setting, self.attempts, self.transfers)

    # Time

    def at(self, time, action, *arguments):
        heapq.heappush(self.agenda, (time, next(self.number), action, arguments))

    def after(self, begin, seconds):
        """Returns when something ends that takes some seconds, unless everything stands still meanwhile."""
        end, (stop, resume) = begin + ns(seconds), self.stall
        if not self.setting.freeze or begin >= resume or end <= stop:
            return end
        return end + resume - max(begin, stop)

    def opening(self, time):
        """Returns the first moment from `time` on at which something new may begin."""
        stop, resume = self.stall
        return resume if stop <= time < resume else time

    # The controller

    def dispatch(self):
        if self.opening(self.now) > self.now:
            return
        while self.ready:
            if self.setting.placement == "static":
                task = self.tasks[heapq.heappop(self.ready)]
                self.plan(task, self.dealt[task.name])
            elif self.free:
                task = self.tasks[heapq.heappop(self.ready)]
                self.plan(task, self.workers[heapq.heappop(self.free)[1]])
            else:
                return

    def plan(self, task, worker):
        begin = self.now
        if self.setting.serial:
            begin = self.opening(max(begin, self.planner_free))
        planned = self.planner_free = self.after(begin, self.setting.planning)
        self.at(planned, self.planned, Attempt(task, worker))

    def planned(self, attempt):
        worker = attempt.worker
        if worker in self.dead:
            return self.again(attempt.task)
        attempt.events["planned"] = self.now
        self.attempts.append(attempt)
        self.under_way[worker].append(attempt)
        for name in attempt.task.inputs:
            self.fetch(name, attempt)
        if self.setting.copies_first and attempt.waits_for:
            self.held.append(attempt)
        else:
            self.send(attempt)

    def send(self, attempt):
        begin = ns(attempt.worker.begin)
        self.at(max(self.after(self.now, self.setting.to_worker), begin), self.enqueued, attempt)

    def completed(self, attempt):
        attempt.events["completed"] = self.now
        for task in self.consumers[attempt.task.name]:
            unknown = self.unknown[task.name]
            unknown.discard(attempt.task.name)
            if not unknown:
                heapq.heappush(self.ready, self.position[task.name])
        if attempt.worker not in self.dead:
            self.join(attempt.worker)

    def join(self, worker):
        heapq.heappush(self.free, (self.now, self.rank[worker]))

    def die(self, worker):
        self.dead.add(worker)
        self.free = [it for it in self.free if self.workers[it[1]] != worker]
        heapq.heapify(self.free)
        for attempt in self.under_way[worker]:
            attempt.lost = True
            if attempt in self.computing[worker.host]:
                self.advance(worker.host)
                del self.computing[worker.host][attempt]
                self.expect(worker.host)
            self.at(self.after(self.now, self.setting.detection), self.again, attempt.task)

    def again(self, task):
        if self.dealt[task.name] in self.dead:
            self.dealt[task.name] = next(
                it for it in self.next_alive if it not in self.dead and ns(it.begin) <= self.now
            )
        heapq.heappush(self.ready, self.position[task.name])

    # Copies

    def fetch(self, name, attempt):
        source, target, memory = self.produced[name], attempt.worker, self.setting.memory
        task = self.tasks[self.position[name]]
        near = source == target if memory == "worker" else source.host == target.host
        if near or not task.copy:
            return
        key = (name, target.host if memory == "host" else target.name)
        if key not in self.copies:
            begin = self.opening(self.now)
            events = {event: self.after(begin, part * task.copy) for event, part in COPY_PARTS.items()}
            events["planned"] = self.now
            events["completed"] = self.after(events["unloaded"], self.setting.notice)
            there = memory == "careless" and any(
                other.target.host == target.host and other.events["unloaded"] <= events["unloaded"]
                for (dataset, _), other in self.copies.items()
                if dataset == name
            )
            mode = "redundant" if there else "remote"
            self.copies[key] = Transfer(name, source, target, attempt.task.name, mode, events)
            self.transfers.append(self.copies[key])
            self.at(events["unloaded"], self.arrived, key)
        if key not in self.stored:
            attempt.waits_for.add(key)

    def arrived(self, key):
        self.stored.add(key)
        for attempt in [it for it in self.held if it.waits_for <= self.stored]:
            self.held.remove(attempt)
            self.send(attempt)
        for worker in self.workers:
            self.start(worker)

    # The workers

    def enqueued(self, attempt):
        if not attempt.lost:
            attempt.events["enqueued"] = self.now
            self.queues[attempt.worker].append(attempt)
            self.start(attempt.worker)

    def start(self, worker):
        """Starts what is first in the order of submission of what is there with all of its inputs."""
        able = [it for it in self.queues[worker] if it.waits_for <= self.stored]
        if not able or worker in self.current or worker in self.dead:
            return
        opening = self.opening(self.now)
        if opening > self.now:
            self.at(opening, self.start, worker)
            return
        attempt = min(able, key=lambda it: self.position[it.task.name])
        self.queues[worker].remove(attempt)
        self.current[worker] = attempt
        attempt.events["started"] = self.now
        self.at(self.after(self.now, self.setting.load), self.loaded, attempt)

    def loaded(self, attempt):
        if attempt.lost:
            return
        attempt.events["loaded"] = self.now
        work = attempt.task.seconds * attempt.worker.slowness
        if not self.setting.contention:
            self.at(self.after(self.now, work), self.computed, attempt)
            return
        host = attempt.worker.host
        self.advance(host)
        self.computing[host][attempt] = work * 1e9
        self.expect(host)

    def slowdown(self, host):
        return 1 + self.setting.contention * max(0, len(self.computing[host]) - 1)

    def advance(self, host):
        """Brings the work that is left on a host up to date."""
        done = (self.now - self.updated[host]) / self.slowdown(host)
        for attempt in self.computing[host]:
            self.computing[host][attempt] -= done
        self.updated[host] = self.now

    def expect(self, host):
        """Awaits the next end of work on a host, which holds until the number of tasks there changes."""
        self.version[host] += 1
        if self.computing[host]:
            first = min(self.computing[host], key=self.computing[host].get)
            end = self.now + max(0, round(self.computing[host][first] * self.slowdown(host)))
            self.at(end, self.contended, first, self.version[host])

    def contended(self, attempt, version):
        host = attempt.worker.host
        if version == self.version[host]:
            self.advance(host)
            del self.computing[host][attempt]
            self.expect(host)
            self.computed(attempt)

    def computed(self, attempt):
        if not attempt.lost:
            attempt.events["computed"] = self.now
            self.at(self.after(self.now, self.setting.publish), self.published, attempt)

    def published(self, attempt):
        if attempt.lost:
            return
        attempt.events["published"] = self.now
        worker = attempt.worker
        self.produced[attempt.task.name] = worker
        self.under_way[worker].remove(attempt)
        del self.current[worker]
        self.start(worker)
        self.at(self.after(self.now, self.setting.notice), self.completed, attempt)
