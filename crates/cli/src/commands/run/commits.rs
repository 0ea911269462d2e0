//! `lapwing run --commits`: the history of a repository, measured commit by commit.

use std::collections::BTreeSet;

use lapwing_analyse::sample::{SampleFilter, each_benchmark};
use lapwing_measure::pytest::RECORDED_NOTHING;
use lapwing_measure::session::{
    NOT_BUILT, NOT_CHECKED_OUT, NOT_INSTALLED, commits_between, repository,
};
use lapwing_measure::single_commit;
use lapwing_measure::suite::{Plan, PlannedCommit, Variant};
use lapwing_model::InstanceOutcome;
use lapwing_model::text::{counted, plural};
use lapwing_record::StoreError;

use super::options::Run;
use crate::error::CliError;
use crate::options::Context;

/// Returns the plan with every variant once per commit.
pub fn over_commits(mut plan: Plan, command: &Run, context: &Context) -> Result<Plan, CliError> {
    let Some(text) = &command.commits else {
        return Ok(plan);
    };
    let every = command.every.map_or(1, |it| it as usize);
    let commits = commits_between(&plan, text, every, &context.surroundings())?;
    let all = commits.len();
    let measured = if command.again.is_some() {
        BTreeSet::new()
    } else {
        measured(&plan, context)?
    };
    let is_new = |commit: &PlannedCommit| {
        let lacks = |variant: &Variant| {
            let mut cases = plan.cases.iter();
            cases.any(|case| {
                let key = (
                    commit.hash().to_owned(),
                    variant.name.clone(),
                    case.benchmark.id.clone(),
                );
                !measured.contains(&key)
            })
        };
        plan.variants.iter().any(lacks)
    };
    let left: Vec<PlannedCommit> = commits.into_iter().filter(is_new).collect();
    if left.len() < all && !context.quiet {
        context.terminal.note(&format!(
            "{} of {} {} skipped: already measured (--again measures them again)",
            all - left.len(),
            counted(all, "commit"),
            plural(all - left.len(), "is", "are")
        ));
    }
    let variants = std::mem::take(&mut plan.variants);
    plan.variants = left
        .iter()
        .flat_map(|commit| {
            variants.iter().map(|variant| Variant {
                commit: Some(commit.clone()),
                ..variant.clone()
            })
        })
        .collect();
    Ok(plan)
}

/// Returns the plan with the commits that its variants name.
pub fn with_worktrees(mut plan: Plan, command: &Run, context: &Context) -> Result<Plan, CliError> {
    let are_patched = plan.variants.iter().any(|it| !it.patches.is_empty());
    if !are_patched && plan.variants.iter().all(|it| it.worktree.is_none()) {
        return Ok(plan);
    }
    if command.commits.is_some() {
        return Err(CliError::input(
            "--commits measures every variant at each commit, and a variant has its own by `worktree` or a patch",
        )
        .hint("choose variants without them (--variant), or omit --commits"));
    }
    let repository = repository(&plan, &context.surroundings())?;
    for variant in &mut plan.variants {
        // Without patches, too: the working tree may hold changes, and is in another folder.
        let head = are_patched.then_some("HEAD");
        let Some(revision) = variant.worktree.as_deref().or(head) else {
            continue;
        };
        let commit = single_commit(&repository, revision, plan.build.is_some());
        variant.commit = Some(PlannedCommit {
            patches: std::mem::take(&mut variant.patches),
            ..commit?
        });
    }
    Ok(plan)
}

/// Commit, variant and benchmark of stored measurements.
type MeasuredInstances = BTreeSet<(String, String, String)>;

fn measured(plan: &Plan, context: &Context) -> Result<MeasuredInstances, CliError> {
    let mut found = BTreeSet::new();
    if !context.store.exists() {
        return Ok(found);
    }
    let store = crate::store::open_for_reading(context)?;
    let of_suite = SampleFilter::of_suites(std::slice::from_ref(&plan.suite));
    let filter = match of_suite.resolve(&store) {
        // Nothing of the suite was measured before.
        Err(StoreError::NoMatch { .. }) => return Ok(found),
        resolved => resolved?,
    };
    let read = each_benchmark(&store, &filter, |data| {
        for it in &data.instances {
            let end = it.end.as_ref();
            let message = end.and_then(|end| end.message.as_deref());
            let begins = |texts: &[&str]| {
                message.is_some_and(|it| texts.iter().any(|text| it.starts_with(text)))
            };
            let counts = end.is_some_and(|end| match end.outcome {
                InstanceOutcome::Ok | InstanceOutcome::TimedOut => true,
                // Imports may have failed instances, too.
                InstanceOutcome::Failed => !begins(&[RECORDED_NOTHING]),
                // A build may succeed the next time; a test that skips itself does so again.
                InstanceOutcome::Skipped => !begins(&[NOT_BUILT, NOT_CHECKED_OUT, NOT_INSTALLED]),
                InstanceOutcome::Lost => false,
            });
            let version = &it.run.version;
            if let (true, Some(commit), false) =
                (counts, &version.commit, version.dirty == Some(true))
            {
                let variant = it.run.variant.clone();
                found.insert((commit.clone(), variant, data.benchmark.id.clone()));
            }
        }
        Ok::<(), StoreError>(())
    });
    match read {
        Ok(()) | Err(StoreError::NoMatch { .. }) => Ok(found),
        Err(error) => Err(error.into()),
    }
}
