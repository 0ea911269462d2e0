//! Parametrisations of a test that differ in one number: its levels.

use std::collections::BTreeSet;

use super::parametrised::{MemberMetric, TestMember};
use crate::VariantColours;
use crate::chart::{Chart, SweepPoint, sweep};

/// The parameter of a test, and its level in each parametrisation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TestLevels {
    pub(super) parameter: String,
    pub(super) levels: Vec<f64>,
}

/// The fewest levels of a curve.
const FEWEST: usize = 3;

impl TestLevels {
    /// Returns the levels of parametrisations that differ in one number alone, by what stands in their brackets.
    pub(super) fn of(names: &[&str]) -> Option<Self> {
        let whole: Option<Vec<Level>> = names.iter().map(|it| Level::of(it)).collect();
        if let Some(found) = whole.and_then(Self::of_levels) {
            return Some(found);
        }
        let parts: Vec<Vec<&str>> = names
            .iter()
            .map(|it| it.split([',', '-']).collect())
            .collect();
        let number = parts.first()?.len();
        if parts.iter().any(|it| it.len() != number) {
            return None;
        }
        let differs = |at: &usize| parts.iter().any(|it| it[*at] != parts[0][*at]);
        let differing: Vec<usize> = (0..number).filter(differs).collect();
        let [at] = differing[..] else {
            return None;
        };
        let levels: Option<Vec<Level>> = parts.iter().map(|it| Level::of(it[at])).collect();
        levels.and_then(Self::of_levels)
    }

    fn of_levels(all: Vec<Level>) -> Option<Self> {
        let first = all.first()?;
        let is_one = all.iter().all(|it| it.parameter == first.parameter);
        let distinct: BTreeSet<u64> = all.iter().map(|it| it.value.to_bits()).collect();
        (is_one && distinct.len() == all.len() && all.len() >= FEWEST).then(|| Self {
            parameter: first.parameter.map_or("parameter", |it| it).to_owned(),
            levels: all.iter().map(|it| it.value).collect(),
        })
    }

    /// Returns the curve of a metric.
    pub(super) fn chart(
        &self,
        members: &[TestMember],
        metric: &str,
        colours: &VariantColours,
    ) -> Option<Chart> {
        let mut unit = None;
        let mut points: Vec<SweepPoint> = Vec::new();
        for (member, level) in members.iter().zip(&self.levels) {
            let Some(of_metric) = member.metrics.iter().find(|it| it.name == metric) else {
                continue;
            };
            // What counts in another unit belongs on no common axis.
            if *unit.get_or_insert(&of_metric.unit) != &of_metric.unit {
                return None;
            }
            points.extend(latest(of_metric, member, *level));
        }
        let levels: BTreeSet<u64> = points.iter().map(|it| it.level.to_bits()).collect();
        let has_curve = levels.len() >= FEWEST;
        has_curve.then(|| {
            sweep(
                metric,
                unit.map_or("", |it| it),
                &self.parameter,
                &points,
                colours,
            )
        })
    }

    /// Returns the smallest and the largest level with the number of their members.
    pub(super) fn ends(&self) -> Option<[(f64, usize); 2]> {
        let all = || self.levels.iter().copied().enumerate();
        let smallest = all().min_by(|one, other| one.1.total_cmp(&other.1))?;
        let largest = all().max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some([smallest, largest].map(|(at, level)| (level, at)))
    }
}

/// Returns the latest value of each variant of a parametrisation.
fn latest(metric: &MemberMetric, member: &TestMember, level: f64) -> Vec<SweepPoint> {
    let mut found: Vec<SweepPoint> = Vec::new();
    for it in metric.points.iter().rev().filter(|it| !it.point.retired) {
        let variant = &it.point.variant;
        if found.iter().any(|known| known.variant == *variant) {
            continue;
        }
        if let Some(number) = &it.point.number {
            found.push(SweepPoint {
                level,
                variant: variant.clone(),
                number: number.clone(),
                link: format!(
                    "../benchmark/{}.html{}",
                    member.benchmark.slug, it.point.link
                ),
            });
        }
    }
    found.reverse();
    found
}

/// A number with the name before it: `level=6`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level<'a> {
    parameter: Option<&'a str>,
    value: f64,
}

impl<'a> Level<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (parameter, number) = match text.split_once('=') {
            Some((name, number)) => (Some(name.trim()), number),
            None => (None, text),
        };
        let value: f64 = number.trim().parse().ok()?;
        value.is_finite().then_some(Self { parameter, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parametrisations_that_differ_in_one_number_have_levels() {
        let of = |names: &[&str]| TestLevels::of(names).map(|it| (it.parameter, it.levels));
        let level = |text: &str, levels: &[f64]| Some((text.to_owned(), levels.to_vec()));
        assert_eq!(
            of(&["level=1", "level=6", "level=9"]),
            level("level", &[1.0, 6.0, 9.0])
        );
        assert_eq!(
            of(&["10", "100", "1e-3"]),
            level("parameter", &[10.0, 100.0, 1e-3])
        );
        assert_eq!(
            of(&["10-a", "20-a", "40-a"]),
            level("parameter", &[10.0, 20.0, 40.0])
        );
        assert_eq!(
            of(&["n=1, k=2", "n=2, k=2", "n=4, k=2"]),
            level("n", &[1.0, 2.0, 4.0])
        );
    }

    #[test]
    fn parametrisations_that_differ_otherwise_have_none() {
        for names in [
            &["level=1", "level=6"][..],
            &["a", "b", "c"],
            &["1-a", "2-b", "3-c"],
            &["level=1", "size=6", "level=9"],
            &["1", "1", "2"],
            &["1", "2", "2-3"],
            &["1", "2", "inf"],
        ] {
            assert_eq!(TestLevels::of(names), None, "{names:?}");
        }
    }
}
