//! `lapwing study compare`: which effects carry over to another environment or workload.

use clap::Args;
use lapwing_analyse::sample::{BenchmarkData, SampleFilter, SideSpec};
use lapwing_model::text::{counted, first_names, joined_with_and};
use lapwing_record::InstanceData;
use lapwing_show::study::{StudyMetricText, chart};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::Confidence;
use lapwing_study::{
    CarriedEffect, CarriedPrediction, CarriedVerdict, StudyCarryOver, StudyData, StudyScale,
    verdict_counts,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{EndFields, StudyAnswer, p_text};
use super::options::{StudyOptions, with_hint};
use crate::comparing::{FoundSides, parse_side};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Compare the same study in two environments or workloads: which effects carry over
///
/// A side is `benchmark:NAME` (another workload), or one of `lapwing compare`: `session:NAME`,
/// `version:2.1`, `commit:ab12`, `file:other.db` (another store or file), or conditions such as
/// `since 2w`. By default on logarithms, so that effects are percentages.
#[derive(Debug, Args)]
pub struct StudyCompare {
    /// The first side
    #[arg(value_name = "SIDE", value_parser = parse_study_side)]
    first: StudySide,
    /// The second side
    #[arg(value_name = "SIDE", value_parser = parse_study_side)]
    second: StudySide,
    /// List all effects, also the undetermined ones of pairs
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    study: StudyOptions,
}

/// A side of the comparison of two studies.
#[derive(Debug, Clone)]
enum StudySide {
    Benchmark(String),
    Runs(SideSpec),
}

fn parse_study_side(text: &str) -> Result<StudySide, String> {
    match text.strip_prefix("benchmark:") {
        Some(name) if !name.is_empty() => Ok(StudySide::Benchmark(name.to_owned())),
        Some(_) | None => parse_side(text).map(StudySide::Runs),
    }
}

#[derive(Default, Serialize)]
struct CarriedRow {
    effect: String,
    is_pair: bool,
    first: f64,
    first_lower: Option<f64>,
    first_upper: Option<f64>,
    second: f64,
    second_lower: Option<f64>,
    second_upper: Option<f64>,
    difference: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
    verdict: &'static str,
}

/// The names and data of both sides, with notes on how they were chosen.
type ComparedStudies = ([String; 2], [StudyData; 2], Vec<String>);

impl StudyCompare {
    /// Shows the effects of both sides.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.study.plot.check()?;
        let (names, data, mut notes) = self.read(context)?;
        let scale = self.study.scale.unwrap_or(StudyScale::Log);
        let [first, second] = &data;
        if scale != StudyScale::Log && first.metric.unit != second.metric.unit {
            return Err(CliError::input(format!(
                "the sides have different units, `{}` and `{}`",
                first.metric.unit, second.metric.unit
            ))
            .hint("--scale log compares percentages"));
        }
        if first.metric.better != second.metric.better {
            return Err(CliError::input(format!(
                "more of `{}` is better on one side and worse, or of unknown direction, on the other",
                first.metric.name
            ))
            .hint("compare a metric of the same direction on both sides (--metric)"));
        }
        let found = StudyCarryOver::new([first, second], scale, Confidence::P95);
        let found = found.map_err(CliError::not_enough)?;
        if found.effects.is_empty() {
            return Err(
                CliError::not_enough("no effect can be estimated on both sides")
                    .hint("both have to vary the same factors from the same base"),
            );
        }
        let sides = [names[0].as_str(), names[1].as_str()];
        notes.extend(notes_of(&found, &data, sides, scale));
        let shown: Vec<&CarriedEffect> = (found.effects.iter())
            .filter(|own| {
                let is_open = matches!(
                    own.verdict,
                    CarriedVerdict::Undetermined | CarriedVerdict::Negligible
                );
                self.all || !own.is_pair || !is_open
            })
            .collect();
        if shown.len() < found.effects.len() {
            let rest = counted(found.effects.len() - shown.len(), "pair");
            notes.push(format!(
                "{rest} without a clear effect not shown; --all lists all"
            ));
        }
        for side in [0, 1] {
            let own = data[side].notes.iter();
            notes.extend(own.map(|note| format!("{}: {note}", names[side])));
        }
        // They stand in the notes, each with its side.
        let about = StudyData {
            notes: Vec::new(),
            ..first.clone()
        };
        let answer = StudyAnswer {
            headline: headline(&found, sides),
            table: table(first, scale, sides, &shown),
            notes: notes.clone(),
            rows: found.effects.iter().map(row).collect(),
            key: "effects",
            more: json!({
                "sides": sides,
                "sizes": data.each_ref().map(StudyData::size_text),
                "first_predicts_second": found.predictions[0].map(prediction_json),
                "second_predicts_first": found.predictions[1].map(prediction_json),
                "only_first": found.only[0],
                "only_second": found.only[1],
                "notes": notes,
            }),
            charts: vec![("effects", chart::carry_over(first, scale, sides, &found))],
        };
        answer.write(&about, scale, &self.study, context)
    }

    /// Returns the names and data of both sides, with notes on how they were chosen.
    fn read(&self, context: &Context) -> Result<ComparedStudies, CliError> {
        match (&self.first, &self.second) {
            (StudySide::Benchmark(one), StudySide::Benchmark(other)) => {
                let read = |name: &String| {
                    let data = self.study.data.of_benchmark(name, context)?;
                    self.study.restricted(&data)
                };
                let (one, other) = (read(one)?, read(other)?);
                let names = [one.benchmark.clone(), other.benchmark.clone()];
                if names[0] == names[1] && one.suite == other.suite {
                    return Err(CliError::input(format!(
                        "both sides are benchmark `{}`",
                        names[0]
                    )));
                }
                Ok((names, [one, other], Vec::new()))
            }
            (StudySide::Runs(one), StudySide::Runs(other)) => {
                self.of_runs(&[one.clone(), other.clone()], context)
            }
            (_, _) => Err(CliError::input(
                "one side is a benchmark and the other one is not",
            )
            .hint("name two benchmarks, or two sides such as sessions, of the benchmark of --benchmark")),
        }
    }

    fn of_runs(&self, specs: &[SideSpec], context: &Context) -> Result<ComparedStudies, CliError> {
        let options = &self.study.data;
        let judging = options.cleaning.judging()?;
        let filter: SampleFilter = options.filters.filter()?;
        let found = FoundSides::find(specs, &filter, &judging, context)?;
        // Levels differ between the settings of a study, not between its sides.
        let levels = "share no level";
        let notes = found.notes(&filter, &judging.rules)?.into_iter();
        let notes = notes.filter(|note| !note.contains(levels)).collect();
        let mut gathered: [Vec<BenchmarkData>; 2] = [Vec::new(), Vec::new()];
        found.sides.each_benchmark(&filter, |data, places| {
            for (side, all) in gathered.iter_mut().enumerate() {
                let is_own = |own: &&InstanceData| places(own).iter().any(|it| it.side == side);
                let instances: Vec<InstanceData> =
                    data.instances.iter().filter(is_own).cloned().collect();
                let has_factors = instances.iter().any(|own| !own.run.factors.is_empty());
                if has_factors {
                    all.push(BenchmarkData {
                        instances,
                        ..data.clone()
                    });
                }
            }
        })?;
        let names: [String; 2] = [0, 1].map(|side| found.sides.names()[side].clone());
        let metric = match filter.metrics.as_slice() {
            [] => None,
            [one] => Some(one.as_str()),
            [one, other, ..] => {
                return Err(CliError::input(format!(
                    "a study is about one metric, not `{one}` and `{other}`"
                )));
            }
        };
        let study = |side: usize| {
            let all = &gathered[side];
            match all.as_slice() {
                [own] => {
                    let data = StudyData::of(own, metric, &judging.rules).map_err(with_hint)?;
                    self.study.restricted(&data)
                }
                [] => Err(CliError::not_enough(format!(
                    "`{}` has no benchmark with factors",
                    names[side]
                ))),
                several => {
                    let ids = several.iter().map(|own| format!("`{}`", own.benchmark.id));
                    Err(CliError::input(format!(
                        "a study is about one benchmark, and `{}` has several: {}",
                        names[side],
                        first_names(ids, 10)
                    ))
                    .hint("name one with --benchmark"))
                }
            }
        };
        let data = [study(0)?, study(1)?];
        Ok((names, data, notes))
    }
}

fn headline(found: &StudyCarryOver, sides: [&str; 2]) -> String {
    let part = |is_pair: bool, what: &str| {
        let counts = verdict_counts(&found.effects, is_pair);
        let all: usize = counts.iter().map(|(_, count)| count).sum();
        let texts: Vec<String> = counts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", words(*verdict, *count)))
            .collect();
        format!("of {} {}", counted(all, what), joined_with_and(&texts))
    };
    let pairs = if found.effects.iter().any(|own| own.is_pair) {
        format!("; {}", part(true, "interaction"))
    } else {
        String::new()
    };
    format!(
        "{} → {}: {}{pairs}",
        sides[0],
        sides[1],
        part(false, "treatment")
    )
}

fn words(verdict: CarriedVerdict, count: usize) -> &'static str {
    let is_one = count == 1;
    match verdict {
        CarriedVerdict::CarriesOver if is_one => "carries over",
        CarriedVerdict::CarriesOver => "carry over",
        CarriedVerdict::Differs if is_one => "differs",
        CarriedVerdict::Differs => "differ",
        CarriedVerdict::Reverses if is_one => "reverses",
        CarriedVerdict::Reverses => "reverse",
        CarriedVerdict::Negligible if is_one => "is negligible on both sides",
        CarriedVerdict::Negligible => "are negligible on both sides",
        CarriedVerdict::Undetermined if is_one => "is undetermined",
        CarriedVerdict::Undetermined => "are undetermined",
    }
}

fn table(data: &StudyData, scale: StudyScale, sides: [&str; 2], shown: &[&CarriedEffect]) -> Table {
    let mut table = Table::new(&[
        ("effect", Left),
        (sides[0], Right),
        (sides[1], Right),
        ("difference", Right),
        ("p adjusted", Right),
        ("verdict", Left),
    ])
    .dispensable(&["p adjusted"]);
    for own in shown {
        let [one, other] = own.sides.map(|side| {
            data.metric
                .change_with_interval(scale, side.effect, side.interval)
        });
        let difference = own.difference.map_or("–".to_owned(), |it| {
            data.metric
                .change_with_interval(scale, it.estimate, Some(it.interval))
        });
        table.row(vec![
            own.name.clone(),
            one,
            other,
            difference,
            p_text(own.adjusted_p_value),
            own.verdict.name().to_owned(),
        ]);
    }
    table
}

fn notes_of(
    found: &StudyCarryOver,
    data: &[StudyData; 2],
    sides: [&str; 2],
    scale: StudyScale,
) -> Vec<String> {
    let mut notes = Vec::new();
    for (from, own) in found.predictions.iter().enumerate() {
        let [one, other] = [sides[from], sides[1 - from]];
        notes.push(match own {
            Some(own) => prediction_text(own, &data[1 - from], [one, other], scale),
            None => format!("the model of {one} predicts fewer than three settings of {other}"),
        });
    }
    for side in [0, 1] {
        if !found.only[side].is_empty() {
            notes.push(format!(
                "only {} tells the effects of {}",
                sides[side],
                first_names(&found.only[side], 5)
            ));
        }
    }
    if !found.other_bases.is_empty() {
        notes.push(format!(
            "not compared, because their base levels differ: {}",
            first_names(&found.other_bases, 5)
        ));
    }
    notes.push("effects are means over all combinations of the others; `carries over` is the same sign on both sides without evidence of a difference, `negligible` within ±5 %".to_owned());
    notes
}

fn prediction_text(
    own: &CarriedPrediction,
    to: &StudyData,
    [one, other]: [&str; 2],
    scale: StudyScale,
) -> String {
    let rank = own
        .rank_correlation
        .map_or(String::new(), |it| format!("rank correlation {it:.2}, "));
    let share = own.r_squared.map_or(String::new(), |it| {
        format!("R² {it:.2} apart from a constant; ")
    });
    let regret = to.metric.size_text(scale, own.regret);
    format!(
        "the model of {one} predicts {} of {other}: {rank}{share}the one that it recommends is {regret} worse than the best",
        counted(own.settings, "setting")
    )
}

fn prediction_json(own: CarriedPrediction) -> Value {
    json!({
        "settings": own.settings,
        "rank_correlation": own.rank_correlation,
        "r_squared": own.r_squared,
        "regret": own.regret,
    })
}

fn row(own: &CarriedEffect) -> CarriedRow {
    let [one, other] = own.sides;
    CarriedRow {
        effect: own.name.clone(),
        is_pair: own.is_pair,
        first: one.effect,
        first_lower: one.interval.map(|it| it.lower),
        first_upper: one.interval.map(|it| it.upper),
        second: other.effect,
        second_lower: other.interval.map(|it| it.lower),
        second_upper: other.interval.map(|it| it.upper),
        difference: own.difference.map(|it| it.estimate),
        ends: own.difference.map(|it| it.interval).into(),
        p_value: own.difference.map(|it| it.p_value),
        adjusted_p_value: own.adjusted_p_value,
        verdict: own.verdict.name(),
    }
}
