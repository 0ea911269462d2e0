//! The order of runs does not depend on how they were recorded, and runs of other branches are not judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use lapwing_model::{Benchmark, Id, Outcome, StartedFrom};
use lapwing_record::{FirstInstance, InstanceData, RunHead};
use lapwing_stats::{Seed, as_f64};
use rand::RngExt;
use rayon::prelude::*;

use super::testing::noise;
use super::*;
use crate::clean::CleaningRules;
use crate::clean::tests::instance;
use crate::judge::MetricChoice;
use crate::sample::{BenchmarkData, MainChoice, MainRuns, RunOrder, SuiteHistories};

const NIGHTS: usize = 40;
const STEP_AT: usize = 25;

/// A run before it is recorded in one of several ways.
#[derive(Debug, Clone)]
struct MadeRun {
    /// Hours since the first one.
    hour: i64,
    version: String,
    branch: &'static str,
    is_dated: bool,
    value: f64,
}

impl MadeRun {
    fn time(&self) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + self.hour * 3600).expect("a time")
    }

    /// Returns the catalogue's entry and the results of a run of this number in a session that started then.
    fn recorded(&self, number: u64, session: (u64, Timestamp)) -> (RunHead, InstanceData) {
        let id = |kind: u8, number: u64| Id::derived(&[&[kind], &number.to_le_bytes()]);
        let mut data = instance(&[(false, Outcome::Ok, self.value)]);
        let of_session = Arc::make_mut(&mut data.session);
        (of_session.id, of_session.started) = (id(0, session.0), session.1);
        let run = Arc::make_mut(&mut data.run);
        (run.id, run.session) = (id(1, number), of_session.id);
        run.version.name = Some(self.version.clone());
        run.version.branch = Some(self.branch.to_owned());
        run.version.date = self.is_dated.then(|| self.time().to_string());
        data.instance.id = id(2, number);
        data.instance.run = run.id;
        let head = RunHead {
            id: run.id,
            session: of_session.id,
            session_name: None,
            suite: "s".to_owned(),
            started: of_session.started,
            variant: run.variant.clone(),
            levels: BTreeMap::default(),
            version: run.version.name.clone(),
            commit: None,
            branch: run.version.branch.clone(),
            version_date: run.version.date.clone(),
            dirty: None,
            started_from: StartedFrom::Source,
            file: None,
        };
        (head, data)
    }
}

/// Returns nights of the default branch; from one night on they are slower by a factor.
fn nights(seed: u64, factor: f64) -> Vec<MadeRun> {
    let values = noise(NIGHTS, 0.02, seed);
    let runs = values.iter().enumerate().map(|(night, value)| MadeRun {
        hour: 24 * i64::try_from(night).expect("few"),
        version: format!("0.{}.{}", night / 12, night % 12),
        branch: "main",
        is_dated: true,
        value: value * if night < STEP_AT { 1.0 } else { factor },
    });
    runs.collect()
}

/// Returns runs of two topic branches, at any time but mostly the last, each slower or faster than the default branch.
fn branches(seed: u64) -> Vec<MadeRun> {
    let mut random = Seed(seed).stream("branches");
    let runs = (0..12).map(|number| {
        let last = i64::try_from(24 * NIGHTS).expect("few");
        let hour = if number < 6 {
            last + number
        } else {
            random.random_range(0..last)
        };
        MadeRun {
            hour,
            version: format!("topic-{number}"),
            branch: if number % 2 == 0 { "faster" } else { "slower" },
            is_dated: true,
            value: if number % 2 == 0 { 0.7 } else { 1.4 } * random.random_range(0.98..1.02),
        }
    });
    runs.collect()
}

/// Returns what is found among recorded runs, and the order that was taken.
fn found(
    recorded: Vec<(RunHead, InstanceData)>,
    choice: MainChoice,
) -> (Detection, Histories, RunOrder) {
    let (heads, instances): (Vec<RunHead>, Vec<InstanceData>) = recorded.into_iter().unzip();
    let main = MainRuns::of(&heads, None, choice);
    let judged: Vec<&RunHead> = heads
        .iter()
        .filter(|it| main.judged.contains(&it.id))
        .collect();
    let first = instances.iter().map(|it| {
        let first = FirstInstance {
            started: it.instance.started,
            position: it.instance.position,
            hosts: Vec::new(),
        };
        (it.run.id, first)
    });
    let all = SuiteHistories::among(&judged, &first.collect(), None);
    let mut histories = Histories::in_order(all.history);
    let data = BenchmarkData {
        suite: "s".to_owned(),
        benchmark: Benchmark::default(),
        instances,
    };
    histories.add(&data, &CleaningRules::default(), &MetricChoice::default());
    histories.sort(HistoryOrder::Version);
    let detection = detect(&histories, &DetectOptions::default());
    (detection, histories, all.orders["s"])
}

/// Returns runs in sessions of their own, which started when they did.
fn in_sessions(runs: &[MadeRun]) -> Vec<(RunHead, InstanceData)> {
    let runs = (0..).zip(runs);
    runs.map(|(number, run)| run.recorded(number, (number, run.time())))
        .collect()
}

fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = Seed(seed).stream("order");
    for last in (1..items.len()).rev() {
        items.swap(last, random.random_range(0..=last));
    }
    items
}

/// Returns the versions before and after each finding.
fn places((detection, histories, _): &(Detection, Histories, RunOrder)) -> Vec<[String; 2]> {
    let label = |moment: usize| histories.moments[moment].label();
    let findings = detection.findings.iter();
    findings
        .map(|finding| [label(finding.last_before), label(finding.first_after)])
        .collect()
}

#[test]
fn the_same_is_found_however_the_runs_were_recorded() {
    for seed in 0..10 {
        let runs = nights(seed, 1.2);
        let dated = found(in_sessions(&runs), MainChoice::DefaultBranch);
        assert_eq!(places(&dated), [["0.2.0", "0.2.1"]], "seed {seed}");
        assert_eq!(dated.2, RunOrder::VersionDates);

        let undated: Vec<MadeRun> = (runs.iter().cloned())
            .map(|run| MadeRun {
                is_dated: false,
                ..run
            })
            .collect();
        // One session, whose runs have random ids: in order of the names of the versions.
        let one = (1, Timestamp::UNIX_EPOCH);
        let mut one_file: Vec<_> = (0..)
            .zip(&undated)
            .map(|(at, it)| it.recorded(at, one))
            .collect();
        let by_version = found(shuffled(one_file.clone(), seed), MainChoice::DefaultBranch);
        assert_eq!(by_version.2, RunOrder::VersionNames);
        // Without such names: in the order of the file, or of the starts.
        for (position, (head, data)) in (0..).zip(&mut one_file) {
            let name = format!(
                "build {:016x}",
                Seed(seed).stream(&head.id.to_string()).random::<u64>()
            );
            head.version = Some(name.clone());
            Arc::make_mut(&mut data.run).version.name = Some(name);
            data.instance.position = position;
        }
        let by_file = found(shuffled(one_file.clone(), seed), MainChoice::DefaultBranch);
        assert_eq!(by_file.2, RunOrder::FileOrder);
        for ((_, data), run) in one_file.iter_mut().zip(&runs) {
            data.instance.started = Some(run.time());
            data.instance.position = u32::MAX - data.instance.position;
        }
        let by_start = found(shuffled(one_file, seed), MainChoice::DefaultBranch);
        assert_eq!(by_start.2, RunOrder::StartTimes);
        for other in [by_version, by_file, by_start] {
            let [finding] = &other.0.findings[..] else {
                panic!("seed {seed}: {:?}", other.0.findings);
            };
            assert_eq!(finding.size, dated.0.findings[0].size);
            assert_eq!(finding.range, dated.0.findings[0].range);
        }
    }
}

#[test]
fn files_are_in_order_of_the_numbers_in_their_names_before_their_times() {
    let runs = nights(1, 1.2);
    let mut files = in_sessions(&runs);
    let expected = found(files.clone(), MainChoice::DefaultBranch);
    let scrambled = shuffled((0..files.len()).collect(), 3);
    for ((number, (head, data)), time) in (1..).zip(&mut files).zip(scrambled) {
        head.version = None;
        head.version_date = None;
        head.started_from = StartedFrom::FileTime;
        head.file = Some(format!("saves/run{number}.json"));
        let second = i64::try_from(time).expect("few");
        head.started = Timestamp::from_second(second).expect("a time");
        let run = Arc::make_mut(&mut data.run);
        run.version.name = None;
        run.version.date = None;
        Arc::make_mut(&mut data.session).started = head.started;
    }
    let by_number = found(files.clone(), MainChoice::DefaultBranch);
    assert_eq!(by_number.2, RunOrder::FileNames);
    assert_eq!(by_number.0.findings[0].range, expected.0.findings[0].range);
    for (head, _) in &mut files {
        head.file = Some("saves/run.json".to_owned());
    }
    assert_eq!(
        found(files, MainChoice::DefaultBranch).2,
        RunOrder::FileTimes
    );
}

#[test]
fn runs_of_a_version_within_hours_are_one_moment_and_a_night_later_is_another() {
    let mut runs = nights(1, 1.0);
    // The last three nights have one version, the last of them two runs.
    for run in &mut runs[37..] {
        run.version = "0.9.9".to_owned();
        run.is_dated = false;
    }
    runs.push(MadeRun {
        hour: runs[39].hour + 3,
        ..runs[39].clone()
    });
    let (_, histories, _) = found(in_sessions(&runs), MainChoice::DefaultBranch);
    assert_eq!(histories.moments.len(), 40);
    let instances = histories.series[0].points.iter().map(|it| it.instances);
    assert_eq!(instances.skip(36).collect::<Vec<_>>(), [1, 1, 1, 2]);
    // A single version that is watched all day.
    for run in &mut runs {
        run.version = "1.0".to_owned();
        run.is_dated = false;
        run.hour /= 24;
    }
    let (_, histories, _) = found(in_sessions(&runs), MainChoice::DefaultBranch);
    assert_eq!(histories.moments.len(), 41);
}

/// Returns the shares of series with a finding, and with one at the planted place, with and without runs of branches;
/// these are judged, or not.
fn rates(series: u64, factor: f64, choice: MainChoice) -> [f64; 2] {
    let all = (0..series).into_par_iter().map(|seed| {
        let mut runs = nights(1000 + seed, factor);
        runs.extend(branches(seed));
        let of_runs = found(shuffled(in_sessions(&runs), seed), choice);
        let is_open = of_runs.0.findings.iter().any(Finding::is_open);
        let places = places(&of_runs);
        let is_there = places.iter().any(|place| *place == ["0.2.0", "0.2.1"]);
        [is_open, is_there].map(usize::from)
    });
    let sums = all.reduce(|| [0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
    sums.map(|sum| as_f64(sum) / as_f64(usize::try_from(series).expect("few")))
}

#[test]
fn runs_of_branches_cause_no_finding_and_hide_none() {
    let quiet = rates(40, 1.0, MainChoice::DefaultBranch);
    assert!(quiet[0] <= 0.05, "{quiet:?}");
    let step = rates(40, 1.2, MainChoice::DefaultBranch);
    assert!(step[1] >= 0.95, "{step:?}");
    // Exactly as without them.
    for seed in 0..10 {
        let mut runs = nights(seed, 1.1);
        let alone = found(in_sessions(&runs), MainChoice::DefaultBranch);
        runs.extend(branches(seed));
        let among = found(
            shuffled(in_sessions(&runs), seed),
            MainChoice::DefaultBranch,
        );
        assert_eq!(alone.0.findings, among.0.findings);
    }
}

#[test]
#[ignore = "takes a minute; its table stands in docs/calibration.md"]
fn table_of_branches() {
    println!("| runs judged | step | any finding | at the place of the step |");
    println!("|---|---:|---:|---:|");
    let choices = [
        ("default branch", MainChoice::DefaultBranch),
        ("all", MainChoice::All),
    ];
    for (name, choice) in choices {
        for factor in [1.0, 1.05, 1.1, 1.2] {
            let [any, there] = rates(400, factor, choice).map(|share| 100.0 * share);
            println!("| {name} | {factor}× | {any:.1} % | {there:.1} % |");
        }
    }
}

#[test]
fn commits_that_begin_alike_are_shown_with_more_digits() {
    let labels = |commits: [&str; 3]| {
        let mut histories = super::testing::days(3);
        for (moment, commit) in histories.moments.iter_mut().zip(commits) {
            let version = &mut Arc::make_mut(&mut moment.run).version;
            (version.name, version.commit) = (None, Some(commit.to_owned()));
        }
        histories.sort(HistoryOrder::Time);
        histories
            .moments
            .iter()
            .map(Moment::label)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        labels(["110722311710cf53", "4a14876aeaff1a09", "4a14876aeaff1a09"]),
        ["1107223117", "4a14876aea", "4a14876aea"]
    );
    assert_eq!(
        labels(["00000000000000a1", "00000000000000b1", "4a14876aeaff1a09"]),
        ["00000000000000a", "00000000000000b", "4a14876aeaff1a0"]
    );
}
