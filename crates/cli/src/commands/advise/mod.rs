//! `lapwing advise`: the best stack of package versions, with its evidence, and which to measure next.

pub mod files;
pub mod reported;

use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::sample::each_benchmark;
use lapwing_measure::stack::unresolved_stacks;
use lapwing_show::answers::advise::{AdviceAnswer, ExploreAnswer, model_notes};
use lapwing_show::study::chart;
use lapwing_show::writing::Note;
use lapwing_stats::Seed;
use lapwing_study::{
    Advice, AdviceKind, AdviceRules, GoalTerm, PackagePin, PackageRequirement, StackData,
    StackModel, goal_terms,
};

use crate::cleaning::CleaningOptions;
use crate::commands::stack::pins;
use crate::error::{CliError, ExitStatus};
use crate::options::{
    AnswerOptions, Context, FilterOptions, NamedValue, check_output, check_plot, extension, one_of,
    within, write_output,
};
use crate::store::{notes_on_retired, open_for_reading};

/// Advise a stack of package versions, with the evidence for it, or the next stacks to measure
///
/// A stack is a variant whose factors are packages, and `python`. Learns across the measured stacks, so that a stack
/// need not have been measured to be advised; docs/advise.md describes how.
#[derive(Debug, Args)]
pub struct AdviseCommand {
    /// Requirements that stacks have to fulfil: `numpy>=1.24,<2.3` [default: all measured packages]
    #[arg(value_name = "REQUIREMENT", value_parser = PackageRequirement::parse)]
    requirements: Vec<PackageRequirement>,
    /// Metric to optimise, or several with weights: `elapsed`, `elapsed=2,peak_memory=1`,
    /// `matmul:rate` [default: the only metric with a direction]
    #[arg(long, value_name = "GOAL")]
    goal: Option<String>,
    /// Type of advice
    #[arg(long = "type", value_name = "TYPE", value_parser = one_of(&KINDS), default_value = "performance")]
    kind: AdviceKind,
    /// Rules: a TOML file that excludes, requires or scores stacks
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Compare with the versions of this requirements or lock file
    #[arg(long, value_name = "FILE")]
    locked: Option<PathBuf>,
    /// Advise only stacks of this file, one per line: `numpy==1.26.4 python==3.12` [default: all
    /// combinations of measured versions]
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,
    /// Advise for the processor whose model contains TEXT [default: the one of the latest results]
    #[arg(long, value_name = "TEXT")]
    hardware: Option<String>,
    /// Propose the next stacks to measure instead
    #[arg(long, conflicts_with_all = ["kind", "locked", "plot"])]
    explore: bool,
    /// Number of stacks
    #[arg(long, value_name = "N", requires = "explore", default_value = "1", value_parser = within(1..=100, "a number from 1 to 100"))]
    count: usize,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    /// Write the advised versions as a requirements file, or the proposed stacks one per line; `-` is
    /// standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Which chart: `stacks` or `versions`
    #[arg(long, value_name = "NAME", requires = "plot", default_value = "stacks", value_parser = ["stacks", "versions"])]
    plot_kind: String,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    cleaning: CleaningOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

/// The default seed.
const SEED: u64 = 7;

const KINDS: [NamedValue<AdviceKind>; 4] = [
    (
        "performance",
        "The best expected goal",
        AdviceKind::Performance,
    ),
    (
        "latest",
        "The latest version of each package",
        AdviceKind::Latest,
    ),
    (
        "stable",
        "The best expected goal among measured stacks that never failed",
        AdviceKind::Stable,
    ),
    (
        "balanced",
        "The latest versions among stacks that never failed and are at most 2 % worse than the best of them",
        AdviceKind::Balanced,
    ),
];

impl AdviseCommand {
    /// Shows the advice, or the stacks to measure.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_plot(self.plot.as_deref())?;
        if let Some(path) = &self.output {
            check_output(path, context)?;
        }
        let rules = match &self.rules {
            Some(path) => files::rules(path)?,
            None => AdviceRules::default(),
        };
        let locked = self.locked.as_deref().map(files::lock).transpose()?;
        let listed = self.candidates.as_deref().map(files::stacks).transpose()?;
        let further: Vec<Vec<PackagePin>> =
            (listed.iter().flatten().chain(&locked)).cloned().collect();
        let (data, retired) = self.read(context, &further)?;
        let seed = Seed(self.seed);
        let model = StackModel::new(
            &data,
            &self.requirements,
            &rules,
            listed.as_deref(),
            self.hardware.as_deref(),
            seed,
        );
        let model = &model?;
        let mut notes = model_notes(model);
        notes.extend(retired);
        if self.explore {
            let stacks = model.explore(self.count, seed);
            if stacks.iter().any(|stack| stack.prediction.is_none()) {
                let text =
                    "few stacks are measured: those whose versions were measured least come first";
                notes.push(Note::new("few_stacks", text));
            }
            let mut answer = ExploreAnswer {
                model,
                stacks,
                notes,
            };
            if let Some(path) = &self.output {
                write_output(path, answer.lines(), context)?;
                let file = path.display().to_string();
                let note = Note::new("wrote", format!("wrote {file}"));
                answer.notes.push(note.with("file", file));
            }
            return context.show_beside(&self.output, &answer, &self.answer);
        }
        let pinned = locked.as_ref().and_then(|pins| data.pinned(pins));
        if locked.is_some() && pinned.is_none() {
            let text = "the locked versions do not name every package: no comparison with them";
            notes.push(Note::new("locked", text));
        }
        let advice = Advice::new(model, self.kind, pinned.as_deref()).map_err(|error| {
            CliError::not_enough(error).hint("measure more stacks, or ask for another --type")
        })?;
        let answer = AdviceAnswer {
            model,
            advice,
            notes,
        };
        match &self.plot {
            Some(path) if extension(path) == "html" => answer.save_page(path)?,
            Some(path) if self.plot_kind == "versions" => {
                chart::version_map(model, &answer.advice).save(path)?;
            }
            Some(path) => chart::stack_changes(model, &answer.advice).save(path)?,
            None => {}
        }
        if let Some(path) = &self.output {
            write_output(path, answer.requirements(), context)?;
        }
        context.show_beside(&self.output, &answer, &self.answer)
    }

    /// Returns the data, and notes on retired results.
    fn read(
        &self,
        context: &Context,
        more: &[Vec<PackagePin>],
    ) -> Result<(StackData, Vec<Note>), CliError> {
        let rules = self.cleaning.rules()?;
        let store = open_for_reading(context)?;
        let mut filter = self.filters.filter()?.resolve(&store)?;
        let notes = notes_on_retired(&store, &filter)?;
        // All metrics are read, because burn-in is detected from the wall time.
        let metrics = std::mem::take(&mut filter.metrics);
        let terms = match &self.goal {
            Some(text) => goal_terms(text)?,
            None => (metrics.into_iter())
                .map(|metric| GoalTerm {
                    benchmark: None,
                    metric,
                    weight: 1.0,
                })
                .collect(),
        };
        let mut benchmarks = Vec::new();
        each_benchmark(&store, &filter, |data| {
            let has_factors = data.instances.iter().any(|it| !it.run.factors.is_empty());
            if has_factors {
                benchmarks.push(data);
            }
            Ok::<(), lapwing_record::StoreError>(())
        })?;
        let mut data = StackData::of(&benchmarks, &terms, &self.requirements, more, &rules)?;
        for head in store.catalogue().session_heads()? {
            let session = store.catalogue().session(&head.id.to_string())?;
            let unresolved = unresolved_stacks(&session.attributes).into_iter();
            data.add_failed(&unresolved.map(pins).collect::<Vec<_>>());
        }
        Ok((data, notes))
    }
}
