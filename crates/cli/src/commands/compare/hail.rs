//! A comparison by the method of Hail's `analyze_benchmarks`: control over test.

use std::io::Write;

use lapwing_analyse::judge::{
    CompareOptions, ComparisonAsHail, HAIL_REPLICATES, SideSamples, Verdict,
};
use lapwing_model::Better;
use lapwing_model::text::{counted, first_names};
use lapwing_show::answers::audit;
use lapwing_show::writing::Align::{Left, Right, Whole};
use lapwing_show::writing::{AnswerFormat, Table, markdown_text};
use lapwing_show::{quantity, ratio_text};
use serde::Serialize;
use serde_json::json;

use super::answer::SideFields;
use super::gate::FailOn;
use super::{CompareCommand, GatheredSides};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

impl CompareCommand {
    pub(super) fn as_hail(
        &self,
        gathered: GatheredSides,
        options: &CompareOptions,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        if self.fail_on.contains(&FailOn::Failures) {
            let what = "`--compat hail` does not count failures of a benchmark";
            return Err(CliError::input(what).hint("use `--fail-on regression`"));
        }
        let GatheredSides {
            names,
            samples,
            mut notes,
        } = gathered;
        let lacking = samples.lacking(&names);
        notes.extend(note_of(&lacking));
        let compared =
            samples.compare_as_hail(&names, HAIL_REPLICATES, options.confidence, options.seed);
        let shown = self.show_as_hail(&compared, &names, &samples, &notes, options, context);
        CliError::unless_reader_left(shown)?;
        let regressed = compared.iter().any(|it| verdict(it) == Verdict::Regression);
        let lacks = lacking.iter().any(|(_, _, is_candidate)| *is_candidate);
        let is_gate = self.fail_on.contains(&FailOn::Regression);
        Ok(if is_gate && (regressed || lacks) {
            ExitStatus::Judged
        } else if compared.is_empty() {
            ExitStatus::NotEnough
        } else {
            ExitStatus::Fine
        })
    }

    fn show_as_hail(
        &self,
        compared: &[ComparisonAsHail],
        names: &[String],
        samples: &SideSamples,
        notes: &[String],
        options: &CompareOptions,
        context: &Context,
    ) -> Result<(), CliError> {
        let mut out = context.terminal.out_as(self.answer.format);
        match self.answer.format {
            AnswerFormat::Json => {
                let answer = json!({
                    "baseline": names.first(),
                    "candidates": names.get(1..),
                    "compat": "hail",
                    "direction": "baseline / candidate",
                    "confidence": options.confidence.level(),
                    "comparisons": rows(compared),
                    "notes": notes,
                    "audit": audit::json(samples.audit(), self.cleaning.detail()),
                });
                write_json(&answer, &mut out)?;
            }
            AnswerFormat::Csv => write_csv(&rows(compared), &mut out)?,
            AnswerFormat::Text => {
                writeln!(out, "{}\n", headline(compared))?;
                table(compared).text_within(context.terminal.width(), &mut out)?;
                writeln!(out, "\n{DIRECTION}")?;
                for note in notes {
                    writeln!(out, "note: {note}")?;
                }
            }
            AnswerFormat::Markdown => {
                writeln!(out, "**{}**\n", markdown_text(&headline(compared)))?;
                table(compared).markdown(&mut out)?;
                writeln!(out, "\n{DIRECTION}")?;
                for note in notes {
                    writeln!(out, "- note: {}", markdown_text(note))?;
                }
            }
        }
        let audit = samples.audit();
        crate::options::audit_below(
            audit,
            self.cleaning.detail(),
            self.answer.format,
            context,
            &mut out,
        )
    }
}

const DIRECTION: &str = "the ratio is baseline / candidate, as in Hail: below 1 the candidate has the larger mean; changed means that the intervals of the two means do not overlap";

/// Returns a note on benchmarks without a row.
fn note_of(lacking: &[(String, String, bool)]) -> Option<String> {
    /// More names than this are a number.
    const SHOWN: usize = 5;
    let mut names: Vec<&str> = lacking.iter().map(|(name, _, _)| name.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| {
        let names = first_names(names, SHOWN);
        format!("not compared, because a side has no usable values: {names} (`--audit` shows why)")
    })
}

fn headline(compared: &[ComparisonAsHail]) -> String {
    let changed = compared.iter().filter(|it| it.result.changed).count();
    format!(
        "{changed} of {} changed, according to Hail's `analyze_benchmarks`",
        counted(compared.len(), "comparison")
    )
}

/// Returns the nearest verdict of Lapwing; Hail only reports changes.
fn verdict(it: &ComparisonAsHail) -> Verdict {
    let is_more = it.means[1] > it.means[0];
    match (it.result.changed, it.metric.better) {
        (false, _) | (true, None) => Verdict::Inconclusive,
        (true, Some(Better::Lower)) if is_more => Verdict::Regression,
        (true, Some(Better::Higher)) if !is_more => Verdict::Regression,
        (true, Some(Better::Lower | Better::Higher)) => Verdict::Improvement,
    }
}

#[derive(Default, Serialize)]
struct HailRow<'a> {
    #[serde(flatten)]
    sides: SideFields<'a>,
    ratio: f64,
    lower: f64,
    upper: f64,
    radius: f64,
    changed: bool,
    verdict: &'static str,
    /// Hail has no p-values.
    p_value: (),
    p_adjusted: (),
}

fn rows(compared: &[ComparisonAsHail]) -> Vec<HailRow<'_>> {
    let rows = compared.iter().map(|comparison| {
        let (means, instances) = (comparison.means, comparison.instances);
        HailRow {
            sides: SideFields {
                baseline_value: Some(means[0]),
                candidate_value: Some(means[1]),
                baseline_instances: instances[0],
                candidate_instances: instances[1],
                ..SideFields::of(
                    &comparison.subject,
                    &comparison.metric,
                    [&comparison.baseline, &comparison.candidate],
                )
            },
            ratio: means[0] / means[1],
            lower: comparison.result.relative_change.lower,
            upper: comparison.result.relative_change.upper,
            radius: comparison.result.radius,
            changed: comparison.result.changed,
            verdict: verdict(comparison).name(),
            ..HailRow::default()
        }
    });
    rows.collect()
}

fn table(compared: &[ComparisonAsHail]) -> Table {
    let several = compared
        .iter()
        .any(|it| it.candidate != compared[0].candidate);
    let mut table = Table::new(&[
        ("benchmark", Left),
        (if several { "candidate of" } else { "metric" }, Left),
        ("baseline", Right),
        ("candidate", Right),
        ("ratio", Whole),
        ("radius", Right),
        ("instances", Right),
        ("changed", Left),
    ])
    .dispensable(&["instances", "radius", "metric"]);
    for it in compared {
        let name = match it.subject.setting.text() {
            Some(setting) => format!("{} ({setting})", it.subject.benchmark),
            None => it.subject.benchmark.clone(),
        };
        let ratio = it.means[0] / it.means[1];
        table.row(vec![
            name,
            if several {
                it.candidate.clone()
            } else {
                it.subject.metric.clone()
            },
            quantity(it.means[0], &it.metric.unit),
            quantity(it.means[1], &it.metric.unit),
            ratio_text(ratio, Some(it.result.relative_change)),
            format!("{:.4}", it.result.radius),
            format!("{} / {}", it.instances[0], it.instances[1]),
            if it.result.changed { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}
