//! `lapwing db annotations`: lists renames and retirements.

use std::io::Write;

use lapwing_model::text::counted;
use lapwing_record::{Change, Remark};
use lapwing_show::writing::{Align, AnswerFormat, Table};

use crate::answer::write_json;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::store::open_for_reading;

pub(super) fn act(context: &Context, format: AnswerFormat) -> Result<ExitStatus, CliError> {
    let store = open_for_reading(context)?;
    let remarks = store.annotations().all()?;
    let mut out = context.terminal.out_as(format);
    if format == AnswerFormat::Json {
        let list: Vec<serde_json::Value> = remarks
            .iter()
            .map(|remark| {
                let it = &remark.annotation;
                serde_json::json!({
                    "id": it.id, "at": it.at, "by": it.by, "action": it.action,
                    "target": it.target, "reason": it.reason, "undone_by": remark.undone_by,
                    "superseded_by": remark.superseded_by,
                })
            })
            .collect();
        write_json(&serde_json::json!({ "annotations": list }), &mut out)?;
        return Ok(ExitStatus::Fine);
    }
    let mut table = Table::new(&[
        ("at", Align::Whole),
        ("by", Align::Left),
        ("action", Align::Left),
        ("what", Align::Left),
        ("reason", Align::Left),
        ("active", Align::Left),
        ("id", Align::Left),
    ]);
    for remark in &remarks {
        let it = &remark.annotation;
        table.row(vec![
            it.at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            it.by.clone(),
            it.action.clone(),
            what(remark),
            it.reason.clone().unwrap_or_default(),
            match (remark.undone_by, remark.superseded_by) {
                (None, None) => "yes",
                (Some(_), _) => "no",
                (None, Some(_)) => "no, superseded",
            }
            .to_owned(),
            it.id.to_string(),
        ]);
    }
    match format {
        AnswerFormat::Text if remarks.is_empty() => {
            writeln!(
                out,
                "no annotations\n`lapwing db rename` and `lapwing db retire` add them"
            )?;
        }
        AnswerFormat::Text => {
            writeln!(out, "{}\n", counted(remarks.len(), "annotation"))?;
            table.text_within(context.terminal.width(), &mut out)?;
        }
        AnswerFormat::Markdown => table.markdown(&mut out)?,
        AnswerFormat::Csv | AnswerFormat::Json => table.csv(&mut out)?,
    }
    Ok(ExitStatus::Fine)
}

/// Returns the target of an annotation, in words.
fn what(remark: &Remark) -> String {
    let of_suite = |suite: &Option<String>| {
        let suite = suite.as_ref();
        suite.map_or_else(String::new, |suite| format!(" ({suite})"))
    };
    match &remark.change {
        Some(Change::Rename {
            suite,
            benchmark,
            new,
        }) => format!("{benchmark} → {new}{}", of_suite(suite)),
        Some(Change::RenameMetric {
            suite,
            benchmark,
            metric,
            exactly: _,
            new,
        }) => format!("{metric} → {new} of {benchmark}{}", of_suite(suite)),
        Some(Change::Retire(it)) => {
            let mut text = it
                .metric
                .as_ref()
                .map_or_else(String::new, |metric| format!("{metric} of "));
            text.push_str(&it.benchmark);
            text.push_str(&of_suite(&it.suite));
            if let Some(version) = &it.version {
                text.push_str(&format!(", version {version}"));
            }
            text.push_str(&format!(
                ", before {}",
                it.before.strftime("%Y-%m-%d %H:%M:%S")
            ));
            text
        }
        Some(Change::Triage(it)) => {
            let metric = it.metric.as_ref().map(|metric| format!("{metric} of "));
            let version = it
                .version
                .as_ref()
                .map(|version| format!(", version {version}"));
            format!(
                "{}: {}{}{}{}",
                it.state.name(),
                metric.unwrap_or_default(),
                it.benchmark,
                of_suite(&it.suite),
                version.unwrap_or_default()
            )
        }
        Some(Change::Restore { annotation }) => annotation.to_string(),
        None => serde_json::Value::Object(remark.annotation.target.clone()).to_string(),
    }
}
