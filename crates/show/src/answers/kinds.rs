//! All kinds of answers, with their schemas.

use schemars::schema_for;
use serde_json::Value;

use super::error::ErrorAnswer;
use super::{
    advise, annotating, bisection, burn_in, campaign, compare, detect, doctor, dry_run, imported,
    indicators, judgement, list, mds, plan, private, session, sharing, stacks, stores, study,
    trace, upkeep, variability, withdraw, written,
};
use crate::writing::AnswerKind;

/// The kinds of answers, by subject.
const KINDS: [&[&AnswerKind]; 5] = [STORES, ANALYSES, study::KINDS, trace::KINDS, advise::KINDS];

/// Answers about stores, sessions and the program itself.
const STORES: &[&AnswerKind] = &[
    &session::KIND,
    &session::NOTHING_KIND,
    &dry_run::KIND,
    &judgement::KIND,
    &campaign::KIND,
    &bisection::KIND,
    &doctor::KIND,
    &imported::KIND,
    &list::BENCHMARKS,
    &list::SESSIONS,
    &list::RUNS,
    &list::METRICS,
    &indicators::LIST,
    &indicators::QUERY,
    &indicators::CHECK,
    &stacks::KIND,
    &stores::INFO,
    &stores::ANNOTATIONS,
    &annotating::KIND,
    &upkeep::MERGE,
    &upkeep::PURGE,
    &upkeep::CHECK,
    &upkeep::RESCUE,
    &sharing::PUSH,
    &sharing::PULL,
    &private::KIND,
    &withdraw::KIND,
    &written::SUITE,
    &written::EXPORT,
    &written::TRACE,
    &written::REPORT,
    &written::MANUAL,
    &written::BUILD_FILE,
];

/// Answers of analyses.
const ANALYSES: &[&AnswerKind] = &[
    &compare::KIND,
    &compare::HAIL_KIND,
    &compare::SELF_TEST_KIND,
    &detect::KIND,
    &detect::SELF_TEST_KIND,
    &variability::KIND,
    &mds::KIND,
    &plan::KIND,
    &burn_in::KIND,
];

/// Returns the names of all kinds of answers.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = KINDS
        .iter()
        .copied()
        .flatten()
        .map(|kind| kind.name)
        .collect();
    names.push(ErrorAnswer::NAME);
    names.sort_unstable();
    names
}

/// Returns the JSON schema of a kind of answers; `None` if there is no kind of that name.
pub fn json_schema(name: &str) -> Option<Value> {
    if name == ErrorAnswer::NAME {
        return Some(schema_for!(ErrorAnswer).to_value());
    }
    let kind = KINDS
        .iter()
        .copied()
        .flatten()
        .find(|kind| kind.name == name);
    kind.map(|kind| kind.json_schema())
}
