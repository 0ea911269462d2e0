//! Histories for tests.

use std::sync::Arc;

use jiff::Timestamp;
use rand::Rng;

use super::series::{Histories, HistorySeries, Moment, SeriesPoint};
use crate::clean::tests::instance;
use crate::sample::{HistoryPosition, RunOrder, Setting, Subject};
use lapwing_model::{Id, Metric};

/// Returns a history of so many daily runs, each of a version of its own, without series.
pub(super) fn days(number: u16) -> Histories {
    let template = instance(&[]);
    let moment = |day: u16| {
        let id = Id::derived(&[&day.to_le_bytes()]);
        let started = Timestamp::from_second(86_400 * i64::from(day)).expect("a day");
        let mut session = template.session.as_ref().clone();
        session.id = id;
        session.started = started;
        let mut run = template.run.as_ref().clone();
        run.id = id;
        run.version.name = Some(format!("v{day}"));
        let position = HistoryPosition {
            commit_number: 0,
            version_date: Some(started),
            rank: 0,
            measured: started,
            session: id,
            first_run: id,
            order: RunOrder::default(),
        };
        Moment::new(position, Arc::new(session), Arc::new(run))
    };
    Histories {
        moments: (0..number).map(moment).collect(),
        ..Histories::default()
    }
}

/// Adds a wall time in seconds with a value per moment.
pub(super) fn add(histories: &mut Histories, name: &str, values: &[f64]) {
    let points = values
        .iter()
        .enumerate()
        .map(|(moment, value)| SeriesPoint {
            moment,
            value: *value,
            instances: 1,
        });
    histories.series.push(HistorySeries {
        subject: Subject {
            suite: "s".to_owned(),
            benchmark: name.to_owned(),
            setting: Setting::default(),
            metric: "wall_time".to_owned(),
        },
        metric: Metric::lower("s"),
        smallest_effect: None,
        fail_on: None,
        recorded_ids: [name.to_owned()].into(),
        points: points.collect(),
        tried: (0..values.len()).collect(),
    });
}

/// Adds an observation of every moment.
pub(super) fn observe(histories: &mut Histories, key: &str, value: impl Fn(usize) -> &'static str) {
    for (at, moment) in histories.moments.iter_mut().enumerate() {
        Arc::make_mut(&mut moment.observed).observe(key, value(at));
    }
}

/// Returns times around a second with this coefficient of variation.
pub(super) fn noise(number: usize, variation: f64, seed: u64) -> Vec<f64> {
    let mut random = lapwing_stats::Seed(seed).stream("noise");
    let mut uniform =
        move || (lapwing_stats::as_f64(random.next_u64() >> 11) + 0.5) / 9_007_199_254_740_992.0;
    let mut normal = move || {
        let radius = (-2.0 * uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    };
    (0..number).map(|_| (variation * normal()).exp()).collect()
}
