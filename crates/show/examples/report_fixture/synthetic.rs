//! Measurements that nobody made: for trying the report and the charts.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::{
    Benchmark, Id, Instance, InstanceEnd, InstanceOutcome, Metric, Object, Outcome, Run, Session,
    Summary, Version,
};
use lapwing_record::{InstanceData, IterationDetail, Iterations};
use serde_json::json;

/// How a made-up benchmark behaves.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) suite: &'static str,
    pub(crate) id: String,
    pub(crate) tags: Vec<&'static str>,
    pub(crate) sessions: u32,
    pub(crate) variants: Vec<(&'static str, f64)>,
    pub(crate) instances: u32,
    pub(crate) iterations: u32,
    pub(crate) burn_in: u32,
    pub(crate) seconds: f64,
    /// Noise between instances and within them, as shares of the value.
    pub(crate) noise: (f64, f64),
    /// How much slower the first iterations are.
    pub(crate) warm_up: f64,
    /// One of so many iterations fails; 0 for none.
    pub(crate) failing: u32,
    pub(crate) lost_instances: bool,
    pub(crate) hosts: u32,
    pub(crate) metrics: usize,
    pub(crate) source: Source,
    /// Whether it changed, failed as a whole, and left files behind.
    pub(crate) eventful: bool,
}

/// Where made-up measurements seem to be from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Measured here.
    Lapwing,
    /// From a program of that format that kept summaries, in so many sessions; then samples.
    Summaries(&'static str, u32),
    /// From hyperfine, each of whose runs was taken as `iteration` or `instance`.
    Hyperfine(&'static str),
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            suite: "synthetic",
            id: "steady".to_owned(),
            tags: vec![],
            sessions: 6,
            variants: vec![(Run::DEFAULT_VARIANT, 1.0)],
            instances: 5,
            iterations: 6,
            burn_in: 1,
            seconds: 1.0,
            noise: (0.02, 0.01),
            warm_up: 0.3,
            failing: 0,
            lost_instances: false,
            hosts: 1,
            metrics: 3,
            source: Source::Lapwing,
            eventful: false,
        }
    }
}

/// A small generator of numbers that look random and are the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = u32::try_from(self.0 >> 40).unwrap_or(0);
        f64::from(bits) / f64::from(1_u32 << 24)
    }

    /// About normal: the sum of four.
    fn around_zero(&mut self) -> f64 {
        (self.next() + self.next() + self.next() + self.next() - 2.0) * 1.73
    }
}

const EXTRA_METRICS: [(&str, &str); 8] = [
    ("user_time", "s"),
    ("peak_memory", "B"),
    ("instructions", "1"),
    ("throughput", "B/s"),
    ("system_time", "s"),
    ("minor_faults", "1"),
    ("voluntary_switches", "1"),
    ("block_input", "B"),
];

fn id(parts: &[&str]) -> Id {
    let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    Id::derived(&bytes)
}

fn object(value: serde_json::Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// Sessions and runs that the benchmarks of a suite share.
#[derive(Default)]
pub(crate) struct Sessions(BTreeMap<String, (Arc<Session>, Arc<Run>)>);

impl Sessions {
    fn get(&mut self, recipe: &Recipe, number: u32, variant: &str) -> (Arc<Session>, Arc<Run>) {
        let key = format!("{}/{number}/{variant}", recipe.suite);
        let (session, run) = self.0.entry(key.clone()).or_insert_with(|| {
            let session_id = id(&["session", recipe.suite, &number.to_string()]);
            let started = jiff::Timestamp::from_second(1_790_000_000 + i64::from(number) * 86_400)
                .expect("a time in range");
            let mut metrics = BTreeMap::from([("wall_time".to_owned(), Metric::lower("s"))]);
            for (name, unit) in EXTRA_METRICS {
                metrics.insert(name.to_owned(), Metric::lower(unit));
            }
            let run = Run {
                id: id(&["run", &key]),
                session: session_id,
                variant: variant.to_owned(),
                factors: BTreeMap::new(),
                definitions: BTreeMap::new(),
                version: Version { name: Some(format!("1.{number}")), ..Version::default() },
                metrics,
                environment: object(json!({
                    "cpu": {"model": "Synthetic CPU", "cores": 8},
                    "kernel": format!("6.{}", 1 + number / 4),
                    "packages": {"example-library": format!("2.{number}.0"), "other-library": "1.0"},
                })),
                attributes: Object::new(),
                artifacts: Object::new(),
                extra: Object::new(),
            };
            let session = Session {
                id: session_id,
                suite: recipe.suite.to_owned(),
                started,
                seed: Some(7),
                tool: "synthetic".to_owned(),
                name: Some(format!("night-{number}")),
                attributes: match recipe.source {
                    Source::Lapwing => Object::new(),
                    Source::Summaries(format, _) => object(json!({"source": {"format": format}})),
                    Source::Hyperfine(each_run) => object(
                        json!({"source": {"format": "hyperfine", "each_run": each_run}}),
                    ),
                },
                artifacts: Object::new(),
                extra: Object::new(),
            };
            (Arc::new(session), Arc::new(run))
        });
        (Arc::clone(session), Arc::clone(run))
    }
}

/// Returns everything measured of the made-up benchmark.
pub(crate) fn measure(recipe: &Recipe, sessions: &mut Sessions) -> BenchmarkData {
    let benchmark = Benchmark {
        id: recipe.id.clone(),
        params: Object::new(),
        tags: recipe.tags.iter().map(|&tag| tag.to_owned()).collect(),
        fingerprint: None,
        extra: Object::new(),
    };
    let seed = recipe.id.bytes().fold(7_u64, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut chance = Chance(seed);
    let mut instances = Vec::new();
    for number in 0..recipe.sessions {
        for position in 0..recipe.instances {
            for (variant, factor) in &recipe.variants {
                let (session, run) = sessions.get(recipe, number, variant);
                let lost = recipe.lost_instances && position == 1 && number + 1 == recipe.sessions;
                let mut measured = instance(
                    recipe,
                    &benchmark,
                    session,
                    run,
                    position,
                    *factor,
                    lost,
                    &mut chance,
                );
                match recipe.source {
                    Source::Summaries(_, until) if number < until => {
                        summarise(&mut measured, &["wall_time", "user_time", "peak_memory"]);
                        measured.iterations = Iterations::default();
                    }
                    // The means of all runs stand with the first of them.
                    Source::Hyperfine(each_run) if position > 0 && each_run == "instance" => {
                        measured.iterations.values.remove("user_time");
                    }
                    Source::Hyperfine(_) => summarise(&mut measured, &["user_time"]),
                    Source::Summaries(..) | Source::Lapwing => {}
                }
                instances.push(measured);
            }
        }
    }
    if recipe.eventful {
        for it in &mut instances {
            let number = it.session.started.as_second() / 86_400 - 1_790_000_000 / 86_400;
            befall(it, number, i64::from(recipe.sessions));
        }
    }
    BenchmarkData {
        suite: recipe.suite.to_owned(),
        benchmark,
        instances,
    }
}

/// What happens to a benchmark over years: it is changed, a run of it fails, it leaves files behind.
fn befall(it: &mut InstanceData, session: i64, of: i64) {
    let half = if session < of / 2 { "first" } else { "second" };
    it.instance.benchmark.fingerprint = Some(format!("sha256:{half}"));
    it.recorded_fingerprint
        .clone_from(&it.instance.benchmark.fingerprint);
    it.instance.environment = object(json!({"cpu_model": format!("Synthetic {half}")}));
    it.instance.attributes = object(json!({
        "source": {"path": "benchmarks/test_join.py", "line": 12, "text": "def test_join(shape):\n    assert '<b>' < '</script>'\n"},
        "setup_outcome": "passed",
    }));
    it.instance.artifacts = object(json!({
        "ci_run": format!("https://ci.example/runs/{session}"),
        "profile": "/data/profiles/join.prof",
        "odd": "javascript:alert(1)",
    }));
    let trace = object(json!({"trace": format!("https://ci.example/runs/{session}/trace.json")}));
    let detail = IterationDetail {
        artifacts: trace,
        ..IterationDetail::default()
    };
    it.iterations.details.insert(2, detail);
    if session == of - 3 {
        for at in 0..it.iterations.len() {
            it.iterations.outcome.set(at, Outcome::Failed);
        }
        for value in it.iterations.values.values_mut().flatten() {
            *value = f64::NAN;
        }
        it.iterations.messages = BTreeMap::from([(0, "ValueError: <i>shape</i>".to_owned())]);
    }
}

/// Makes summaries of these metrics and takes their samples away.
fn summarise(instance: &mut InstanceData, metrics: &[&str]) {
    for metric in metrics {
        let Some(mut values) = instance.iterations.values.remove(*metric) else {
            continue;
        };
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
            continue;
        };
        let median = values[values.len() / 2];
        let with_spread = *metric == "wall_time";
        instance.summaries.push(Summary {
            instance: instance.instance.id,
            metric: (*metric).to_owned(),
            n: (*metric != "peak_memory").then_some(values.len() as u64),
            centre: median,
            spread: with_spread.then_some((most - least) / 2.0),
            statistic: if with_spread { "median/iqr" } else { "median" }.to_owned(),
            extra: object(json!({"min": least, "max": most})),
        });
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "everything that makes an instance"
)]
fn instance(
    recipe: &Recipe,
    benchmark: &Benchmark,
    session: Arc<Session>,
    run: Arc<Run>,
    position: u32,
    factor: f64,
    lost: bool,
    chance: &mut Chance,
) -> InstanceData {
    let instance_id = id(&[
        "instance",
        &recipe.id,
        &run.id.to_string(),
        &position.to_string(),
    ]);
    let level = recipe.seconds * factor * (1.0 + recipe.noise.0 * chance.around_zero());
    let planned = recipe.burn_in + recipe.iterations;
    let count = if lost { planned / 2 } else { planned };
    let mut iterations = Iterations::default();
    let mut wall = Vec::new();
    let mut offset = 0.05;
    for index in 0..count {
        let warm = recipe.warm_up * (-f64::from(index) * 1.1).exp();
        let value = (level * (1.0 + warm + recipe.noise.1 * chance.around_zero())).max(level * 0.2);
        let outcome = if recipe.failing > 0
            && (index + position * 3) % recipe.failing == recipe.failing - 1
        {
            if index % 2 == 0 {
                Outcome::Failed
            } else {
                Outcome::TimedOut
            }
        } else {
            Outcome::Ok
        };
        if outcome != Outcome::Ok {
            iterations.messages.insert(
                iterations.len(),
                "exit code 3\nstderr: synthetic failure: <b>no such \"file\"</b> & 'quotes'\n  at step 2 of 5".to_owned(),
            );
        }
        iterations.push_indices([index]);
        iterations.offset.extend([offset]);
        iterations.burn_in.extend([index < recipe.burn_in]);
        iterations.outcome.extend([outcome]);
        wall.push(if outcome == Outcome::Failed {
            f64::NAN
        } else {
            value
        });
        offset += value * 1.02;
    }
    for (at, (name, _)) in EXTRA_METRICS
        .iter()
        .take(recipe.metrics.saturating_sub(1))
        .enumerate()
    {
        let factor = [0.8, 3e7, 2.4e9, 1.2e8, 0.1, 900.0, 12.0, 4096.0][at];
        let values = wall
            .iter()
            .map(|value| (value * factor * 1e3).round() / 1e3)
            .collect();
        iterations.values.insert((*name).to_owned(), values);
    }
    iterations.values.insert("wall_time".to_owned(), wall);
    InstanceData {
        recorded_fingerprint: benchmark.fingerprint.clone(),
        instance: Instance {
            id: instance_id,
            run: run.id,
            benchmark: benchmark.clone(),
            block: position,
            position,
            attempt: 0,
            host: Some(format!("node{}", position % recipe.hosts.max(1) + 1)),
            started: Some(session.started),
            environment: Object::new(),
            job: Object::new(),
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        },
        end: Some(InstanceEnd {
            instance: instance_id,
            ended: None,
            outcome: if lost {
                InstanceOutcome::Lost
            } else {
                InstanceOutcome::Ok
            },
            message: lost.then(|| "synthetic: the machine went away".to_owned()),
            observed: Object::new(),
            extra: Object::new(),
        }),
        session,
        run,
        iterations,
        summaries: Vec::new(),
    }
}
