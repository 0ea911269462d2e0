//! The plan of any recorded session, whatever measured it.

use std::collections::BTreeSet;

use lapwing_record::SessionState;

use crate::suite::{Case, CommandLine, Plan, PlannedCommit, Variant, stored_plan};

/// Returns the plan of a session: the stored one, or one with its benchmarks and variants.
pub fn recorded_plan(state: &SessionState) -> Plan {
    let stored = stored_plan(&state.session.attributes);
    let plan = stored.and_then(|plan| serde_json::from_value(plan.into_owned()).ok());
    plan.unwrap_or_else(|| plan_without(state))
}

/// Returns the plan that a session without one would have had: its benchmarks, and its variants.
fn plan_without(state: &SessionState) -> Plan {
    let mut seen = BTreeSet::new();
    let benchmarks = state.instances.iter().map(|it| &it.instance.benchmark);
    let cases = benchmarks.filter(|it| seen.insert(it.id.clone()));
    let cases = cases.map(|benchmark| {
        let mut case = Case::new(benchmark.id.clone(), CommandLine::Words(Vec::new()));
        case.benchmark = benchmark.clone();
        case
    });
    let versions = state.runs.iter().map(|it| &it.version);
    let versions: BTreeSet<_> = versions
        .map(|it| it.commit.as_ref().or(it.name.as_ref()))
        .collect();
    let mut variants: Vec<Variant> = Vec::new();
    for run in &state.runs {
        if variants.iter().any(|it| it.is_of(run)) {
            continue;
        }
        variants.push(Variant {
            name: run.variant.clone(),
            factors: run.factors.clone(),
            commit: (versions.len() > 1).then(|| PlannedCommit {
                version: run.version.clone(),
                repository: String::new(),
                patches: Vec::new(),
            }),
            ..Variant::default()
        });
    }
    Plan {
        variants,
        ..Plan::of_cases(&state.session.suite, cases.collect(), 0)
    }
}
