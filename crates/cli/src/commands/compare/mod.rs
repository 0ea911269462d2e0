//! `lapwing compare`: changes between two or more sides.

mod control;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::judge::{
    COILED_RESAMPLES, CompareMethod, CompareOptions, Comparison, GateOutcome, HAIL_REPLICATES,
    SampleSplit, SideSamples, SuiteComparison, Verdict, failing, self_test,
};
use lapwing_analyse::sample::{KnownSides, RunKey, SampleFilter, SideSpec};
use lapwing_model::text::{counted, first_names, plural, shell_word};
use lapwing_model::{GateCondition, GateRule};
use lapwing_record::RunHead;
use lapwing_show::GateTests;
use lapwing_show::answers::campaign::JudgedAttempt;
use lapwing_show::answers::compare::{
    CompareAnswer, CompareSelfTestAnswer, ControlResult, HailAnswer, Unused, unused_note,
};
use lapwing_show::chart::threshold_map;

pub use self::control::control_result;
use super::import::ReadingOptions;
use crate::cleaning::{AuditedCleaning, JudgingOptions, TriageOption};
use crate::commands::campaign::CampaignOption;
use crate::commands::run::next_step_of_latest;
use crate::comparing::{
    FoundSides, GatheredSides, StatisticsOptions, compared_metrics, gather, named_benchmarks,
    parse_side,
};
use crate::error::{CliError, ExitStatus};
use crate::hints::known_sides_text;
use crate::main_runs::MainOption;
use crate::options::{
    AnswerOptions, Context, ExportOptions, FilterOptions, GateFiles, NamedValue, check_output,
    check_plot, gate_rules, one_of, write_output,
};
use crate::profile::Compat;
use crate::progress;
use crate::self_testing::SelfTestOption;
use crate::store::open_for_reading;
use lapwing_show::writing::{NextStep, Note};

/// Compare a baseline with one or more candidates
///
/// A side is `variant:fast`, `version:2.1`, `commit:ab12`, `run:ID`, `session:NAME`,
/// `benchmark:NAME` (of the latest session, against another benchmark), `file:old.json` (another store,
/// or results in any format that `lapwing import` reads), or conditions as of --where: `last 10 of main`,
/// `variant=fast since=2w`. A word without a prefix is looked up, last as a Git revision such as
/// `main` or `HEAD~3` in the repository under test. The ratio is candidate / baseline, so above 1 is slower. A
/// verdict needs at least 3 instances per side.
#[derive(Debug, Args)]
pub struct CompareCommand {
    /// The baseline, then the candidates
    #[arg(value_name = "SIDE", value_parser = parse_side)]
    sides: Vec<SideSpec>,
    /// Split one side into two parts and compare them, as a control where nothing changed [default
    /// side: the latest session]
    #[arg(long, value_name = "HOW", value_parser = one_of(&SPLITS), help_heading = "Sides")]
    split: Option<SampleSplit>,
    /// Make each side the baseline in turn, instead of only the first
    #[arg(long, conflicts_with_all = ["split", "compat"], help_heading = "Sides")]
    each_baseline: bool,
    #[command(flatten, next_help_heading = "Files")]
    reading: ReadingOptions,
    /// Pair the instances of each host that the sides share, instead of blocks or sessions; needs
    /// three such hosts, else instances are compared
    #[arg(long, conflicts_with_all = ["split", "compat"], help_heading = "Sides")]
    pair_hosts: bool,
    /// Exit with code 1 if one of these occurs; separate several with commas, and write `regression:peak_memory` for
    /// one metric. The suite file may say something else of a benchmark
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = gate_rules(&CONDITIONS), conflicts_with = "self_test")]
    fail_on: Vec<GateRule>,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compat", "self_test"])]
    plot: Option<PathBuf>,
    /// Kind of chart [default: ratios; heatmap for many comparisons of several candidates]
    #[arg(long, value_name = "KIND", requires = "plot", value_parser = one_of(&PLOT_KINDS), help_heading = "Output")]
    plot_kind: Option<PlotKind>,
    #[command(flatten)]
    self_test: SelfTestOption,
    #[command(flatten)]
    answer: AnswerOptions,
    #[command(flatten)]
    export: ExportOptions,
    /// Also write a comment for a pull request to this Markdown file: what differs, and the rest folded
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compat", "self_test"], help_heading = "Output")]
    export_markdown: Option<PathBuf>,
    /// Address of a report, to which that comment links
    #[arg(
        long,
        value_name = "URL",
        requires = "export_markdown",
        help_heading = "Output"
    )]
    report_url: Option<String>,
    #[command(flatten)]
    campaign: CampaignOption,
    #[command(flatten)]
    files_of_ci: GateFiles,
    #[command(flatten)]
    statistics: StatisticsOptions,
    #[command(flatten)]
    cleaning: AuditedCleaning,
    #[command(flatten)]
    triage: TriageOption,
    #[command(flatten)]
    main: MainOption,
    #[command(flatten)]
    filters: FilterOptions,
}

/// Conditions that fail a gate.
pub const CONDITIONS: [NamedValue<GateCondition>; 8] = [
    (
        "regression",
        "A regression, or a benchmark missing from the candidate",
        GateCondition::Regression,
    ),
    (
        "failures",
        "A benchmark that fails more often than in the baseline",
        GateCondition::Failures,
    ),
    (
        "worse-in-runs",
        "A benchmark that is worse in the compared files of one process each; another process may differ",
        GateCondition::WorseInRuns,
    ),
    (
        "inconclusive",
        "A benchmark that is undecided",
        GateCondition::Inconclusive,
    ),
    ("improvement", "An improvement", GateCondition::Improvement),
    (
        "change",
        "A regression, an improvement, or a change of a metric without a direction",
        GateCondition::Change,
    ),
    (
        "equivalent",
        "A benchmark that does not change",
        GateCondition::Equivalent,
    ),
    (
        "not-measured",
        "A benchmark of which a side has no value",
        GateCondition::NotMeasured,
    ),
];

const SPLITS: [NamedValue<SampleSplit>; 2] = [
    (
        "halves",
        "First half against second half, in the order measured: also shows drift",
        SampleSplit::Halves,
    ),
    (
        "alternating",
        "Every other instance",
        SampleSplit::Alternating,
    ),
];

/// The kind of a chart of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlotKind {
    Ratios,
    HeatMap,
    Coiled,
}

const PLOT_KINDS: [NamedValue<PlotKind>; 3] = [
    (
        "ratios",
        "Ratios with their intervals, below each other",
        PlotKind::Ratios,
    ),
    (
        "heatmap",
        "Benchmarks against candidates, in strong colours where the verdict is decided",
        PlotKind::HeatMap,
    ),
    (
        "coiled",
        "Coiled's heat map: benchmarks against thresholds, coloured by the share of bootstrap resamples beyond them",
        PlotKind::Coiled,
    ),
];

/// Fewer different A/A pairs say nothing of an error rate.
const FEWEST_PAIRS: f64 = 20.0;

impl CompareCommand {
    /// Gathers the sides, compares them, and shows the results.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        self.sides = named_benchmarks(&self.sides, context)?;
        check_plot(self.plot.as_deref())?;
        self.export.check()?;
        self.files_of_ci.check(context)?;
        let is_other = self.self_test.self_test || self.cleaning.compat.is_some();
        if is_other && self.files_of_ci.paths().next().is_some() {
            return Err(CliError::input(
                "--junit and --sarif do not apply to --self-test and --compat",
            ));
        }
        if let Some(path) = &self.export_markdown {
            check_output(path, context)?;
        }
        if self.campaign.campaign.is_some()
            && (is_other || self.split.is_some() || self.each_baseline)
        {
            return Err(
                CliError::input("an attempt of a campaign is one comparison of two sides")
                    .hint("remove --campaign, or the options for other comparisons"),
            );
        }
        let judging = JudgingOptions {
            reading: Some(self.reading.options()),
            main: self.main.choice(),
            is_effect_asked: self.statistics.smallest_effect.is_some(),
            ..self.triage.over(self.cleaning.judging()?)
        };
        let options = self.statistics.options(&judging);
        let gathered = self.gather(&self.sides, &judging, context)?;
        if self.self_test.self_test {
            return self.test_itself(gathered, &options, context);
        }
        if self.cleaning.compat == Some(Compat::Hail) {
            self.statistics.refuse()?;
            return self.compare_as_hail(gathered, &options, context);
        }
        let mut rounds = vec![gathered];
        if self.each_baseline {
            for baseline in 1..self.sides.len() {
                let mut sides = self.sides.clone();
                sides[..=baseline].rotate_right(1);
                rounds.push(self.gather(&sides, &judging, context)?);
            }
        }
        let mut comparisons: Vec<Comparison> = Vec::new();
        let mut suites: Vec<SuiteComparison> = Vec::new();
        let mut notes: Vec<Note> = Vec::new();
        for round in &rounds {
            let mut compared = round.samples.compare(&round.names, &options);
            let GatheredSides { samples, names, .. } = round;
            samples.tell_drifts(&mut compared, names, options.seed);
            comparisons.extend(compared);
            suites.extend(round.samples.suites(&round.names, options.confidence));
            for note in &round.notes {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
        }
        let as_coiled = self.plot_kind == Some(PlotKind::Coiled);
        let coiled = as_coiled.then(|| {
            let compared = rounds.iter().flat_map(|round| {
                let GatheredSides { samples, names, .. } = round;
                samples.compare_as_coiled(names, COILED_RESAMPLES, options.seed)
            });
            threshold_map(&compared.collect::<Vec<_>>())
        });
        let control = if self.split.is_some() {
            None
        } else {
            let filter = self.filters.filter()?;
            let metrics = compared_metrics(&filter, self.cleaning.profile());
            control_result(
                &self.sides,
                &filter,
                &metrics,
                (&judging, &options),
                context,
            )?
        };
        notes.extend(control.iter().map(ControlResult::note));
        // What is excluded of the sides is the same in each round.
        let GatheredSides {
            names,
            samples,
            mut unused,
            ..
        } = rounds.swap_remove(0);
        let is_by_method = |it: &Comparison| it.ratio.is_some() && !it.is_exact;
        if options.method != CompareMethod::Default && !comparisons.iter().any(is_by_method) {
            unused.options.push("--method");
        }
        notes.extend(unused_note(Unused {
            metrics: samples.unused_metrics().clone(),
            benchmarks: samples.unused_benchmarks(&names),
            ..unused
        }));
        let attempt = self
            .campaign
            .compared(&comparisons, options.confidence, context)?;
        notes.extend(attempt.as_ref().map(JudgedAttempt::note));
        let answer = CompareAnswer {
            names,
            each_baseline: self.each_baseline,
            suites,
            options,
            notes,
            next: self.next_step(&comparisons, context)?.into_iter().collect(),
            comparisons,
            control,
            audit: samples.into_audit(),
            detail: self.cleaning.detail(),
        };
        let files = self.files_of_ci.paths().chain(&self.export_markdown);
        context.show_beside(files, &answer, &self.answer)?;
        self.export.write_answer(&answer, &self.answer, context)?;
        let failing = failing(&self.fail_on, &answer.comparisons);
        let tests = GateTests::compared(&answer.comparisons, &failing);
        self.files_of_ci.write(&tests, context)?;
        if let Some(path) = &self.export_markdown {
            let comment = answer.comment(self.report_url.as_deref())?;
            write_output(path, comment, context)?;
        }
        if let Some(path) = &self.plot {
            let chart = match self.plot_kind {
                None => answer.chart(),
                Some(PlotKind::Ratios) => answer.ratios(),
                Some(PlotKind::HeatMap) => answer.change_map(),
                Some(PlotKind::Coiled) => coiled.unwrap_or_else(|| answer.chart()),
            };
            chart.save(path)?;
        }
        Ok(gate_status(&self.fail_on, &answer.comparisons, context))
    }

    /// Returns the command that measures again what more instances decide.
    fn next_step(
        &self,
        comparisons: &[Comparison],
        context: &Context,
    ) -> Result<Option<NextStep>, CliError> {
        let is_open = comparisons.iter().any(|it| it.needed_in_total().is_some());
        if !is_open || self.split.is_some() {
            return Ok(None);
        }
        let effect = self.statistics.smallest_effect;
        next_step_of_latest(&self.sides, &self.filters.filter()?, effect, context)
    }

    /// Shows what the comparison does on A/A pairs made of the measurements.
    fn test_itself(
        &self,
        gathered: GatheredSides,
        options: &CompareOptions,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let GatheredSides {
            names,
            samples,
            mut notes,
            unused,
        } = gathered;
        notes.extend(unused_note(unused));
        let two: Result<[String; 2], _> = names.clone().try_into();
        let is_own = self.cleaning.compat.is_none() && !self.each_baseline;
        let Some(two) = two.ok().filter(|_| is_own) else {
            let what = "--self-test takes a baseline and one candidate, without --compat and --each-baseline";
            return Err(CliError::input(what));
        };
        let slowdowns = self.self_test.slowdowns();
        let spinner = progress::spinner("comparing shuffled measurements", context);
        let test = self_test(&samples, &names, options, &slowdowns);
        spinner.finish_and_clear();
        if test.rows.is_empty() {
            let what = "a self-test needs 3 instances per side of a benchmark";
            return Err(CliError::not_enough(what));
        }
        if test.pairs < FEWEST_PAIRS {
            let what = format!(
                "only {:.0} different A/A pairs can be made of these measurements; a self-test needs {FEWEST_PAIRS:.0}",
                test.pairs
            );
            let hint =
                "take sides with more instances, or with more sessions where these are judged";
            return Err(CliError::not_enough(what).hint(hint));
        }
        let answer = CompareSelfTestAnswer {
            names: two,
            test,
            slowdowns,
            options: *options,
            notes,
        };
        context.show(&answer, &self.answer)
    }

    /// Compares by the method of Hail's `analyze_benchmarks`.
    fn compare_as_hail(
        &self,
        gathered: GatheredSides,
        options: &CompareOptions,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let is_unknown = |rule: &GateRule| rule.condition != GateCondition::Regression;
        if self.fail_on.iter().any(is_unknown) {
            let what = "`--compat hail` has no other condition than `regression`";
            return Err(CliError::input(what).hint("use `--fail-on regression`"));
        }
        let GatheredSides {
            names,
            samples,
            mut notes,
            unused,
        } = gathered;
        notes.extend(unused_note(unused));
        let CompareOptions {
            confidence, seed, ..
        } = *options;
        let lacking = samples.lacking(&names);
        let candidate_lacks = lacking.iter().any(|(_, is_candidate)| *is_candidate);
        let mut lacking: Vec<String> = lacking.into_iter().map(|(name, _)| name).collect();
        lacking.dedup();
        let answer = HailAnswer {
            comparisons: samples.compare_as_hail(&names, HAIL_REPLICATES, confidence, seed),
            names,
            lacking,
            confidence,
            notes,
            audit: samples.into_audit(),
            detail: self.cleaning.detail(),
        };
        context.show(&answer, &self.answer)?;
        let mut verdicts = answer.comparisons.iter().map(|it| it.verdict());
        let regressed = verdicts.any(|verdict| verdict == Verdict::Regression);
        let is_gate = !self.fail_on.is_empty();
        Ok(if is_gate && (regressed || candidate_lacks) {
            ExitStatus::Judged
        } else if answer.comparisons.is_empty() {
            ExitStatus::NotEnough
        } else {
            ExitStatus::Fine
        })
    }

    fn gather(
        &self,
        sides: &[SideSpec],
        judging: &JudgingOptions,
        context: &Context,
    ) -> Result<GatheredSides, CliError> {
        let rules = &judging.rules;
        let filter = self.filters.filter()?;
        let metrics = compared_metrics(&filter, self.cleaning.profile());
        match self.split {
            Some(split) => {
                let mut samples = SideSamples::of_split(split);
                let side = self.one_side(&filter, context)?;
                let found = FoundSides::find(&[side], &filter, judging, context)?;
                found.sides.each_benchmark(&filter, |data, places_of| {
                    samples.add(data, rules, &metrics, places_of);
                })?;
                let notes = found.notes(&filter, rules)?;
                Ok(GatheredSides {
                    names: split.part_names(&found.sides.sides[0].name).into(),
                    samples,
                    notes,
                    unused: found.unused(judging),
                })
            }
            None => {
                self.check_number_of_sides(&filter, context)?;
                let mut found = gather(sides, &filter, &metrics, judging, context)?;
                if self.pair_hosts {
                    let left = found.samples.pair_by_host();
                    if left > 0 {
                        let text = format!(
                            "--pair-hosts needs three hosts that both sides share, and {} {} fewer: {} compared as without it, and what is found holds \
                             for these hosts only",
                            counted(left, "comparison"),
                            plural(left, "has", "have"),
                            plural(left, "it is", "they are")
                        );
                        let note = Note::marked("few_hosts", text);
                        found.notes.push(note.with("comparisons", left));
                    }
                }
                Ok(found)
            }
        }
    }

    /// Returns the side to split: the given one, or the latest session.
    fn one_side(&self, filter: &SampleFilter, context: &Context) -> Result<SideSpec, CliError> {
        match self.sides.as_slice() {
            [side] => Ok(side.clone()),
            [] => {
                let store = open_for_reading(context)?;
                let runs = store.catalogue().runs(&filter.resolve(&store)?)?;
                let Some(latest) = runs.first() else {
                    return Err(nothing_measured());
                };
                let side = format!("session:{}", latest.head.session);
                side.parse::<SideSpec>().map_err(CliError::input)
            }
            _ => Err(
                CliError::input("--split divides one side in two, but several are given")
                    .hint("name one side, or omit --split"),
            ),
        }
    }

    fn check_number_of_sides(
        &self,
        filter: &SampleFilter,
        context: &Context,
    ) -> Result<(), CliError> {
        if self.sides.len() >= 2 {
            return Ok(());
        }
        let what = match self.sides.len() {
            0 => "name a baseline and a candidate",
            _ => "name a candidate besides the baseline",
        };
        let known = match open_for_reading(context) {
            Ok(store) => {
                let filter = filter.resolve(&store)?;
                let runs = store.catalogue().runs(&filter)?.into_iter();
                let heads: Vec<RunHead> = runs.map(|run| run.head).collect();
                let known = known_sides_text(&KnownSides::among(&heads, None));
                let benchmarks = store.catalogue().benchmarks(&filter)?;
                let keys = [RunKey::Variant, RunKey::Version];
                let states: BTreeSet<_> = heads.iter().map(|it| keys.map(|key| key.of(it))).collect();
                match &benchmarks[..] {
                    [first, second, ..] if states.len() == 1 => {
                        let words = [first, second].map(|it| shell_word(&it.benchmark)).join(" ");
                        format!("{known}; benchmarks are sides, too: `lapwing compare {words}`")
                    }
                    _ => known,
                }
            }
            Err(_no_store) => {
                "two files can be compared: `lapwing compare old.json new.json`; two commits or settings in one file after \
                 `lapwing import FILE`: `lapwing compare commit:ab12 commit:cd34`"
                    .to_owned()
            }
        };
        Err(CliError::input(what).hint(known))
    }
}

fn nothing_measured() -> CliError {
    CliError::input("no measurement passes these filters")
        .hint("`lapwing list` shows the contents of the store")
}

/// Returns the exit code of a gate, and explains it if the verdicts do not.
pub fn gate_status(
    rules: &[GateRule],
    comparisons: &[Comparison],
    context: &Context,
) -> ExitStatus {
    let note = |why: &str| context.terminal.note(why);
    let spared = comparisons.iter().filter(|it| it.is_spared(rules));
    let mut spared: Vec<&str> = spared.map(|it| it.subject.benchmark.as_str()).collect();
    spared.dedup();
    if !spared.is_empty() {
        note(&format!(
            "fails no gate by the suite file (fail_on): {}",
            first_names(spared.iter().copied(), 4)
        ));
    }
    match GateOutcome::new(rules, comparisons) {
        GateOutcome::Passed => return ExitStatus::Fine,
        GateOutcome::NothingJudged => return ExitStatus::NotEnough,
        GateOutcome::NoMetric => {
            note(
                "--fail-on judged nothing of a metric that it names: no comparison is of that metric (--metric NAME compares another one)",
            );
            return ExitStatus::NotEnough;
        }
        GateOutcome::NoDirection => {
            note(
                "--fail-on judged nothing: no metric says whether more of it is better, so that no change is a regression or an improvement",
            );
            return ExitStatus::NotEnough;
        }
        GateOutcome::OnlyGraded => {
            note(
                "--fail-on regression judged nothing: a regression needs 3 instances per side; --fail-on worse-in-runs judges these files alone",
            );
            return ExitStatus::NotEnough;
        }
        GateOutcome::Met(GateCondition::Failures) => note(
            "--fail-on failures fails because a benchmark fails more often than in the baseline",
        ),
        GateOutcome::Met(GateCondition::Inconclusive) => {
            note("--fail-on inconclusive fails because a benchmark is undecided");
        }
        GateOutcome::Met(_) => {}
        GateOutcome::Lacking => note(
            "--fail-on regression fails because the candidate lacks a benchmark of the baseline, or has no usable values of it",
        ),
    }
    ExitStatus::Judged
}
