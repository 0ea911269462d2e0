//! The side files of a test by one metric: what is drawn first and the table, and the lines of all
//! parametrisations in pieces that are loaded when somebody asks for them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::columns::columns;
use super::directory::{Directory, DirectoryError};
use super::metric::{CHARACTERS, pieces, places};
use super::parametrised::{Member, MemberMetric, MemberPoint};
use super::side_file;
use crate::show::chart::{self, HistoryPoint, RunNumber};
use crate::show::packed::{compact, packed};
use crate::show::quantity::count;

/// So many lines can be told apart: there are as many colours.
const AT_FIRST: usize = 7;

/// Of so many parametrisations all are drawn at first.
const FEW: usize = 10;

#[derive(Serialize)]
struct Content {
    /// The unit of what is drawn.
    unit: String,
    notes: Vec<String>,
    variants: Vec<String>,
    /// What the axis calls each session, and what tooltips call it.
    places: Value,
    sessions: Value,
    /// The lines where releases begin, as a series of the chart.
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Value>,
    name: Value,
    slug: Value,
    /// What can be drawn: what it is called, and of which members; the first at first.
    choices: Vec<(String, Vec<usize>)>,
    /// What the latest runs say, in columns.
    rows: BTreeMap<String, Value>,
    /// The lines of the members of the choices.
    lines: Vec<MemberLines>,
    /// The side files with all lines, each with its first member; none where all are here.
    pieces: Vec<(String, usize)>,
}

/// A row of the table.
#[derive(Serialize)]
struct MemberRow<'a> {
    member: usize,
    variant: &'a str,
    named: bool,
    value: &'a str,
    interval: &'a str,
    change: &'a str,
    change_interval: &'a str,
    change_against: &'a str,
    size: &'a str,
}

/// What is drawn of a parametrisation.
#[derive(Debug, Clone, Serialize)]
struct MemberLines {
    member: usize,
    lines: Vec<Line>,
    /// Where runs of a variant failed: variant, place, number of failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<(usize, usize, usize)>,
}

/// Values of a variant, in columns. Summaries and means of samples are never joined.
#[derive(Debug, Clone, Default, Serialize)]
struct Line {
    variant: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    summaries: bool,
    place: Vec<usize>,
    value: Vec<Value>,
    /// Empty where there is no interval at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lower: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upper: Vec<Value>,
    instances: Value,
    /// The ends of the ids of the runs.
    run: Value,
    version: Value,
}

/// Writes the side files of a metric.
pub(super) fn write(
    directory: &Directory,
    file: &str,
    members: &[Member],
    metric: &str,
) -> Result<(), DirectoryError> {
    let of_metric: Vec<(usize, &MemberMetric)> = members
        .iter()
        .enumerate()
        .filter_map(|(at, member)| Some((at, member.metrics.iter().find(|it| it.name == metric)?)))
        .collect();
    let unit = most_common_unit(&of_metric);
    let drawn: Vec<(usize, &MemberMetric)> = of_metric
        .iter()
        .copied()
        .filter(|(_, it)| it.unit == unit)
        .collect();
    let axis = Axis::of(drawn.iter().map(|(_, it)| *it));
    let lines: Vec<MemberLines> = drawn.iter().map(|(at, it)| axis.lines(*at, it)).collect();
    let choices = choices(&drawn);
    let wanted: BTreeSet<usize> = choices.iter().flat_map(|(_, all)| all).copied().collect();
    let here: Vec<MemberLines> = lines
        .iter()
        .filter(|it| wanted.contains(&it.member))
        .cloned()
        .collect();
    let mut named_pieces = Vec::new();
    if here.len() < lines.len() {
        for (at, piece) in pieces(lines, CHARACTERS).iter().enumerate() {
            let name = format!("{file}.lines{at}");
            directory.write(&format!("data/{name}.js"), &side_file(&name, piece))?;
            named_pieces.push((name, piece.first().map_or(0, |it| it.member)));
        }
    }
    let text = |of: fn(&Member) -> &str| packed(&members.iter().map(of).collect::<Vec<_>>());
    let content = Content {
        unit: unit.to_owned(),
        notes: other_units(members, &of_metric, unit),
        variants: axis.variants.iter().map(|it| (*it).to_owned()).collect(),
        places: packed(&axis.places),
        sessions: packed(&axis.sessions),
        marks: axis.marks,
        name: text(|it| &it.name),
        slug: text(|it| &it.about.slug),
        choices,
        rows: rows(&of_metric),
        lines: here,
        pieces: named_pieces,
    };
    directory.write(&format!("data/{file}.js"), &side_file(file, &content))
}

/// Returns the unit that most count in, the first of them where several do.
fn most_common_unit<'a>(members: &[(usize, &'a MemberMetric)]) -> &'a str {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, it) in members {
        *numbers.entry(&it.unit).or_default() += 1;
    }
    let most = numbers.values().max().copied().unwrap_or_default();
    let mut units = members.iter().map(|(_, it)| it.unit.as_str());
    units
        .find(|unit| numbers.get(unit) == Some(&most))
        .unwrap_or_default()
}

fn other_units(
    members: &[Member],
    of_metric: &[(usize, &MemberMetric)],
    unit: &str,
) -> Vec<String> {
    const NAMED: usize = 3;
    let others: Vec<String> = of_metric
        .iter()
        .filter(|(_, it)| it.unit != unit)
        .filter_map(|(at, it)| Some((members.get(*at)?, it)))
        .map(|(member, it)| format!("{} ({})", member.name, unit_name(&it.unit)))
        .collect();
    if others.is_empty() {
        return Vec::new();
    }
    let more = match others.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more)),
    };
    let named: Vec<&str> = others.iter().take(NAMED).map(String::as_str).collect();
    vec![format!(
        "Not drawn, because they count in another unit than the others ({}): {}{more}.",
        unit_name(unit),
        named.join(", "),
    )]
}

fn unit_name(unit: &str) -> &str {
    if unit.is_empty() { "none stated" } else { unit }
}

/// The sessions of all parametrisations, in their order.
struct Axis<'a> {
    keys: BTreeMap<crate::model::Id, usize>,
    places: Vec<String>,
    sessions: Vec<String>,
    variants: Vec<&'a str>,
    marks: Option<Value>,
}

impl<'a> Axis<'a> {
    fn of(metrics: impl Iterator<Item = &'a MemberMetric>) -> Self {
        let mut points: Vec<&MemberPoint> = metrics.flat_map(|it| &it.points).collect();
        // Sessions stand in order of versions only where that is known of all.
        let by_version = points.iter().all(|it| it.version_date.is_some());
        let date = |it: &MemberPoint| it.version_date.filter(|_| by_version);
        points.sort_by_key(|it| (date(it), it.started, it.point.session));
        let mut keys = BTreeMap::new();
        let mut moments = Vec::new();
        let mut sessions = Vec::new();
        let mut place_of = Vec::new();
        let mut variants: Vec<&str> = Vec::new();
        for it in &points {
            let next = sessions.len();
            let place = *keys.entry(it.point.session).or_insert(next);
            if place == next {
                moments.push((date(it), it.started));
                let started = it.point.run.started.get(..16).unwrap_or_default();
                sessions.push(format!(
                    "{} {}",
                    started.replace('T', " "),
                    it.point.run.session
                ));
            }
            place_of.push(place);
            if !variants.contains(&it.point.variant.as_str()) {
                variants.push(&it.point.variant);
            }
        }
        let points: Vec<HistoryPoint> = points.iter().map(|it| it.point.clone()).collect();
        Self {
            keys,
            places: places(&moments),
            sessions,
            variants,
            marks: chart::mark_series(&points, &place_of),
        }
    }

    fn lines(&self, member: usize, metric: &MemberMetric) -> MemberLines {
        let mut made = MemberLines {
            member,
            lines: Vec::new(),
            failed: Vec::new(),
        };
        for (variant, name) in self.variants.iter().enumerate() {
            let points = || metric.points.iter().filter(|it| it.point.variant == *name);
            for summaries in [false, true] {
                let of_kind = points().filter_map(|it| {
                    let number = it.point.number.as_ref()?;
                    let is_summary = matches!(number, RunNumber::Summary(_));
                    (is_summary == summaries).then_some((it, number))
                });
                made.lines
                    .extend(self.line(of_kind.collect(), variant, summaries));
            }
            made.failed.extend(
                points()
                    .filter(|it| it.point.failures > 0)
                    .map(|it| (variant, self.place(it), it.point.failures)),
            );
        }
        made
    }

    fn place(&self, point: &MemberPoint) -> usize {
        self.keys
            .get(&point.point.session)
            .copied()
            .unwrap_or_default()
    }

    fn line(
        &self,
        points: Vec<(&MemberPoint, &RunNumber)>,
        variant: usize,
        summaries: bool,
    ) -> Option<Line> {
        if points.is_empty() {
            return None;
        }
        let column = |of: &dyn Fn(&RunNumber) -> f64| -> Vec<Value> {
            points.iter().map(|(_, it)| chart::number(of(it))).collect()
        };
        let bound = |of: fn(lapwing_stats::Interval) -> f64| {
            let bounds = column(&|it| it.interval().map_or(f64::NAN, of));
            if bounds.iter().all(Value::is_null) {
                Vec::new()
            } else {
                bounds
            }
        };
        let text = |of: fn(&MemberPoint) -> &str| {
            compact(points.iter().map(|(it, _)| Value::from(of(it))).collect())
        };
        Some(Line {
            variant,
            summaries,
            place: points.iter().map(|(it, _)| self.place(it)).collect(),
            value: column(&RunNumber::value),
            lower: bound(|it| it.lower),
            upper: bound(|it| it.upper),
            instances: compact(
                points
                    .iter()
                    .map(|(_, it)| Value::from(it.instances()))
                    .collect(),
            ),
            run: text(|it| &it.point.run.id),
            version: text(|it| &it.point.run.version),
        })
    }
}

/// Returns what can be drawn at once: all, where these are few, else those that changed most and the
/// largest.
fn choices(members: &[(usize, &MemberMetric)]) -> Vec<(String, Vec<usize>)> {
    if members.len() <= FEW {
        return vec![(
            "all".to_owned(),
            members.iter().map(|(at, _)| *at).collect(),
        )];
    }
    let most = |score: &dyn Fn(&MemberMetric) -> f64| {
        let mut scored: Vec<(f64, usize)> =
            members.iter().map(|(at, it)| (score(it), *at)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut first: Vec<usize> = scored.iter().take(AT_FIRST).map(|it| it.1).collect();
        first.sort_unstable();
        first
    };
    vec![
        (format!("the {AT_FIRST} that changed most"), most(&change)),
        (format!("the {AT_FIRST} largest"), most(&latest)),
    ]
}

/// Returns the values of each variant, oldest first.
fn by_variant(metric: &MemberMetric) -> BTreeMap<&str, Vec<f64>> {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for it in &metric.points {
        if let Some(number) = &it.point.number {
            values
                .entry(&it.point.variant)
                .or_default()
                .push(number.value());
        }
    }
    values
}

/// Returns how far the latest value is from the median of those before it, as the logarithm of the
/// ratio; the largest of all variants, 0 where nothing came before.
fn change(metric: &MemberMetric) -> f64 {
    by_variant(metric)
        .into_values()
        .filter_map(|values| {
            let (latest, before) = values.split_last()?;
            let ratio = latest / lapwing_stats::median(before)?;
            Some(ratio.ln().abs()).filter(|it| it.is_finite())
        })
        .fold(0.0, f64::max)
}

/// Returns the largest latest value of all variants.
fn latest(metric: &MemberMetric) -> f64 {
    by_variant(metric)
        .into_values()
        .filter_map(|values| values.last().copied())
        .fold(f64::NEG_INFINITY, f64::max)
}

fn rows(members: &[(usize, &MemberMetric)]) -> BTreeMap<String, Value> {
    let rows: Vec<MemberRow<'_>> = members
        .iter()
        .flat_map(|(at, it)| it.rows.iter().map(|row| (*at, row)))
        .map(|(member, row)| MemberRow {
            member,
            variant: &row.variant,
            named: row.named,
            value: &row.value_text,
            interval: if row.summary.is_empty() {
                &row.interval_text
            } else {
                &row.spread_text
            },
            change: &row.change_text,
            change_interval: &row.change_interval,
            change_against: &row.change_against,
            size: if row.summary.is_empty() {
                &row.size
            } else {
                &row.summary
            },
        })
        .collect();
    columns(&rows)
}
