//! Benchmarks that an answer omits, by name and with the reason.

use lapwing_analyse::clean::Audit;
use lapwing_model::text::first_names;
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Note;

/// A metric of a benchmark that is not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotJudged {
    /// The suite of the benchmark.
    pub suite: String,
    /// Its id.
    pub benchmark: String,
    /// The variant and version, if known.
    pub setting: Option<String>,
    /// The metric.
    pub metric: String,
    /// Why not.
    pub reason: String,
}

/// Returns the benchmarks that did not pass cleaning.
pub fn of_audit(audit: &Audit) -> Vec<NotJudged> {
    audit
        .not_viable()
        .map(|(it, _)| NotJudged {
            suite: it.suite.clone(),
            benchmark: it.benchmark.clone(),
            setting: it.setting.text(),
            metric: it.metric.clone(),
            reason: it.reason().unwrap_or_default(),
        })
        .collect()
}

/// More names than this for one reason are a number.
const NAMES: usize = 3;

/// Returns `a, b and 2 more (no iteration succeeded); c (all values are zero)`; `None` of none.
pub fn names(all: &[NotJudged]) -> Option<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for it in all {
        match reasons.iter_mut().find(|(reason, _)| *reason == it.reason) {
            Some((_, names)) if names.contains(&it.benchmark.as_str()) => {}
            Some((_, names)) => names.push(&it.benchmark),
            None => reasons.push((&it.reason, vec![&it.benchmark])),
        }
    }
    let texts = reasons.iter();
    let texts = texts.map(|(reason, names)| format!("{} ({reason})", first_names(names, NAMES)));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Returns the note on them; `None` of none.
pub fn note(all: &[NotJudged]) -> Option<Note> {
    let note = |names| Note::new("not_analysed", format!("not analysed: {names}"));
    names(all).map(|names| note(names).with("benchmarks", all.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_with_their_reasons() {
        let of = |benchmark: &str, reason: &str| NotJudged {
            suite: "s".to_owned(),
            benchmark: benchmark.to_owned(),
            setting: None,
            metric: "wall_time".to_owned(),
            reason: reason.to_owned(),
        };
        let all = [
            of("a", "failed"),
            of("b", "zero"),
            of("c", "failed"),
            of("a", "failed"),
            of("d", "failed"),
            of("e", "failed"),
        ];
        let text = names(&all);
        assert_eq!(
            text.as_deref(),
            Some("a, c, d and 1 more (failed); b (zero)")
        );
        assert_eq!(names(&[]), None);
    }
}
