//! Builds the image of a specification with podman, and measures its script.

use std::collections::BTreeSet;
use std::path::Path;

use lapwing_measure::suite::{BurnIn, Case, CommandLine, Plan, Settings, Variant};
use lapwing_model::Object;
use sha2::{Digest, Sha256};

use super::specification::{InspectionPhase, InspectionSpecification};
use crate::commands::indicator::{
    IndicatorOptions, IndicatorScript, RepetitionOptions, indicator_cases, indicator_plan,
};
use crate::commands::run::PlannedRun;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use lapwing_measure::session::{BuildResult, build_with_log};
use lapwing_show::writing::AnswerFormat;

/// The program that builds and executes images.
const PODMAN: &str = "podman";

/// Writes the build file of a specification and what it copies.
pub fn write_build_folder(
    specification: &Path,
    folder: &Path,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let own = InspectionSpecification::read(specification)?;
    own.write_context(folder)?;
    if !context.quiet {
        let folder = folder.display();
        let text = format!("wrote {folder}/Dockerfile; `podman build {folder}` builds it");
        context.terminal.say(&text);
    }
    Ok(ExitStatus::Fine)
}

/// Builds the image of a specification, and measures its script; without one, or if the image cannot be built, the
/// build.
pub fn inspect(
    path: &Path,
    options: &IndicatorOptions,
    repetitions: &RepetitionOptions,
    format: AnswerFormat,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let own = InspectionSpecification::read(path)?;
    if !context.machine.places().has_program(PODMAN) {
        return Err(CliError::input("images need podman, which is not installed").hint(
            "install it (`apt-get install podman`); `--build-folder FOLDER` writes the build file without it",
        ));
    }
    let text = std::fs::read_to_string(path)?;
    let digest = Sha256::digest(&text);
    let key: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let places = context.machine.places();
    let folder = places
        .cache_folder("inspections", &places.directory)?
        .join(&key);
    own.write_context(&folder)?;
    let image = format!("lapwing-inspection-{key}");
    let build = podman_build(&own, &image, &folder)?;
    let mut plan = indicator_plan(Vec::new(), repetitions);
    let mut executor = context.surroundings().start_executor(&plan)?;
    if !context.quiet {
        context
            .terminal
            .say(&format!("building the image of {}", path.display()));
    }
    let (built, log) = build_with_log(&mut executor, build.clone(), &folder, Default::default())?;
    let mut attributes =
        Object::from_iter([("specification".to_owned(), serde_json::from_str(&text)?)]);
    let cases = match (built, &own.script) {
        (BuildResult::Interrupted, _) => {
            return Err(CliError {
                exit: ExitStatus::Interrupted,
                ..CliError::input("interrupted")
            });
        }
        (BuildResult::Badly(_), _) | (BuildResult::Well, None) => vec![build_case(build)],
        (BuildResult::Well, Some(script)) => {
            let run = podman_run(&own, &image, options)?;
            let script = IndicatorScript::in_container(path, script, run);
            attributes.extend(IndicatorScript::attributes(std::slice::from_ref(&script)));
            let cases = indicator_cases(&[script], options, &[None], &mut executor, context)?;
            let usual = Settings {
                instances: Some(own.batch_size),
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
    };
    drop(executor);
    if !log.is_empty() {
        attributes.insert("build_log".to_owned(), log.into());
    }
    plan = Plan {
        cases,
        variants: vec![Variant {
            name: own.identifier.clone().unwrap_or_else(|| own.base.clone()),
            factors: own.factors(),
            ..Variant::default()
        }],
        ..plan
    };
    let measurement = repetitions.measurement(&plan, attributes, format)?;
    measurement.act_on(PlannedRun::of(plan), context)
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

fn podman_build(
    own: &InspectionSpecification,
    image: &str,
    folder: &Path,
) -> Result<CommandLine, CliError> {
    let mut words = vec![PODMAN.to_owned(), "build".to_owned()];
    words.extend(
        own.limits(InspectionPhase::Build)
            .map_err(CliError::input)?,
    );
    words.push(format!("--tag={image}"));
    words.push(folder.display().to_string());
    Ok(CommandLine::Words(words))
}

fn podman_run(
    own: &InspectionSpecification,
    image: &str,
    options: &IndicatorOptions,
) -> Result<CommandLine, CliError> {
    let mut words = vec![PODMAN.to_owned(), "run".to_owned(), "--rm".to_owned()];
    words.extend(own.limits(InspectionPhase::Run).map_err(CliError::input)?);
    // podman takes the values of these from its own environment.
    let names: BTreeSet<String> = options
        .combinations()?
        .into_iter()
        .flat_map(std::collections::BTreeMap::into_keys)
        .collect();
    words.extend(names.iter().map(|name| format!("--env={name}")));
    words.push(image.to_owned());
    Ok(CommandLine::Words(words))
}
