//! A comparison as Hail's `analyze_benchmarks` makes it: control over test.

use std::io::Write;

use lapwing_core::judge::{
    CompareOptions, ComparisonAsHail, HAIL_REPLICATES, SideSamples, Verdict,
};
use lapwing_core::model::Better;
use lapwing_core::show::{quantity, ratio_text};
use lapwing_core::text::counted;
use serde_json::{Value, json};

use super::gate::FailOn;
use super::{CompareCommand, GatheredSides};
use crate::audit;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, Format};
use crate::table::Align::{Left, Right, Whole};
use crate::table::{Table, csv_of_json, markdown_text};

/// The columns of the CSV table: keys of a row in JSON.
const COLUMNS: [&str; 19] = [
    "suite",
    "benchmark",
    "setting",
    "metric",
    "unit",
    "baseline",
    "candidate",
    "baseline_value",
    "candidate_value",
    "baseline_instances",
    "candidate_instances",
    "ratio",
    "lower",
    "upper",
    "radius",
    "changed",
    "verdict",
    "p_value",
    "p_adjusted",
];

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
        let mut out = context.terminal.out();
        match self.format {
            Format::Json => {
                let rows: Vec<Value> = compared.iter().map(row).collect();
                let json = json!({
                    "baseline": names.first(),
                    "candidates": names.get(1..),
                    "compat": "hail",
                    "direction": "baseline / candidate",
                    "confidence": options.confidence.level(),
                    "comparisons": rows,
                    "notes": notes,
                    "audit": audit::json(samples.audit(), self.cleaning.detail()),
                });
                serde_json::to_writer_pretty(&mut out, &json)?;
                writeln!(out)?;
            }
            Format::Csv => csv_of_json(&COLUMNS, compared.iter().map(row), &mut out)?,
            Format::Text => {
                writeln!(out, "{}\n", headline(compared))?;
                table(compared).text_within(context.terminal.width(), &mut out)?;
                writeln!(out, "\n{DIRECTION}")?;
                for note in notes {
                    writeln!(out, "note: {note}")?;
                }
            }
            Format::Markdown => {
                writeln!(out, "**{}**\n", headline(compared))?;
                table(compared).markdown(&mut out)?;
                writeln!(out, "\n{DIRECTION}")?;
                for note in notes {
                    writeln!(out, "- note: {}", markdown_text(note))?;
                }
            }
        }
        let audit = samples.audit();
        audit::below(
            audit,
            self.cleaning.detail(),
            self.format,
            context,
            &mut out,
        )
    }
}

const DIRECTION: &str = "the ratio is baseline / candidate, as in Hail: below 1 the candidate has the larger mean; changed means that the intervals of the two means do not overlap";

/// Returns what to say of benchmarks that have no row.
fn note_of(lacking: &[(String, String, bool)]) -> Option<String> {
    /// More names than this are a number.
    const SHOWN: usize = 5;
    let mut names: Vec<&str> = lacking.iter().map(|(name, _, _)| name.as_str()).collect();
    names.dedup();
    let count = names.len();
    names.truncate(SHOWN);
    let more = match count - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (count > 0).then(|| {
        format!(
            "not compared, because a side has no usable values: {}{more} (`--audit` shows why)",
            names.join(", ")
        )
    })
}

fn headline(compared: &[ComparisonAsHail]) -> String {
    let changed = compared.iter().filter(|it| it.result.changed).count();
    format!(
        "{changed} of {} changed, according to Hail's `analyze_benchmarks`",
        counted(compared.len(), "comparison")
    )
}

/// The nearest of our verdicts: Hail itself only says that something changed.
fn verdict(it: &ComparisonAsHail) -> Verdict {
    let is_more = it.means[1] > it.means[0];
    match (it.result.changed, it.metric.better) {
        (false, _) | (true, None) => Verdict::Inconclusive,
        (true, Some(Better::Lower)) if is_more => Verdict::Regression,
        (true, Some(Better::Higher)) if !is_more => Verdict::Regression,
        (true, Some(Better::Lower | Better::Higher)) => Verdict::Improvement,
    }
}

fn row(it: &ComparisonAsHail) -> Value {
    let change = it.result.relative_change;
    json!({
        "suite": it.subject.suite,
        "benchmark": it.subject.benchmark,
        "setting": it.subject.setting.text(),
        "metric": it.subject.metric,
        "unit": it.metric.unit,
        "baseline": it.baseline,
        "candidate": it.candidate,
        "baseline_value": it.means[0],
        "candidate_value": it.means[1],
        "baseline_instances": it.instances[0],
        "candidate_instances": it.instances[1],
        "ratio": it.means[0] / it.means[1],
        "lower": change.lower,
        "upper": change.upper,
        "radius": it.result.radius,
        "changed": it.result.changed,
        "verdict": verdict(it).name(),
        "p_value": null,
        "p_adjusted": null,
    })
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
