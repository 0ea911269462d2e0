//! Builds the image of a specification with podman, and measures its script.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lapwing_measure::indicator::IndicatorScript;
use lapwing_measure::session::{BuildResult, build_with_log};
use lapwing_measure::stack::{InspectionSpecification, PODMAN};
use lapwing_measure::suite::{BurnIn, Case, CommandLine, Plan, Settings, Variant, command_text};
use lapwing_model::Object;
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use lapwing_show::answers::written::{self, WrittenAnswer};
use lapwing_show::writing::NextStep;
use sha2::{Digest, Sha256};

use crate::commands::indicator::{IndicatorOptions, RepetitionOptions};
use crate::commands::run::PlannedRun;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Writes the build file of a specification and what it copies.
pub fn write_build_folder(
    specification: &Path,
    folder: &Path,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let inspection = InspectionSpecification::read(specification)?;
    inspection.write_context(folder)?;
    let words = ["podman", "build", &folder.display().to_string()].map(str::to_owned);
    let command = command_text(&CommandLine::Words(words.into()));
    let answer = WrittenAnswer {
        kind: &written::BUILD_FILE,
        path: &folder.join("Dockerfile"),
        counts: BTreeMap::new(),
        contents: String::new(),
        notes: Vec::new(),
        next: vec![NextStep::new(command, "builds it")],
    };
    context.tell(&answer.answer()?)
}

/// Builds the image of a specification, and measures its script; without one, or if the image cannot be built, the
/// build.
pub fn inspect(
    path: &Path,
    options: &IndicatorOptions,
    repetitions: &RepetitionOptions,
    answer: &AnswerOptions,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let inspection = InspectionSpecification::read(path)?;
    if !context.machine.places().has_program(PODMAN) {
        return Err(CliError::input("images need podman, which is not installed").hint(
            "install it (`apt-get install podman`); `--build-folder FOLDER` writes the build file without it",
        ));
    }
    let text = read_text(path, LONGEST_SETTINGS)?;
    let digest = Sha256::digest(&text);
    let key: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let places = context.machine.places();
    let folder = places
        .cache_folder("inspections", &places.directory)?
        .join(&key);
    if repetitions.dry_run {
        return show_plan(&inspection, options, repetitions, answer, context);
    }
    inspection.write_context(&folder)?;
    let image = format!("lapwing-inspection-{key}");
    let build = inspection.build_command(&image, &folder);
    let build = build.map_err(CliError::input)?;
    let mut plan = repetitions.plan(Vec::new());
    let mut executor = context.surroundings().start_executor(&plan)?;
    if !context.quiet {
        context
            .terminal
            .say(&format!("building the image of {}", path.display()));
    }
    let (built, log) = build_with_log(&mut executor, build.clone(), &folder, Default::default())?;
    let mut attributes =
        Object::from_iter([("specification".to_owned(), serde_json::from_str(&text)?)]);
    let cases = match (built, &inspection.script) {
        (BuildResult::Interrupted, _) => {
            return Err(CliError {
                exit: ExitStatus::Interrupted,
                ..CliError::input("interrupted")
            });
        }
        (BuildResult::Badly(_), _) | (BuildResult::Well, None) => vec![build_case(build)],
        (BuildResult::Well, Some(script)) => {
            let combinations = options.combinations()?;
            let names: BTreeSet<&String> = combinations.iter().flatten().map(|it| it.0).collect();
            let run = inspection.run_command(&image, &names, options.isolation.isolation());
            let run = run.map_err(CliError::input)?;
            let script = IndicatorScript::in_container(path, script, run);
            attributes.extend(IndicatorScript::attributes(std::slice::from_ref(&script)));
            let cases = options.cases(&[script], &[None], &mut executor, context)?;
            of_batch(cases, &inspection, repetitions)
        }
    };
    drop(executor);
    if !log.is_empty() {
        attributes.insert("build_log".to_owned(), log.into());
    }
    plan = Plan {
        cases,
        variants: vec![variant(&inspection)],
        ..plan
    };
    let measurement = repetitions.measurement(&plan, attributes, answer)?;
    measurement.act_on(PlannedRun::of(plan), context)
}

/// Shows what would be measured if the image can be built.
fn show_plan(
    inspection: &InspectionSpecification,
    options: &IndicatorOptions,
    repetitions: &RepetitionOptions,
    answer: &AnswerOptions,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let command = CommandLine::Words(vec![PODMAN.to_owned()]);
    let cases = match &inspection.script {
        None => vec![build_case(command)],
        Some(text) => {
            let script = IndicatorScript::in_container(Path::new("script"), text, command);
            of_batch(options.unchecked_cases(&[script])?, inspection, repetitions)
        }
    };
    let plan = Plan {
        cases,
        variants: vec![variant(inspection)],
        ..repetitions.plan(Vec::new())
    };
    let measurement = repetitions.measurement(&plan, Object::new(), answer)?;
    measurement.act_on(PlannedRun::of(plan), context)
}

fn variant(inspection: &InspectionSpecification) -> Variant {
    let name = inspection.identifier.as_ref().unwrap_or(&inspection.base);
    Variant {
        name: name.clone(),
        factors: inspection.factors(),
        ..Variant::default()
    }
}

/// Returns the benchmarks, each measured as often as the specification says unless an option says it.
fn of_batch(
    cases: Vec<Case>,
    inspection: &InspectionSpecification,
    repetitions: &RepetitionOptions,
) -> Vec<Case> {
    let usual = Settings {
        instances: Some(inspection.batch_size),
        iterations: Some(1),
        burn_in: Some(BurnIn::Fixed(0)),
        ..Settings::default()
    };
    let settings = repetitions.settings().or(&usual);
    let with = |mut case: Case| {
        settings.apply(&mut case);
        case
    };
    cases.into_iter().map(with).collect()
}

/// Returns the benchmark of a build.
fn build_case(command: CommandLine) -> Case {
    Case {
        instances: 1,
        iterations: 1,
        burn_in: BurnIn::Fixed(0),
        ..Case::new("build".to_owned(), command)
    }
}
