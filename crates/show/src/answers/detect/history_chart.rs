//! The history of a change, with the levels before and after it.

use lapwing_analyse::detect::{Detection, Direction, FAILURES, Finding, Histories};
use lapwing_analyse::judge::{Estimate, SampleSize};
use lapwing_analyse::sample::{HistoryPosition, RunOrder};

use crate::FindingText;
use crate::chart::{
    Chart, HistoryPoint, LevelMark, RunName, RunNumber, VariantColours, history, place_names,
};
use crate::report::FindingSentence;
use crate::words::meaning::BenchmarkMeaning;

/// Returns the mark of a finding in the chart of its history.
pub fn finding_mark(histories: &Histories, detection: &Detection, at: usize) -> LevelMark {
    let findings = &detection.findings;
    let finding = &findings[at];
    let series = &histories.series[finding.series];
    // The findings are in order of series and place.
    let of_series = |at: Option<usize>| {
        let neighbour = at.and_then(|at| findings.get(at));
        neighbour.filter(|it| it.series == finding.series)
    };
    let start = of_series(at.checked_sub(1)).map(|before| before.first_after);
    let end = of_series(at.checked_add(1)).map(|after| after.last_before);
    let first = series.points.first().map(|point| point.moment);
    let last = series.points.last().map(|point| point.moment);
    let position = |moment: usize| histories.moments[moment].position;
    let has_level = finding.subject.metric != FAILURES;
    let levels = [finding.size.before, finding.size.after];
    let [before, after] = finding.level_texts();
    LevelMark {
        variant: finding.subject.setting.variant_name().unwrap_or_default(),
        span: [
            position(start.or(first).unwrap_or(finding.last_before)),
            position(end.or(last).unwrap_or(finding.first_after)),
        ],
        change: [finding.last_before, finding.first_after].map(position),
        range: [*finding.range.start(), *finding.range.end()].map(position),
        levels: levels.map(|level| if has_level { level } else { f64::NAN }),
        tone: match finding.direction {
            Direction::Regression | Direction::Improvement if !finding.is_open() => "muted",
            Direction::Regression => "worse",
            Direction::Improvement => "better",
            Direction::Neither => "muted",
        },
        label: finding.brief_text(),
        text: format!("{}; {before} → {after}", finding.sentence()),
    }
}

/// Returns the chart of the history that a finding is in, with all of its changes.
pub fn finding_history(histories: &Histories, detection: &Detection, finding: &Finding) -> Chart {
    let series = &histories.series[finding.series];
    let subject = &series.subject;
    let variant = subject.setting.variant_name().unwrap_or_default();
    let mut colours = VariantColours::default();
    colours.number(&variant);
    let moments = || series.points.iter().map(|it| &histories.moments[it.moment]);
    let places: Vec<HistoryPosition> = moments().map(|it| it.position).collect();
    let points = series
        .points
        .iter()
        .zip(place_names(&places))
        .map(|(point, time)| {
            let moment = &histories.moments[point.moment];
            HistoryPoint {
                place: moment.position,
                place_name: match moment.position.order {
                    RunOrder::Commits | RunOrder::VersionDates | RunOrder::StartTimes => time,
                    _ => moment.label(),
                },
                retired: false,
                undated: moment.position.version_date.is_none(),
                run: RunName {
                    version: moment.version().label().unwrap_or_default(),
                    session: moment.session.label(),
                    ..RunName::default()
                },
                variant: variant.clone(),
                number: Some(RunNumber::Estimate(Estimate {
                    value: point.value,
                    interval: None,
                    size: SampleSize {
                        instances: point.instances,
                        ..SampleSize::default()
                    },
                    cv: None,
                    between: None,
                    within: None,
                })),
                left_out: String::new(),
                failures: 0,
                release: None,
                meaning: BenchmarkMeaning::default(),
                link: String::new(),
            }
        });
    let findings = detection.findings.iter().enumerate();
    let marks = findings
        .filter(|(_, it)| it.series == finding.series)
        .map(|(at, _)| finding_mark(histories, detection, at));
    let mut chart = history(
        &subject.metric,
        &series.metric.unit,
        &points.collect::<Vec<_>>(),
        &marks.collect::<Vec<_>>(),
        &colours,
    );
    chart.title = format!("{}: {}", subject.benchmark, chart.title);
    chart
}
