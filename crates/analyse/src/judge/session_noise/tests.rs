use lapwing_model::Metric;
use lapwing_stats::Seed;
use rand::{Rng, RngExt};

use super::*;
use crate::clean::CleanInstance;
use crate::judge::{
    Caution, CompareOptions, Comparison, EarlierComparisons, InstanceOrigin, ReplicationUnit,
    Verdict, compare, decide,
};
use crate::sample::{Setting, Subject};

/// What is compared, and what the store knows.
#[derive(Clone, Copy)]
struct SessionDesign {
    /// Sessions per side, and instances per side in each.
    sessions: usize,
    instances: usize,
    /// The sessions that were measured before, each with as many instances.
    earlier: usize,
    /// Standard deviations of the logarithms: between sessions, hosts and instances.
    between: f64,
    of_hosts: f64,
    within: f64,
    /// The number of hosts; each session is on one of them. 0 if hosts are unknown.
    hosts: usize,
    /// The change of the candidate, and one in the middle of the history, as logarithms.
    change: f64,
    earlier_change: f64,
    /// By how much the sessions and the instances of today differ more.
    today: f64,
    today_within: f64,
}

const USUAL: SessionDesign = SessionDesign {
    sessions: 1,
    instances: 5,
    earlier: 10,
    between: 0.05,
    of_hosts: 0.0,
    within: 0.03,
    hosts: 0,
    change: 0.0,
    earlier_change: 0.0,
    today: 1.0,
    today_within: 1.0,
};

/// What a share of the comparisons had.
#[derive(Debug, Default)]
struct Shares {
    verdicts: f64,
    covered: f64,
    by_session: f64,
    cautioned: f64,
    half_width: f64,
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// A session on one of the hosts, each of which has its own speed.
fn session(
    hosts: &[f64],
    design: &SessionDesign,
    level: f64,
    [between, within]: [f64; 2],
    random: &mut impl Rng,
) -> SideSample {
    let id = Id::from(uuid::Uuid::from_u128(random.random()));
    let host = (!hosts.is_empty()).then(|| random.random_range(0..hosts.len()));
    let centre = level + between * normal(random) + host.map_or(0.0, |host| hosts[host]);
    let mut side = SideSample::default();
    let name = host.map(|host| format!("host {host}"));
    side.hosts.extend(name.clone());
    side.setting.variants.insert("a".to_owned());
    for instance in 0..design.instances {
        side.cleaned.instances.push(CleanInstance {
            position: instance,
            values: vec![(centre + within * normal(random)).exp()],
            without_value: 0,
            host: None,
        });
        side.origins.push(InstanceOrigin {
            session: id,
            block: u32::try_from(instance).unwrap_or(0),
            position: u32::try_from(instance).unwrap_or(0),
            host: name.clone(),
        });
    }
    side.recorded_instances = design.instances;
    side
}

fn joined(sessions: Vec<SideSample>) -> SideSample {
    let joined = sessions.into_iter().reduce(|mut all, next| {
        all.cleaned.instances.extend(next.cleaned.instances);
        all.origins.extend(next.origins);
        all.hosts.extend(next.hosts);
        all.recorded_instances += next.recorded_instances;
        all
    });
    joined.unwrap_or_default()
}

fn judged(design: &SessionDesign, random: &mut impl Rng) -> Comparison {
    let hosts: Vec<f64> = (0..design.hosts)
        .map(|_| design.of_hosts * normal(random))
        .collect();
    let names = || [Some("a".to_owned()), None];
    let mut earlier = EarlierComparisons::default();
    let key = ("s".to_owned(), "b".to_owned(), "wall_time".to_owned());
    let spread = [design.between, design.within];
    for at in 0..design.earlier {
        let level = if 2 * at < design.earlier {
            -design.earlier_change
        } else {
            0.0
        };
        let side = session(&hosts, design, level, spread, random);
        let found = EarlierSession::of(&side, names(), Levels::new());
        earlier
            .sessions
            .entry(key.clone())
            .or_default()
            .extend(found);
    }
    let spread = [
        design.today * design.between,
        design.today_within * design.within,
    ];
    let sides = [0.0, design.change].map(|level| {
        let sessions = (0..design.sessions).map(|_| session(&hosts, design, level, spread, random));
        joined(sessions.collect())
    });
    let subject = Subject {
        suite: key.0,
        benchmark: key.1,
        setting: Setting::default(),
        metric: key.2,
    };
    let options = CompareOptions::default();
    let sides = [&sides[0], &sides[1]];
    let mut all = [compare(
        subject,
        Metric::lower("s"),
        ["old", "new"],
        sides,
        &options,
    )];
    decide(&mut all, &earlier, &options);
    let [comparison] = all;
    comparison
}

fn shares(name: &str, design: &SessionDesign, number: u32) -> Shares {
    let mut random = Seed(7).split(name).block(0);
    let mut shares = Shares::default();
    let one = f64::from(number).recip();
    for _ in 0..number {
        let comparison = judged(design, &mut random);
        let interval = comparison
            .ratio
            .and_then(|it| it.interval)
            .expect("a ratio");
        let add = |to: &mut f64, is: bool| *to += if is { one } else { 0.0 };
        let verdict = comparison.verdict;
        let is_found = matches!(verdict, Verdict::Regression | Verdict::Improvement);
        add(&mut shares.verdicts, is_found);
        add(&mut shares.covered, interval.contains(design.change.exp()));
        let unit = comparison.replication.as_ref().map(|it| it.unit);
        add(
            &mut shares.by_session,
            unit == Some(ReplicationUnit::Session),
        );
        let is_cautioned = comparison.cautions.contains(&Caution::OneSession);
        add(&mut shares.cautioned, is_cautioned);
        shares.half_width += one * (interval.upper / interval.lower).ln() / 2.0;
    }
    shares
}

#[test]
fn sessions_of_which_the_store_knows_enough_raise_no_false_alarms() {
    for sessions in [1, 2] {
        let design = SessionDesign { sessions, ..USUAL };
        let quiet = shares("quiet", &design, 400);
        assert!(quiet.verdicts < 0.08 && quiet.covered > 0.92, "{quiet:?}");
        assert!((quiet.by_session - 1.0).abs() < 1e-9 && quiet.cautioned < 1e-9);
        let change = 1.3_f64.ln();
        let found = shares("slower", &SessionDesign { change, ..design }, 200).verdicts;
        assert!(found > 0.8, "{found}");
    }
}

#[test]
fn two_sessions_a_side_have_two_degrees_of_freedom_where_the_store_knows_nothing() {
    let design = SessionDesign {
        sessions: 2,
        earlier: 0,
        ..USUAL
    };
    let alone = shares("alone", &design, 400);
    assert!(alone.verdicts < 0.08 && alone.covered > 0.92, "{alone:?}");
    assert!((alone.by_session - 1.0).abs() < 1e-9 && alone.cautioned < 1e-9);
}

#[test]
fn one_session_a_side_keeps_its_caution_where_the_store_knows_nothing() {
    for earlier in [0, 2] {
        let design = SessionDesign { earlier, ..USUAL };
        let alone = shares("alone", &design, 50);
        assert!((alone.cautioned - 1.0).abs() < 1e-9, "{alone:?}");
        assert!(alone.by_session < 1e-9, "{alone:?}");
    }
}

#[test]
fn a_change_in_the_history_is_not_taken_for_noise() {
    let of = |earlier_change: f64| {
        let design = SessionDesign {
            earlier: 20,
            between: 0.02,
            earlier_change,
            ..USUAL
        };
        shares("level", &design, 100).half_width
    };
    assert!(of(0.7) < 1.15 * of(0.0), "{} {}", of(0.7), of(0.0));
}

#[test]
fn sides_on_other_hosts_differ_by_what_hosts_differ_by() {
    let design = SessionDesign {
        hosts: 6,
        of_hosts: 0.1,
        between: 0.01,
        earlier: 20,
        ..USUAL
    };
    let quiet = shares("hosts", &design, 300);
    assert!(quiet.verdicts < 0.09 && quiet.covered > 0.91, "{quiet:?}");
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_sessions() {
    const COMPARISONS: u32 = 2_000;
    let mut table = String::from(
        "| sessions per side | earlier sessions | coverage | A/A with a verdict | half-width | 1.1× found | 1.3× found | cautioned |\n|--:|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let noisy = |today: f64, today_within: f64| SessionDesign {
        today,
        today_within,
        ..USUAL
    };
    let hosts = |hosts: usize, earlier: usize| SessionDesign {
        hosts,
        earlier,
        of_hosts: 0.05,
        between: 0.02,
        ..USUAL
    };
    let changed = SessionDesign {
        earlier_change: 0.3,
        ..USUAL
    };
    let cells = [
        (
            "none",
            SessionDesign {
                earlier: 0,
                ..USUAL
            },
        ),
        (
            "5",
            SessionDesign {
                earlier: 5,
                ..USUAL
            },
        ),
        ("10", USUAL),
        (
            "20",
            SessionDesign {
                earlier: 20,
                ..USUAL
            },
        ),
        (
            "20, a change of 1.35× among them",
            SessionDesign {
                earlier: 20,
                ..changed
            },
        ),
        (
            "10, today's instances differ twice as much",
            noisy(1.0, 2.0),
        ),
        (
            "10, today's sessions and instances differ twice as much",
            noisy(2.0, 2.0),
        ),
        (
            "10, today's sessions differ twice as much, not their instances",
            noisy(2.0, 1.0),
        ),
        ("none, each session on one of five hosts", hosts(5, 0)),
        ("10, each session on one of five hosts", hosts(5, 10)),
        ("20, each session on one of five hosts", hosts(5, 20)),
        ("20, each session on one of two hosts", hosts(2, 20)),
    ];
    for sessions in [1, 2, 3, 5] {
        for (name, cell) in cells {
            let design = SessionDesign { sessions, ..cell };
            let quiet = shares(name, &design, COMPARISONS);
            let found = [1.1_f64, 1.3].map(|ratio| {
                let change = ratio.ln();
                shares(name, &SessionDesign { change, ..design }, COMPARISONS).verdicts
            });
            table.push_str(&format!(
                "| {sessions} | {name} | {:.3} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} |\n",
                quiet.covered,
                quiet.verdicts,
                quiet.half_width,
                found[0],
                found[1],
                quiet.cautioned
            ));
        }
    }
    {
        println!("{table}");
    }
}
