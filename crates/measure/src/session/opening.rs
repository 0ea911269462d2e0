//! Sessions: their names, and their opening.

use std::collections::BTreeSet;
use std::path::Path;

use crate::execution::runner::EventOutlet;
use crate::local::LocalExecutor;
use crate::pytest::interpreters;
use crate::repository::version::distrusted_source;
use crate::suite::{OutputMetrics, Plan, VersionSource};
use crate::{
    Consumer, Environment, RunError, SessionRuns, VariantSources, command_outputs, hardware,
    open_session, os_release, version,
};
use lapwing_model::{Id, Object, Record, Run, Session};
use lapwing_record::Store;
use serde_json::json;

use super::cluster::EXECUTOR;
use super::{SessionError, SessionRemark, SessionSurroundings, lock_digest};

/// Returns a session of a plan; without a name it gets two random words.
///
/// # Errors
/// If the store fails.
pub fn new_session(
    name: Option<String>,
    plan: &Plan,
    store: &Store,
    surroundings: &SessionSurroundings<'_>,
) -> Result<Session, SessionError> {
    let id = (surroundings.new_id)();
    let name = match name {
        Some(name) => name,
        None => {
            let heads = store.catalogue().session_heads()?.into_iter();
            name_of(id, &heads.filter_map(|head| head.name).collect())
        }
    };
    let mut attributes = Object::new();
    attributes.insert("plan".to_owned(), plan.to_attribute()?);
    Ok(Session {
        id,
        suite: plan.suite.clone(),
        started: surroundings.now(),
        seed: Some(plan.seed),
        tool: surroundings.places.tool.clone(),
        name: Some(name),
        attributes,
        artifacts: Object::new(),
        extra: Object::new(),
    })
}

/// Returns the case and the variant of a measurement, by the id in the plan: the benchmark may have
/// been renamed since.
pub fn place_in(plan: &Plan, benchmark: &str, run: &Run) -> Option<(usize, usize)> {
    let mut cases = plan.cases.iter();
    let case = cases.position(|case| case.benchmark.id == benchmark)?;
    // A working tree may be at a commit that is measured too.
    let is_changed = run.version.dirty == Some(true);
    let positions = plan.variants.iter().enumerate();
    let fitting = positions.filter(|(_, it)| it.is_of(run));
    let (variant, _) = fitting.min_by_key(|(_, it)| it.commit.is_some() == is_changed)?;
    Some((case, variant))
}

/// A new session, or a resumed one with the records that it lacks.
pub enum SessionOpening {
    /// A new session.
    New(Session),
    /// A resumed session, with the records that it lacks.
    Again(SessionRuns, Vec<Record>),
}

impl SessionOpening {
    /// Returns the session.
    pub fn session(&self) -> &Session {
        match self {
            Self::New(session) => session,
            Self::Again(runs, _) => &runs.session,
        }
    }

    /// Returns the runs of the session, after sending its first records to the consumers.
    pub fn open(
        self,
        plan: &Plan,
        sources: &VariantSources,
        executor: &mut LocalExecutor,
        consumers: &mut [&mut dyn Consumer],
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<SessionRuns, RunError> {
        match self {
            Self::New(session) => {
                let here = &surroundings.places.directory;
                let folder = plan.directory.as_deref().map_or(&**here, Path::new);
                let is_here = plan.version == VersionSource::WorkingDirectory;
                let seen_from = if is_here { here } else { folder };
                let version = version(&plan.version, seen_from);
                if let Some(repository) = distrusted_source(&plan.version, seen_from) {
                    surroundings.remark(SessionRemark::NoVersion(repository));
                }
                // The machines of a cluster are described on each instance.
                let machine = if session.attributes.contains_key(EXECUTOR) {
                    Object::new()
                } else {
                    Environment::read(Path::new("/")).into_object()
                };
                let tool = &surroundings.places.tool;
                let environment = environment(plan, machine, folder, tool, executor)?;
                let mut own = interpreters(plan, sources, executor)?;
                own.iter_mut().for_each(add_lock);
                let environments = (&environment, own.as_slice());
                let new_id = &mut || (surroundings.new_id)();
                open_session(plan, session, &version, environments, new_id, consumers)
            }
            Self::Again(runs, records) => {
                let mut outlet = EventOutlet { consumers };
                for record in &records {
                    outlet.keep(record)?;
                }
                Ok(runs)
            }
        }
    }
}

/// Returns the description of a machine, with the outputs of the plan's commands.
fn environment(
    plan: &Plan,
    mut environment: Object,
    folder: &Path,
    tool: &str,
    executor: &mut LocalExecutor,
) -> Result<Object, RunError> {
    let outputs = command_outputs(executor, &plan.environment_commands, Some(folder))?;
    if !outputs.is_empty() {
        environment.insert("outputs".to_owned(), outputs.into());
    }
    let version = tool.rsplit(' ').next();
    environment.insert("lapwing".to_owned(), json!(version));
    let mut cases = plan.cases.iter();
    if cases.any(|case| case.output == OutputMetrics::Indicator) {
        let root = Path::new("/");
        environment.insert("hwinfo".to_owned(), hardware(root).into());
        environment.insert("os_release".to_owned(), os_release(root).into());
    }
    if let Some(cpus) = &plan.cpus {
        environment.insert("cpus".to_owned(), json!(cpus));
    }
    let abilities = serde_json::to_value(executor.abilities()?);
    environment.insert("abilities".to_owned(), abilities.unwrap_or_default());
    Ok(environment)
}

/// Adds the digest of the packages to what is known of an interpreter.
fn add_lock(own: &mut Object) {
    let Some(packages) = own.get("packages").and_then(|it| it.as_object()) else {
        return;
    };
    let versions = packages
        .iter()
        .filter_map(|(name, version)| Some((name.as_str(), version.as_str()?)));
    let digest = lock_digest(versions);
    own.insert("lock".to_owned(), json!(digest));
}

const ADJECTIVES: [&str; 32] = [
    "amber", "bold", "brave", "brisk", "calm", "clear", "coral", "crisp", "deft", "eager", "early",
    "fleet", "gentle", "golden", "grand", "hardy", "keen", "light", "lively", "mellow", "nimble",
    "proud", "quick", "quiet", "ruddy", "sharp", "silver", "sleek", "snowy", "spry", "swift",
    "wary",
];

const BIRDS: [&str; 32] = [
    "avocet", "bittern", "bunting", "crane", "curlew", "dipper", "dunlin", "eider", "falcon",
    "finch", "godwit", "grebe", "heron", "hobby", "jackdaw", "kestrel", "kite", "lark", "linnet",
    "martin", "merlin", "oriole", "osprey", "petrel", "plover", "rail", "siskin", "snipe", "swift",
    "tern", "thrush", "wren",
];

/// Returns a name for the session of that id, such as `brisk-heron`, that is not taken yet.
fn name_of(id: Id, taken: &BTreeSet<String>) -> String {
    // The last bytes of an id are its random ones.
    let bytes = id.as_bytes();
    let start = usize::from(bytes[14]) * BIRDS.len() + usize::from(bytes[15]) % BIRDS.len();
    let many = ADJECTIVES.len() * BIRDS.len();
    let words = |index: usize| {
        let adjective = ADJECTIVES[index / BIRDS.len() % ADJECTIVES.len()];
        format!("{adjective}-{}", BIRDS[index % BIRDS.len()])
    };
    // Steps of a prime number, so that neighbours in time are not neighbours in the list.
    let mut names = (0..many).map(|step| words(start + step * 379));
    names
        .find(|name| !taken.contains(name))
        .unwrap_or_else(|| format!("{}-{}", words(start), taken.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice_even_when_all_pairs_of_words_are_taken() {
        let id = Id::derived(&[b"7"]);
        let mut taken = BTreeSet::new();
        for _ in 0..1100 {
            let name = name_of(id, &taken);
            assert!(taken.insert(name.clone()), "{name} came twice");
        }
        assert_eq!(
            taken
                .iter()
                .filter(|it| it.matches('-').count() == 1)
                .count(),
            1024
        );
    }
}
