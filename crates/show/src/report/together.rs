//! The side files of a test by one metric: what is drawn first and the table, and the lines of all
//! parametrisations in pieces that are loaded when somebody asks for them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::data_pack::DataPack;
use super::directory::DirectoryError;
use super::index_parts::columns::columns;
use super::parametrised::{MemberMetric, MemberPoint, TestMember};
use super::sections::metric::{CHARACTERS, pieces};
use crate::chart::place_names;
use crate::chart::{self, HistoryPoint, RunNumber};
use crate::packed::{compact, packed};
use lapwing_analyse::sample::{History, HistoryPosition, RunMoment};
use lapwing_model::Id;
use lapwing_model::text::grouped;

/// The number of lines that are drawn at first: there are as many colours.
const AT_FIRST: usize = 7;

/// All parametrisations are drawn at first if there are no more than this.
const FEW: usize = 10;

#[derive(Serialize)]
struct MemberContent {
    /// The unit of what is drawn.
    unit: String,
    notes: Vec<String>,
    variants: Vec<String>,
    /// The label of each place on the axis, and its session in tooltips.
    places: Value,
    sessions: Value,
    /// The order of the places, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    /// The marks in the chart of each variant.
    marks: Vec<Option<VariantMarks>>,
    name: Value,
    slug: Value,
    /// The choices of what to draw: titles and members; the first is drawn at first.
    choices: Vec<(String, Vec<usize>)>,
    /// The rows of the latest runs, in columns.
    rows: BTreeMap<String, Value>,
    /// The lines of the members of the choices.
    lines: Vec<MemberLines>,
    /// The side files with all lines, each with its first member; none where all are here.
    pieces: Vec<(String, usize)>,
}

/// Marks of releases and epochs: a sentence about them, and a series of the chart.
#[derive(Debug, Clone, Serialize)]
struct VariantMarks {
    text: String,
    series: Value,
}

/// A row of the table.
#[derive(Serialize)]
struct MemberRow<'a> {
    member: usize,
    variant: &'a str,
    named: bool,
    value: &'a str,
    interval: &'a str,
    /// The change, or why there is none.
    change: String,
    change_against: &'a str,
    size: &'a str,
    retired: bool,
}

/// The lines of a parametrisation.
#[derive(Debug, Clone, Serialize)]
struct MemberLines {
    member: usize,
    lines: Vec<MemberLine>,
    /// Failures: variant, place, number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<(usize, usize, usize)>,
}

/// Values of a variant, in columns. Summaries and means of samples are never joined, nor what
/// counts and what does not.
#[derive(Debug, Clone, Default, Serialize)]
struct MemberLine {
    variant: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    summaries: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    retired: bool,
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

/// Adds the data of a metric and returns the entry.
pub(super) fn write(
    pack: &mut DataPack,
    file: &str,
    members: &[TestMember],
    metric: &str,
) -> Result<String, DirectoryError> {
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
    let axis = MemberAxis::of(&drawn);
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
            named_pieces.push((
                pack.add(&name, piece)?,
                piece.first().map_or(0, |it| it.member),
            ));
        }
    }
    let text = |of: fn(&TestMember) -> &str| packed(&members.iter().map(of).collect::<Vec<_>>());
    let content = MemberContent {
        unit: unit.to_owned(),
        notes: other_units(members, &of_metric, unit),
        variants: axis.variants.iter().map(|it| (*it).to_owned()).collect(),
        places: packed(&axis.places),
        sessions: packed(&axis.sessions),
        order: axis.order,
        marks: axis.marks,
        name: text(|it| &it.name),
        slug: text(|it| &it.benchmark.slug),
        choices,
        rows: rows(&of_metric),
        lines: here,
        pieces: named_pieces,
    };
    pack.add(file, &content)
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
    members: &[TestMember],
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
        more => format!(" and {} more", grouped(more)),
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

/// The kind of values in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineKind {
    summaries: bool,
    retired: bool,
}

const KINDS: [LineKind; 4] = [
    LineKind {
        summaries: false,
        retired: false,
    },
    LineKind {
        summaries: true,
        retired: false,
    },
    LineKind {
        summaries: false,
        retired: true,
    },
    LineKind {
        summaries: true,
        retired: true,
    },
];

impl LineKind {
    fn of(point: &MemberPoint, number: &RunNumber) -> Self {
        Self {
            summaries: matches!(number, RunNumber::Summary(_)),
            retired: point.point.retired,
        }
    }
}

/// The places of all parametrisations, in their order.
struct MemberAxis<'a> {
    /// The number of the place of each run.
    keys: BTreeMap<Id, usize>,
    places: Vec<String>,
    sessions: Vec<String>,
    variants: Vec<&'a str>,
    order: Option<String>,
    marks: Vec<Option<VariantMarks>>,
}

impl<'a> MemberAxis<'a> {
    fn of(members: &[(usize, &'a MemberMetric)]) -> Self {
        let all = || {
            let of_member = |it: &'a MemberMetric| it.points.iter();
            members
                .iter()
                .flat_map(move |(at, it)| of_member(it).map(|it| (*at, it)))
        };
        // Which versions were measured before a run is known only of all together.
        let known = places_of(all().map(|(_, it)| &it.moment));
        let place = |it: &MemberPoint| {
            let place = known.get(&it.moment.run);
            place.copied().unwrap_or(it.point.place)
        };
        let mut points: Vec<(HistoryPosition, usize, &MemberPoint)> =
            all().map(|(at, it)| (place(it), at, it)).collect();
        points.sort_by_key(|(place, at, it)| (*place, *at, it.moment.run));
        let mut made = Self {
            keys: BTreeMap::new(),
            places: Vec::new(),
            sessions: Vec::new(),
            variants: Vec::new(),
            order: None,
            marks: Vec::new(),
        };
        let mut distinct: Vec<HistoryPosition> = Vec::new();
        for (place, _, it) in &points {
            if distinct.last() != Some(place) {
                distinct.push(*place);
                made.sessions.push(session_text(&it.point));
            }
            made.keys.insert(it.moment.run, distinct.len() - 1);
            if !made.variants.contains(&it.point.variant.as_str()) {
                made.variants.push(&it.point.variant);
            }
        }
        made.places = place_names(&distinct);
        let placed: Vec<HistoryPoint> = points
            .iter()
            .map(|(place, at, it)| HistoryPoint {
                place: *place,
                // What is another parametrisation is no change of the benchmark.
                variant: at.to_string(),
                ..it.point.clone()
            })
            .collect();
        made.order = chart::history_order(&placed);
        made.marks = made
            .variants
            .iter()
            .map(|variant| {
                let (of_variant, places): (Vec<HistoryPoint>, Vec<usize>) = placed
                    .iter()
                    .zip(&points)
                    .filter(|(_, (_, _, it))| it.point.variant == *variant)
                    .map(|(placed, (_, _, it))| (placed.clone(), made.place(it)))
                    .unzip();
                Some(VariantMarks {
                    text: chart::mark_sentence(&of_variant, &places)?,
                    series: chart::mark_series(&of_variant, &places)?,
                })
            })
            .collect();
        made
    }

    fn lines(&self, member: usize, metric: &MemberMetric) -> MemberLines {
        let mut made = MemberLines {
            member,
            lines: Vec::new(),
            failed: Vec::new(),
        };
        for (variant, name) in self.variants.iter().enumerate() {
            let points = || metric.points.iter().filter(|it| it.point.variant == *name);
            for kind in KINDS {
                let of_kind = points().filter_map(|member_point| {
                    let number = member_point.point.number.as_ref()?;
                    (kind == LineKind::of(member_point, number)).then_some((member_point, number))
                });
                made.lines
                    .extend(self.line(of_kind.collect(), variant, kind));
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
            .get(&point.moment.run)
            .copied()
            .unwrap_or_default()
    }

    fn line(
        &self,
        points: Vec<(&MemberPoint, &RunNumber)>,
        variant: usize,
        kind: LineKind,
    ) -> Option<MemberLine> {
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
        Some(MemberLine {
            variant,
            summaries: kind.summaries,
            retired: kind.retired,
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

/// Returns the place of each run among all.
fn places_of<'a>(moments: impl Iterator<Item = &'a RunMoment>) -> BTreeMap<Id, HistoryPosition> {
    let mut of_place: BTreeMap<_, Vec<&RunMoment>> = BTreeMap::new();
    for it in moments {
        let key = (it.session, it.version.as_deref(), it.version_date);
        of_place.entry(key).or_default().push(it);
    }
    // What one session measured of one version stands together, however much it is: the first run
    // is enough to tell where.
    let first = |all: &Vec<&'a RunMoment>| all.iter().copied().min_by_key(|it| it.run);
    let order = History::among(of_place.values().filter_map(first).cloned());
    let mut places = BTreeMap::new();
    for all in of_place.values() {
        if let Some(place) = first(all).and_then(|it| order.position(&it.run)) {
            places.extend(all.iter().map(|it| (it.run, place)));
        }
    }
    places
}

/// Returns what tooltips call the session of a point: `2026-11-20 10:00 brisk-heron`.
fn session_text(point: &HistoryPoint) -> String {
    let started = point.run.started.get(..16).unwrap_or_default();
    format!("{} {}", started.replace('T', " "), point.run.session)
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

/// Returns the values of each variant that count, oldest first.
fn by_variant(metric: &MemberMetric) -> BTreeMap<&str, Vec<f64>> {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for it in metric.points.iter().filter(|it| !it.point.retired) {
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
            change: row.change_words().trim().to_owned(),
            change_against: &row.change_against,
            size: if row.summary.is_empty() {
                &row.size
            } else {
                &row.summary
            },
            retired: row.retired,
        })
        .collect();
    columns(&rows)
}
