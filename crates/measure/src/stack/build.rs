//! Builds the environments of stacks, several at a time, and tries to import their packages.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{RefusedStack, RefusedState, ResolvedStack, StackError, stack_name};
use crate::local::LocalExecutor;
use crate::session::{PythonEnvironments, SessionRemark, SessionSurroundings};
use crate::suite::{CommandLine, Confinement, PackageFiles, Plan};
use crate::{
    Execution, ExecutionEnd, Executor, ExecutorError, LeftoverPolicy, PythonFolder, PythonState,
    Stdin, describe,
};

/// Imports the modules of packages, and prints their names.
const IMPORT: &str = "\
import importlib, importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    distribution = importlib.metadata.distribution(name)
    top = distribution.read_text('top_level.txt')
    if top:
        modules = set(top.split())
    else:
        modules = set()
        for file in distribution.files or []:
            if len(file.parts) == 1 and file.suffix in ('.py', '.so'):
                modules.add(file.name.split('.')[0])
            elif len(file.parts) == 2 and file.name == '__init__.py':
                modules.add(file.parts[0])
    modules = sorted(m for m in modules if m.isidentifier() and not m.startswith('_') and m not in ('test', 'tests'))
    for module in modules:
        importlib.import_module(module)
    found[name] = modules
print(json.dumps(found))
";
const IMPORT_LIMIT: Duration = Duration::from_secs(300);
const OUTPUT: usize = 16 << 10;

/// Stacks that are built, and those that cannot be.
#[derive(Default)]
pub struct BuiltStacks {
    /// The environments of all stacks.
    pub environments: PythonEnvironments,
    /// The folders of those that can be used, in the order of the stacks.
    pub ready: Vec<PythonFolder>,
    /// Those that cannot be used.
    pub refused: Vec<RefusedStack>,
    /// The modules that were imported.
    pub modules: Vec<String>,
}

/// Builds the environment of each stack, as many at a time as there are processors.
///
/// # Errors
/// If commands cannot be executed; environments that cannot be built are refused instead.
pub fn build_stacks<'a>(
    stacks: &[ResolvedStack],
    files: PackageFiles,
    plan: &Plan,
    confinement: &Confinement,
    surroundings: &(dyn Fn() -> SessionSurroundings<'a> + Sync),
) -> Result<BuiltStacks, StackError> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, BuiltStacks)>, StackError> {
        let mut built = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(stack) = stacks.get(position) else {
                return Ok(built);
            };
            let one = build_one(stack, files, plan, confinement, &surroundings())?;
            built.push((position, one));
        }
    };
    let mut built: Vec<(usize, BuiltStacks)> = Vec::new();
    thread::scope(|scope| -> Result<(), StackError> {
        let threads: Vec<_> = (0..workers.min(stacks.len()))
            .map(|_| scope.spawn(work))
            .collect();
        for thread in threads {
            built.extend(thread.join().map_err(|_panic| StackError::Panicked)??);
        }
        Ok(())
    })?;
    built.sort_by_key(|(position, _)| *position);
    let mut all = BuiltStacks::default();
    for (_, one) in built {
        all.environments.add(one.environments);
        all.ready.extend(one.ready);
        all.refused.extend(one.refused);
        if all.modules.is_empty() {
            all.modules = one.modules;
        }
    }
    Ok(all)
}

fn build_one(
    stack: &ResolvedStack,
    files: PackageFiles,
    plan: &Plan,
    confinement: &Confinement,
    surroundings: &SessionSurroundings<'_>,
) -> Result<BuiltStacks, StackError> {
    let variant = stack.variant(files);
    let name = variant.name.clone();
    let plan = Plan {
        variants: vec![variant],
        ..plan.clone()
    };
    let mut built = BuiltStacks {
        environments: PythonEnvironments::prepare(&plan, surroundings)?,
        ..BuiltStacks::default()
    };
    let refused = |state, log: String| RefusedStack {
        factors: stack.factors.clone(),
        state,
        log,
    };
    match built.environments.folders().get(&name).cloned() {
        Some(PythonState::Ready(folder)) => {
            let mut executor = surroundings.start_executor(&plan)?;
            match import(stack, &folder, confinement, &mut executor)? {
                Ok(modules) => {
                    built.ready.push(folder);
                    built.modules = modules;
                }
                Err((reason, log)) => {
                    surroundings.remark(SessionRemark::NotMeasured {
                        label: stack_name(&stack.factors),
                        reason: reason.clone(),
                    });
                    built.environments.refuse(&name, reason, log.clone());
                    built.refused.push(refused(RefusedState::Unimportable, log));
                }
            }
        }
        Some(PythonState::Broken(reason)) => {
            let log = built.environments.log(&name);
            let log = log.map_or(reason, str::to_owned);
            built.refused.push(refused(RefusedState::Unbuilt, log));
        }
        None => {}
    }
    Ok(built)
}

/// Imports the requested packages; returns their modules, or why they cannot be imported and the output.
fn import(
    stack: &ResolvedStack,
    folder: &PythonFolder,
    confinement: &Confinement,
    executor: &mut LocalExecutor,
) -> Result<Result<Vec<String>, (String, String)>, ExecutorError> {
    let mut words = vec![folder.interpreter(), "-c".to_owned(), IMPORT.to_owned()];
    words.extend(stack.requested());
    let executed = executor.execute(&Execution {
        command: CommandLine::Words(words),
        directory: None,
        environment: folder.variables().into(),
        stdin: Stdin::Null,
        time_limit: Some(IMPORT_LIMIT),
        keep_stdout: OUTPUT,
        keep_stderr: OUTPUT,
        counters: false,
        leftovers: LeftoverPolicy::End,
        cpus: None,
        confinement: Some(confinement.clone()),
    })?;
    if executed.end == ExecutionEnd::Exited(0) {
        let text = String::from_utf8_lossy(&executed.stdout.bytes);
        let line = text.lines().last().unwrap_or_default();
        let modules: BTreeMap<String, Vec<String>> = serde_json::from_str(line).unwrap_or_default();
        return Ok(Ok(modules.into_values().flatten().collect()));
    }
    let log = String::from_utf8_lossy(&executed.stderr.bytes)
        .trim()
        .to_owned();
    let last = log.lines().last().unwrap_or_default();
    let end = describe(&executed.end, Some(IMPORT_LIMIT));
    Ok(Err((format!("it cannot be imported: {end}: {last}"), log)))
}
