//! `lapwing run --commits`: the history of a repository, measured commit by commit.

use std::collections::BTreeSet;

use lapwing_analyse::sample::{SampleFilter, each_benchmark};
use lapwing_measure::bisection::SEARCH;
use lapwing_measure::pytest::RECORDED_NOTHING;
use lapwing_measure::session::{NOT_BUILT, NOT_CHECKED_OUT, NOT_INSTALLED};
use lapwing_measure::suite::{Plan, Variant};
use lapwing_model::InstanceOutcome;
use lapwing_model::text::{counted, plural};
use lapwing_record::StoreError;

use crate::error::CliError;
use crate::options::Context;

/// Takes commits out of a plan at which all its benchmarks were measured before.
pub fn leave_out_measured(plan: &mut Plan, context: &Context) -> Result<(), CliError> {
    let measured = measured(plan, context)?;
    let cases: Vec<String> = plan
        .cases
        .iter()
        .map(|it| it.benchmark.id.clone())
        .collect();
    let lacks = |variant: &Variant| {
        let hash = variant.commit.as_ref().map_or("", |it| it.hash());
        cases.iter().any(|benchmark| {
            let key = (hash.to_owned(), variant.name.clone(), benchmark.clone());
            !measured.contains(&key)
        })
    };
    let key = |variant: &Variant| variant.commit.as_ref().map(|it| it.key().to_owned());
    // All commits are compared with the first, in one session.
    let first = plan.variants.first().filter(|_| plan.stop_early.is_some());
    let first = first.map(key);
    let is_wanted = |variant: &&Variant| lacks(variant) || first.as_ref() == Some(&key(variant));
    let mut new: BTreeSet<Option<String>> =
        plan.variants.iter().filter(is_wanted).map(key).collect();
    if new.len() == 1 && !plan.variants.iter().any(lacks) {
        new.clear();
    }
    let all: BTreeSet<Option<String>> = plan.variants.iter().map(key).collect();
    plan.variants.retain(|variant| new.contains(&key(variant)));
    if new.len() < all.len() && !context.quiet {
        let skipped = all.len() - new.len();
        context.terminal.note(&format!(
            "{skipped} of {} {} skipped: already measured (--again measures them again)",
            counted(all.len(), "commit"),
            plural(skipped, "is", "are")
        ));
    }
    Ok(())
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
            // A search measures few instances of a commit, and is no part of the history.
            if it.session.attributes.contains_key(SEARCH) {
                continue;
            }
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
