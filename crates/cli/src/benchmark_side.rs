//! A benchmark as a side of a comparison: `benchmark:NAME`, so that two benchmarks can be compared with each other.
//!
//! Its measurements are copied to a store of their own, where all sides have the same benchmark.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lapwing_analyse::sample::{RunKey, SampleFilter, each_benchmark};
use lapwing_model::text::first_names;
use lapwing_model::{Id, Record};
use lapwing_record::{Filter, Store, StoreError};

use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_reading;

/// The beginning of such a side.
pub const BENCHMARK: &str = "benchmark:";

/// Copies what was measured of a benchmark to a new store: of the latest session, unless the filter has others. There
/// it is called `title`, as those of the other sides.
pub fn store_of_benchmark(
    name: &str,
    title: &str,
    filter: &SampleFilter,
    path: &Path,
    context: &Context,
) -> Result<Store, CliError> {
    let store = open_for_reading(context)?;
    let filter = SampleFilter {
        benchmarks: vec![name.to_owned()],
        ..filter.clone()
    };
    let instances = instances_of(name, &filter, &store)?;
    let mut records = Vec::new();
    let mut runs = BTreeMap::new();
    let sessions = instances.values().copied().collect();
    let of_sessions = Filter {
        sessions: Some(sessions),
        ..Filter::default()
    };
    store.scan(&of_sessions, |record| -> Result<(), StoreError> {
        let kept = match record {
            Record::Session(_) => Some(record),
            Record::Run(mut run) => {
                // The sides must have no run in common.
                let id = Id::from(uuid::Uuid::now_v7());
                runs.insert(run.id, id);
                run.id = id;
                Some(Record::Run(run))
            }
            Record::Instance(mut instance) if instances.contains_key(&instance.id) => {
                instance.run = runs.get(&instance.run).copied().unwrap_or(instance.run);
                title.clone_into(&mut instance.benchmark.id);
                instance.benchmark.params.clear();
                instance.benchmark.fingerprint = None;
                Some(Record::Instance(instance))
            }
            Record::Iteration(ref it) => instances.contains_key(&it.instance).then_some(record),
            Record::InstanceEnd(ref it) => instances.contains_key(&it.instance).then_some(record),
            Record::Instance(_) | Record::Span(_) | Record::Summary(_) | Record::Annotation(_) => {
                None
            }
        };
        records.extend(kept);
        Ok(())
    })?;
    let mut copy = Store::open(path)?;
    copy.append(&records)?;
    Ok(copy)
}

/// Returns the instances of a benchmark, each with its session.
fn instances_of(
    name: &str,
    filter: &SampleFilter,
    store: &Store,
) -> Result<BTreeMap<Id, Id>, CliError> {
    let mut found: BTreeMap<String, Vec<(Id, Id)>> = BTreeMap::new();
    let mut started = BTreeMap::new();
    each_benchmark(
        store,
        &filter.resolve(store)?,
        |data| -> Result<(), StoreError> {
            let own = found.entry(data.benchmark.id.clone()).or_default();
            for it in &data.instances {
                started.insert(it.session.id, it.session.started);
                own.push((it.instance.id, it.session.id));
            }
            Ok(())
        },
    )?;
    let exact = found.remove(name);
    let only = (exact.is_none() && found.len() == 1).then(|| found.pop_first());
    let Some(all) = exact.or_else(|| Some(only??.1)) else {
        let names = found.keys().map(String::as_str);
        return Err(if found.is_empty() {
            CliError::input(format!("no measurements of a benchmark `{name}`"))
        } else {
            CliError::input(format!("`{name}` could be several benchmarks"))
                .hint(format!("write one of {}", first_names(names, 4)))
        });
    };
    let sessions: BTreeSet<Id> = all.iter().map(|(_, session)| *session).collect();
    let latest = sessions.iter().max_by_key(|it| started.get(it)).copied();
    let has_all = !filter.runs.alternatives(RunKey::Session).is_empty();
    let kept = all
        .into_iter()
        .filter(|(_, it)| has_all || Some(*it) == latest);
    Ok(kept.collect())
}
