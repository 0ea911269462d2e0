//! Comparisons of simulated runs name what was changed, and nothing else.

use std::collections::BTreeMap;

use lapwing_trace::{
    Name, PathReason, ReasonKind, Replicates, Task, TaskDuration, TaskEvent, Trace, TraceComparison,
};

const SECOND: f64 = 1e9;

/// A run of stages, each of which waits for the whole stage before it.
struct Setting {
    /// Class, number of tasks, seconds.
    stages: Vec<(&'static str, usize, f64)>,
    workers: usize,
    /// Seconds that each task waits for copies before it begins.
    copying: f64,
    /// How many times as long the first worker takes.
    slow_worker: f64,
}

impl Setting {
    fn usual() -> Self {
        Self {
            stages: vec![
                ("read", 12, 0.5),
                ("map", 40, 1.0),
                ("sum", 8, 0.8),
                ("write", 3, 1.5),
            ],
            workers: 4,
            copying: 0.02,
            slow_worker: 1.0,
        }
    }

    fn slower(mut self, class: &str, times: f64) -> Self {
        let stage = self.stages.iter_mut().find(|stage| stage.0 == class);
        stage.unwrap().2 *= times;
        self
    }

    /// Simulates a run; each task takes up to 15 % more or less by chance.
    fn run(&self, seed: u64) -> Trace {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut trace = Trace::default();
        let mut free = vec![0.0_f64; self.workers];
        let mut before: Vec<Name> = Vec::new();
        for (class, number, seconds) in &self.stages {
            let ready = match before.is_empty() {
                true => 0.0,
                false => free.iter().copied().fold(0.0, f64::max),
            };
            let mut stage = Vec::new();
            for at in 0..*number {
                let worker = (0..free.len())
                    .min_by(|one, other| free[*one].max(ready).total_cmp(&free[*other].max(ready)))
                    .unwrap();
                let names = &mut trace.names;
                let name = names.intern(&format!("{class}:{at}"));
                let lane = names.intern(&format!("h:w{worker}"));
                let mut task = Task::new(name, names.intern(class), lane);
                task.host = names.intern("h");
                let started = free[worker].max(ready) + self.copying;
                let slow = if worker == 0 { self.slow_worker } else { 1.0 };
                let loaded = started + 0.01 * random.factor();
                let computed = loaded + seconds * slow * random.factor();
                let published = computed + 0.005 * random.factor();
                free[worker] = published;
                let events = [
                    (TaskEvent::Started, started),
                    (TaskEvent::Loaded, loaded),
                    (TaskEvent::Computed, computed),
                    (TaskEvent::Published, published),
                ];
                for (event, at) in events {
                    #[expect(clippy::cast_possible_truncation, reason = "a minute in ns")]
                    let nanoseconds = (at * SECOND) as i64;
                    task.events[event as usize] = nanoseconds;
                }
                task.inputs = before.clone().into();
                stage.push(name);
                trace.tasks.push(task);
            }
            before = stage;
        }
        trace
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn factor(&mut self) -> f64 {
        for _each in 0..3 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        let share = f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX);
        0.85 + 0.3 * share
    }
}

const PAIRS: u64 = 40;

/// Compares so many pairs, with so many runs of each side.
fn comparisons(baseline: &Setting, candidate: &Setting, runs: u64) -> Vec<TraceComparison> {
    let pairs = (0..PAIRS).map(|pair| {
        let side = |setting: &Setting, first: u64| -> Vec<Trace> {
            let seeds = (0..runs).map(|run| 1 + first + 20 * pair + run);
            seeds.map(|seed| setting.run(seed)).collect()
        };
        let sides = [side(baseline, 0), side(candidate, 10)];
        let sides = sides.each_ref().map(|runs| runs.iter().collect());
        TraceComparison::of(&sides, TaskDuration::Total)
    });
    pairs.collect()
}

/// Returns the classes whose tasks are named as a reason of at least 1 % of the makespan.
fn named(comparison: &TraceComparison) -> Vec<PathReason> {
    let least = comparison.wholes[0].makespan / 100;
    let mut reasons = comparison.reasons(1);
    reasons.retain(|it| {
        matches!(it.kind, ReasonKind::Longer(_) | ReasonKind::Number) && it.time.abs() > least
    });
    reasons
}

fn assert_adds_up(comparison: &TraceComparison) {
    let sum: i64 = comparison.reasons(1).iter().map(|it| it.time).sum();
    let difference = comparison.wholes[1].makespan - comparison.wholes[0].makespan;
    // Each of at most 20 parts is rounded.
    assert!((sum - difference).abs() <= 20, "{sum} of {difference}");
}

#[test]
fn the_class_that_changed_is_named_first_and_no_other() {
    for runs in [1, 3] {
        for (class, times) in [("map", 1.3), ("map", 0.6), ("sum", 1.6), ("read", 1.5)] {
            let changed = Setting::usual().slower(class, times);
            let all = comparisons(&Setting::usual(), &changed, runs);
            all.iter().for_each(assert_adds_up);
            let first = all.iter().filter(|it| {
                let first = it.reasons(1).into_iter().next();
                first.is_some_and(|it| {
                    it.class == class && it.kind == ReasonKind::Longer(TaskDuration::Compute)
                })
            });
            let first = first.count();
            let others = all
                .iter()
                .filter(|it| named(it).iter().any(|it| it.class != class));
            let others = others.count();
            assert!(
                first >= 38,
                "{class} {times}, {runs} runs: first in {first} of {PAIRS}"
            );
            assert!(
                others <= 2,
                "{class} {times}, {runs} runs: others in {others} of {PAIRS}"
            );
        }
    }
}

#[test]
fn no_class_is_named_where_only_workers_or_copies_changed_or_nothing() {
    let workers = Setting {
        workers: 6,
        ..Setting::usual()
    };
    let copies = Setting {
        copying: 0.3,
        ..Setting::usual()
    };
    for (name, changed) in [
        ("nothing", Setting::usual()),
        ("workers", workers),
        ("copies", copies),
    ] {
        for runs in [1, 3] {
            let all = comparisons(&Setting::usual(), &changed, runs);
            all.iter().for_each(assert_adds_up);
            let named = all.iter().filter(|it| !named(it).is_empty()).count();
            assert!(
                named <= 2,
                "{name}, {runs} runs: a class is named in {named} of {PAIRS}"
            );
        }
    }
}

#[test]
fn a_worker_that_is_slow_makes_tasks_longer_and_not_more_of_them() {
    let slow = Setting {
        slow_worker: 2.5,
        ..Setting::usual()
    };
    for comparison in comparisons(&Setting::usual(), &slow, 1) {
        let is_number = |it: &PathReason| it.kind == ReasonKind::Number;
        assert!(!named(&comparison).iter().any(is_number));
    }
}

#[test]
fn more_tasks_of_a_class_are_a_reason_by_their_number() {
    let mut more = Setting::usual();
    more.stages[1].1 = 60;
    for comparison in comparisons(&Setting::usual(), &more, 1) {
        let first = &comparison.reasons(1)[0];
        assert_eq!(
            (first.kind, first.class.as_str()),
            (ReasonKind::Number, "map")
        );
    }
}

#[test]
fn intervals_are_over_runs_where_each_side_has_three_and_over_tasks_else() {
    let over = |runs: [u64; 2]| {
        let sides = runs.map(|runs| {
            let runs = (1..=runs).map(|seed| Setting::usual().run(seed));
            runs.collect::<Vec<_>>()
        });
        let sides = sides.each_ref().map(|runs| runs.iter().collect());
        let comparison = TraceComparison::of(&sides, TaskDuration::Total);
        comparison.classes[0].ratios[1].as_ref().unwrap().over
    };
    assert_eq!(over([3, 3]), Replicates::Runs);
    assert_eq!(over([1, 3]), Replicates::PairedTasks);
    assert_eq!(over([1, 1]), Replicates::PairedTasks);
}

#[test]
fn a_single_task_of_a_class_has_a_ratio_without_an_interval() {
    let one = |seconds: f64| Setting {
        stages: vec![("a", 1, seconds), ("b", 1, 1.0)],
        ..Setting::usual()
    };
    let (before, after) = (one(1.0).run(1), one(2.0).run(1));
    let comparison = TraceComparison::of(&[vec![&before], vec![&after]], TaskDuration::Total);
    let computing = comparison.classes.iter();
    let computing = computing.filter(|it| it.duration == TaskDuration::Compute);
    let changed = computing.map(|it| {
        let ratio = it.ratios[1].as_ref().unwrap();
        (
            it.class.as_str(),
            (ratio.interval.is_none(), ratio.is_changed),
        )
    });
    let expected = [("a", (true, true)), ("b", (true, false))];
    assert_eq!(
        changed.collect::<BTreeMap<_, _>>(),
        BTreeMap::from(expected)
    );
    assert_adds_up(&comparison);
    assert_eq!(comparison.reasons(1)[0].class, "a");
}

#[test]
fn times_below_zero_have_no_ratio() {
    // The clock of the controller is behind that of the host, so that it knows of results before they are there.
    let with_notice = |seconds: f64| {
        let mut trace = Setting::usual().run(1);
        for task in &mut trace.tasks {
            #[expect(clippy::cast_possible_truncation, reason = "a minute in ns")]
            let notice = (seconds * SECOND) as i64;
            let published = task.events[TaskEvent::Published as usize];
            task.events[TaskEvent::Completed as usize] = published + notice;
        }
        trace
    };
    let ratios = |before: f64, after: f64| {
        let [before, after] = [with_notice(before), with_notice(after)];
        let sides = [vec![&before], vec![&after]];
        let compared = TraceComparison::of(&sides, TaskDuration::Total);
        let notices = compared.classes.into_iter();
        let notices = notices.filter(|it| it.duration == TaskDuration::ToController);
        notices.filter(|it| it.ratios[1].is_some()).count()
    };
    assert_eq!(ratios(0.1, 0.2), 4);
    assert_eq!(ratios(-0.1, 0.2), 0);
    assert_eq!(ratios(0.1, -0.2), 0);
}
