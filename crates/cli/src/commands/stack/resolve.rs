//! `lapwing stack resolve`: chooses combinations of versions that can be installed together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use lapwing_measure::session::lock_digest;
use lapwing_measure::stack::{
    PYTHON, PinnedPackage, RefusedStack, RefusedState, ResolvedStack, StackChoice, StackFile,
    StackNovelty, StackPython, StackRequirement, VersionStep, combinations, stack_name,
};
use lapwing_model::Levels;
use lapwing_record::Filter;
use lapwing_show::answers::stacks::{StackFields, StacksAnswer, UnresolvedFields};
use lapwing_stats::Seed;

use super::listed::listed_stacks;
use super::{BuildOptions, STACKS_FILE};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, check_output, one_of, write_output};
use crate::progress;
use crate::store::open_for_reading;

const STEPS: [NamedValue<VersionStep>; 2] = [
    ("release", "Every release", VersionStep::Release),
    (
        "minor",
        "The latest release of each minor version, such as 2.3.5 and 2.2.6",
        VersionStep::Minor,
    ),
];

const NOVELTIES: [NamedValue<StackNovelty>; 2] = [
    (
        "stacks",
        "Those that were not measured",
        StackNovelty::Stacks,
    ),
    (
        "versions",
        "Those with a version that no measured or chosen stack has",
        StackNovelty::Versions,
    ),
];

/// Find combinations of package versions that can be installed together
///
/// Asks uv, with the package index that uv is configured for. Combinations that do not resolve are
/// kept with their reason. `lapwing stack run` measures the stacks of the file.
#[derive(Debug, Args)]
pub struct StackResolve {
    /// Requirements, such as `numpy>=1.24,<2.3`
    #[arg(required_unless_present = "stacks", value_name = "REQUIREMENT")]
    requirements: Vec<String>,
    /// File of the stacks, one per line, such as `lapwing advise --explore -o FILE` writes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["requirements", "python", "latest", "step", "count", "new"])]
    stacks: Option<PathBuf>,
    /// Versions of Python, such as 3.11,3.12 [default: that of uv]
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    python: Vec<String>,
    /// Latest versions of each package to combine
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = parse_latest)]
    latest: usize,
    /// Which older versions to combine
    #[arg(long, value_name = "STEP", value_parser = one_of(&STEPS), default_value = "release")]
    step: VersionStep,
    /// Number of stacks, chosen so that all versions occur about equally often [default: all
    /// combinations]
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only stacks that were not measured yet, or that have a version not measured yet
    #[arg(long, value_name = "WHAT", value_parser = one_of(&NOVELTIES), num_args = 0..=1, default_missing_value = "stacks")]
    new: Option<StackNovelty>,
    /// Write the stacks to this file; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = STACKS_FILE)]
    output: PathBuf,
    #[command(flatten)]
    build: BuildOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

fn parse_latest(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1000) => Ok(number),
        Ok(_) | Err(_) => Err("write a whole number from 1 to 1000".to_owned()),
    }
}

impl StackResolve {
    /// Resolves, writes the file and prints a summary.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_output(&self.output, context)?;
        let files = self.build.files();
        let listed = self.stacks.as_deref().map(listed_stacks).transpose()?;
        let texts = match &listed {
            Some(listed) => listed.packages(),
            None => self.requirements.clone(),
        };
        let texts = texts.iter();
        let requirements: Vec<StackRequirement> = texts
            .map(|text| StackRequirement::parse(text))
            .collect::<Result<_, _>>()?;
        for (at, own) in requirements.iter().enumerate() {
            if own.name == PYTHON || requirements[..at].iter().any(|it| it.name == own.name) {
                return Err(CliError::input(format!("{} is given twice", own.name)).hint(
                    "write one requirement per package, and versions of Python as --python 3.12",
                ));
            }
        }
        let pythons = match (self.python.as_slice(), &listed) {
            (_, Some(listed)) => listed.pythons(files)?,
            ([], None) => vec![StackPython::find(None, files)?],
            (some, None) => some
                .iter()
                .map(|version| StackPython::find(Some(version), files))
                .collect::<Result<_, _>>()?,
        };
        let texts = requirements.iter().map(|it| it.text.clone());
        let mut file = StackFile::new(texts.collect(), self.seed);
        let all = match &listed {
            Some(listed) => listed.levels(&pythons),
            None => self.combinations(&requirements, &pythons, &mut file, context)?,
        };
        self.resolve((&requirements, &pythons), all, &mut file, context)?;
        // An earlier file is worth more than one without stacks.
        if !file.stacks.is_empty() {
            write_output(&self.output, file.text()?, context)?;
        }
        self.show(&file, context)?;
        Ok(if file.stacks.is_empty() {
            ExitStatus::NotEnough
        } else {
            ExitStatus::Fine
        })
    }

    /// Returns every combination of the versions that there are.
    fn combinations(
        &self,
        requirements: &[StackRequirement],
        pythons: &[StackPython],
        file: &mut StackFile,
        context: &Context,
    ) -> Result<Vec<Levels>, CliError> {
        let mut all: Vec<Levels> = Vec::new();
        let bar = progress::bar(
            "listing versions",
            requirements.len() * pythons.len(),
            context,
        );
        for python in pythons {
            let mut versions = BTreeMap::from([(PYTHON.to_owned(), vec![python.version.clone()])]);
            for requirement in requirements {
                match python.versions(requirement, self.latest, self.step)? {
                    Ok(own) => {
                        versions.insert(requirement.name.clone(), own);
                    }
                    Err(log) => {
                        let factors = [
                            (PYTHON, &python.version),
                            (&requirement.name, &requirement.text),
                        ];
                        file.unresolved.push(RefusedStack {
                            factors: factors
                                .map(|(name, version)| (name.to_owned(), version.clone()))
                                .into(),
                            state: RefusedState::Unresolved,
                            log,
                        });
                        versions.insert(requirement.name.clone(), Vec::new());
                    }
                }
                bar.inc(1);
            }
            all.extend(combinations(&versions, Seed(self.seed))?);
        }
        bar.finish_and_clear();
        Ok(all)
    }

    /// Asks for the packages of the combinations, until there are enough.
    fn resolve(
        &self,
        (requirements, pythons): (&[StackRequirement], &[StackPython]),
        all: Vec<Levels>,
        file: &mut StackFile,
        context: &Context,
    ) -> Result<(), CliError> {
        let wanted = self.count.unwrap_or(usize::MAX);
        let bar = progress::bar("resolving", wanted.min(all.len()), context);
        let mut choice = StackChoice::new(all, self.new, self.measured(context)?);
        while file.stacks.len() < wanted
            && let Some(factors) = choice.next_stack()
        {
            bar.inc(1);
            let Some(python) = pythons.iter().find(|it| factors[PYTHON] == it.version) else {
                continue;
            };
            let pins = requirements.iter().flat_map(|it| {
                let version = &factors[&it.name];
                // The requirement itself has extras and markers.
                [it.text.clone(), format!("{}=={version}", it.name)]
            });
            match python.resolve(&pins.collect::<Vec<_>>())? {
                Ok(packages) => {
                    choice.take(&factors);
                    let pairs = packages.iter();
                    file.stacks.push(ResolvedStack {
                        lock: lock_digest(pairs.map(|it| (it.name.as_str(), it.version.as_str()))),
                        packages: packages.iter().map(PinnedPackage::line).collect(),
                        factors,
                    });
                }
                Err(log) => file.unresolved.push(RefusedStack {
                    factors,
                    state: RefusedState::Unresolved,
                    log,
                }),
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Returns the levels of the runs of the store, if only new stacks are wanted.
    fn measured(&self, context: &Context) -> Result<Vec<Levels>, CliError> {
        if self.new.is_none() || !context.store.exists() {
            return Ok(Vec::new());
        }
        let store = open_for_reading(context)?;
        let runs = store.catalogue().runs(&Filter::default())?;
        let runs = runs.into_iter().filter(|it| it.instances > 0);
        Ok(runs.map(|it| it.head.levels).collect())
    }

    fn show(&self, file: &StackFile, context: &Context) -> Result<(), CliError> {
        let stacks = file.stacks.iter().map(|stack| StackFields {
            name: stack_name(&stack.factors),
            factors: &stack.factors,
            packages: &stack.packages,
            lock: &stack.lock,
        });
        let unresolved = file.unresolved.iter().map(|refused| UnresolvedFields {
            name: stack_name(&refused.factors),
            factors: &refused.factors,
            state: refused.state.text(),
            log: &refused.log,
        });
        let answer = StacksAnswer {
            requirements: &file.requirements,
            seed: file.seed,
            stacks: stacks.collect(),
            unresolved: unresolved.collect(),
            file: (!file.stacks.is_empty()).then_some(self.output.as_path()),
            program: context.program(),
        };
        let written = answer.file.map(|_| &self.output);
        context.show_beside(written, &answer.answer()?, &self.answer)?;
        Ok(())
    }
}
