//! Benchmarks of which nothing can be said, and why.

use lapwing_core::clean::BenchmarkAudit;
use lapwing_core::explain::Choice;

use crate::error::{CliError, Exit};
use crate::plan_file::few;

/// A benchmark, or a setting or metric of it, of which nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub suite: String,
    pub benchmark: String,
    pub metric: String,
    /// The variant and version, where there is something to tell.
    pub setting: Option<String>,
    pub why: Why,
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// An instance has nothing but zeros, which nothing is a share of.
    Zeros,
    /// No value counts, for this reason.
    NoValues(String),
}

impl Missing {
    /// Returns of which setting, and why.
    pub fn text(&self) -> String {
        match &self.setting {
            Some(setting) => format!("{setting}: {}", self.why.text()),
            None => self.why.text(),
        }
    }
}

impl Why {
    /// Returns the reason for people.
    pub fn text(&self) -> String {
        match self {
            Self::Zeros => {
                "an instance has nothing but zeros, which nothing is a share of".to_owned()
            }
            Self::NoValues(reason) => reason.clone(),
        }
    }

    /// Returns what becomes of it in data.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::NoValues(_) => "no_values",
        }
    }
}

/// Returns what of one benchmark was looked at and came to nothing.
pub fn missing(rows: &[Choice], audits: &[BenchmarkAudit]) -> Vec<Missing> {
    let is_row = |audit: &BenchmarkAudit, row: &Choice| {
        row.name == audit.metric && row.setting.text() == audit.setting
    };
    let without = audits
        .iter()
        .filter(|audit| !rows.iter().any(|row| is_row(audit, row)));
    without
        .map(|audit| Missing {
            suite: audit.suite.clone(),
            benchmark: audit.benchmark.clone(),
            metric: audit.metric.clone(),
            setting: audit.setting.clone(),
            why: audit.reason().map_or(Why::Zeros, Why::NoValues),
        })
        .collect()
}

/// Returns the reasons, each with the benchmarks that it is about.
pub fn reasons(missing: &[Missing]) -> Vec<(String, Vec<&str>)> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for it in missing {
        let (reason, name) = (it.why.text(), it.benchmark.as_str());
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons
}

/// Says why nothing can be planned.
pub fn nothing_left(missing: &[Missing]) -> CliError {
    let reasons: Vec<String> = reasons(missing)
        .into_iter()
        .map(|(reason, names)| format!("{} ({reason})", few(names.into_iter())))
        .collect();
    let error = CliError::input(format!(
        "nothing can be planned of {}",
        reasons.join(", nor of ")
    ));
    CliError {
        exit: Exit::NotEnough,
        ..error.hint("`lapwing list metrics` shows what else was measured (--metric)")
    }
}
