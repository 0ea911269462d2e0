//! `lapwing stack run`: builds stacks, and measures indicators in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use lapwing_measure::indicator::IndicatorScript;
use lapwing_measure::stack::{BuiltStacks, STACKS, StackFile, build_stacks, stack_name};
use lapwing_measure::suite::{Case, CommandLine, Isolation, PackageFiles};
use lapwing_model::Object;
use lapwing_model::text::counted;
use serde_json::json;

use super::inspect::{inspect, write_build_folder};
use super::{BuildOptions, STACKS_FILE};
use crate::commands::indicator::{IndicatorOptions, RepetitionOptions};
use crate::commands::run::PlannedRun;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Build stacks, and measure indicators in them
///
/// Environments are built in parallel and kept in the cache. Then all stacks are measured in turn,
/// one execution at a time. Stacks that cannot be built or imported are recorded with the output
/// of the build. Without a script, importing the requested packages is measured.
#[derive(Debug, Args)]
pub struct StackRun {
    /// Scripts: executables, or files of Python
    scripts: Vec<PathBuf>,
    /// Specification of an inspection by Amun (JSON): build its image with podman, and measure its script
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scripts", "stacks", "executor"])]
    spec: Option<PathBuf>,
    /// Only write the build file of the specification, and what it copies, to this folder
    #[arg(long, value_name = "FOLDER", requires = "spec")]
    build_folder: Option<PathBuf>,
    /// File of the stacks
    #[arg(long, value_name = "FILE", default_value = STACKS_FILE)]
    stacks: PathBuf,
    #[command(flatten)]
    options: IndicatorOptions,
    #[command(flatten)]
    build: BuildOptions,
    #[command(flatten)]
    repetitions: RepetitionOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StackRun {
    /// Builds and measures.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        self.options.isolation.usual = Isolation::Possible;
        if let Some(end) = self.repetitions.resumed(&self.answer, context) {
            return end;
        }
        match (&self.spec, &self.build_folder) {
            (Some(spec), Some(folder)) => return write_build_folder(spec, folder, context),
            (Some(spec), None) => {
                return inspect(
                    spec,
                    &self.options,
                    &self.repetitions,
                    &self.answer,
                    context,
                );
            }
            (None, _) => {}
        }
        let scripts = IndicatorScript::open_all(&self.scripts)?;
        let files = self.build.files();
        let file = StackFile::read(&self.stacks)?;
        if files == PackageFiles::Built {
            file.refuse_sources()?;
        }
        if self.repetitions.dry_run {
            return self.show_plan(&scripts, &file, context);
        }
        let mut plan = self.repetitions.plan(Vec::new());
        let isolation = &self.options.isolation;
        isolation.check(&mut context.surroundings().start_executor(&plan)?, context)?;
        let confinement = self.options.limits().confinement;
        let surroundings = || context.surroundings();
        let built = build_stacks(&file.stacks, files, &plan, &confinement, &surroundings)?;
        if built.ready.is_empty() {
            return Err(nothing_built(&file, &built));
        }
        let mut executor = context.surroundings().start_executor(&plan)?;
        let folders: Vec<_> = built.ready.iter().map(Some).collect();
        let cases = match scripts.as_slice() {
            [] => vec![self.import_case(&built.modules)],
            some => self.options.cases(some, &folders, &mut executor, context)?,
        };
        drop(executor);
        plan.cases = self.repetitions.plan(cases).cases;
        plan.variants = file.stacks.iter().map(|it| it.variant(files)).collect();
        let refused: Vec<_> = file.unresolved.iter().chain(&built.refused).collect();
        let locks = file.stacks.iter();
        let locks: BTreeMap<String, &str> = locks
            .map(|it| (stack_name(&it.factors), it.lock.as_str()))
            .collect();
        let about = json!({
            "requirements": file.requirements,
            "seed": file.seed,
            "locks": locks,
            "refused": refused,
        });
        let mut attributes = IndicatorScript::attributes(&scripts);
        attributes.insert(STACKS.to_owned(), about);
        let measurement = self
            .repetitions
            .measurement(&plan, attributes, &self.answer)?;
        measurement.act_on(PlannedRun::with(plan, built.environments), context)
    }

    /// Shows what would be measured. The modules of packages, and the names of scripts, are only known once they are
    /// installed and executed.
    fn show_plan(
        &self,
        scripts: &[IndicatorScript],
        file: &StackFile,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let cases = match (scripts, file.stacks.first()) {
            ([], Some(stack)) => vec![self.import_case(&stack.requested())],
            ([], None) => Vec::new(),
            (some, _) => self.options.unchecked_cases(some)?,
        };
        let mut plan = self.repetitions.plan(cases);
        let files = self.build.files();
        plan.variants = file.stacks.iter().map(|it| it.variant(files)).collect();
        let measurement = self
            .repetitions
            .measurement(&plan, Object::new(), &self.answer)?;
        measurement.act_on(PlannedRun::of(plan), context)
    }

    /// Returns the benchmark that imports the requested packages.
    fn import_case(&self, modules: &[String]) -> Case {
        let modules = modules.join(", ");
        let words = ["python3", "-c", &format!("import {modules}")].map(str::to_owned);
        let mut case = Case::new(
            format!("import {modules}"),
            CommandLine::Words(words.into()),
        );
        let limits = self.options.limits();
        case.confinement = Some(limits.confinement);
        case.time_limit = Some(limits.time_limit);
        case
    }
}

fn nothing_built(file: &StackFile, built: &BuiltStacks) -> CliError {
    let states: Vec<String> = built
        .refused
        .iter()
        .map(|it| {
            format!(
                "{} {}: {}",
                stack_name(&it.factors),
                it.state.text(),
                it.log
            )
        })
        .collect();
    CliError {
        exit: ExitStatus::Failed,
        ..CliError::input(match file.stacks.len() {
            0 => "the file has no stack".to_owned(),
            some => format!(
                "none of {} can be used:\n{}",
                counted(some, "stack"),
                states.join("\n")
            ),
        })
        .hint("`lapwing stack resolve` looks for others: older or newer versions, another Python")
    }
}
