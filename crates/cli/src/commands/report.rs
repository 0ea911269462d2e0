//! `lapwing report`: all measurements as a static site.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use lapwing_analyse::detect::{DetectOptions, Histories, SelfTestOptions};
use lapwing_analyse::judge::Verdict;
use lapwing_analyse::sample::{MainChoice, SampleFilter, SideSpec, each_batch};
use lapwing_model::text::{counted, first_names};
use lapwing_model::{Id, Run};
use lapwing_record::{Filter, Retired, Store, StoreError, TraceHead};
use lapwing_show::answers::audit::AuditDetail;
use lapwing_show::answers::compare::{ControlResult, Unused, unused_note};
use lapwing_show::answers::written::{self, WrittenAnswer};
use lapwing_show::into_base_units;
use lapwing_show::report::{
    ChangesView, ComparisonView, DetectionTarget, DirectoryError, ReportContents, ReportOptions,
    ReportRemarks, ReportWriter,
};
use lapwing_show::writing::{AnswerFormat, Note};
use lapwing_trace::SpanReader;

use super::import::ReadingOptions;
use crate::cleaning::{AuditOption, CleaningOptions, JudgingOptions, TriageOption};
use crate::commands::advise::reported::StoredStacks;
use crate::commands::compare::control_result;
use crate::commands::run::next_step_of_latest;
use crate::comparing::{GatheredSides, StatisticsOptions, compared_metrics, gather, parse_side};
use crate::error::{CliError, ExitStatus};
use crate::main_runs::MainOption;
use crate::options::{Context, FilterOptions, is_stdout};
use crate::profile::Profile;
use crate::progress::bar_of_many;
use crate::store::{note_unknown_names, open_for_reading, retired_notes};

/// Write an HTML report that a browser can open without a server
#[derive(Debug, Args)]
pub struct ReportCommand {
    /// Files, glob patterns or directories with results in any format that `lapwing import` reads, to show
    /// instead of the store
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output folder; an existing report in it is replaced
    #[arg(long, short, value_name = "FOLDER", default_value = "lapwing-report")]
    output: PathBuf,
    /// Compare a baseline with one or more candidates, as `lapwing compare` does, on a page of its
    /// own and on each benchmark's page
    #[arg(long, value_name = "SIDE", num_args = 2.., value_parser = parse_side)]
    compare: Vec<SideSpec>,
    /// Keep every iteration: as a table on each benchmark's page, and those of older runs in its
    /// charts
    #[arg(long)]
    raw: bool,
    /// Also test the detection of changes on these histories, as `lapwing detect --self-test` does, on the
    /// page of changes
    #[arg(long)]
    self_test: bool,
    /// Open the report in a browser
    #[arg(long)]
    open: bool,
    #[command(flatten, next_help_heading = "Files")]
    reading: ReadingOptions,
    #[command(flatten)]
    main: MainOption,
    #[command(flatten)]
    statistics: StatisticsOptions,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    cleaning: CleaningOptions,
    #[command(flatten)]
    triage: TriageOption,
    #[command(flatten)]
    audit: AuditOption,
}

impl ReportCommand {
    /// Returns the name of what the report is made from.
    fn source(&self, context: &Context) -> String {
        let files: Vec<String> = self
            .files
            .iter()
            .map(|it| it.display().to_string())
            .collect();
        match files.is_empty() {
            true => context.store.display().to_string(),
            false => first_names(&files, 3),
        }
    }

    /// Writes the report and prints the path of its index.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if is_stdout(&self.output) {
            return Err(
                CliError::input("a report is a folder of pages, and not standard output")
                    .hint("name a folder, such as `-o lapwing-report`"),
            );
        }
        if self.files.is_empty() {
            return self.write(context);
        }
        let files = context.files(&self.files, &self.reading.options())?;
        self.write(&files.context(context))
    }

    fn write(self, context: &Context) -> Result<ExitStatus, CliError> {
        let asked = self.filters.filter()?;
        let judging = JudgingOptions {
            main: self.main.choice(),
            is_effect_asked: self.statistics.smallest_effect.is_some(),
            ..self.triage.over(self.cleaning.judging()?)
        };
        let mut comparisons = self.comparisons(&self.compare, &asked, &judging, context)?;
        let store = open_for_reading(context)?;
        let disregarded = judging.honour(&store)?;
        let filter = asked.resolve_in(&store, &judging.repository())?;
        let mut notes = retired_notes(&store.catalogue().left_out(&filter)?);
        notes.extend(disregarded);
        if self.compare.is_empty() {
            note_unknown_names(&store, &judging.rules, context)?;
        }
        let total = store.catalogue().benchmarks(&filter)?.len();
        if total == 0 && asked != SampleFilter::default() {
            return Err(CliError::input("no benchmarks match all of these filters")
                .hint("`lapwing list` shows the contents of the store"));
        }
        let (mut changes, mut contents, judged) =
            self.changes(&store, &filter, &asked, &judging)?;
        if self.compare.is_empty() && !changes.has_answer() {
            // What is too young for a history can be compared, if that is decided by enough instances.
            let sides = usual_sides(&store, &filter, &changes)?;
            let is_judged =
                |view: &ComparisonView| view.comparisons.iter().any(|it| it.ratio.is_some());
            let found = self.comparisons(&sides, &asked, &judging, context)?;
            comparisons = found.filter(|(view, _)| is_judged(view));
        }
        changes.call_program(context.program());
        changes.note_runs(&judged);
        notes.extend(judged);
        let bar = bar_of_many("writing", total, context);
        let usual = DetectionTarget::default();
        let rules = judging.rules;
        let options = ReportOptions {
            title: title(&store, &filter)?,
            made: format!(
                "Made by lapwing {} from {}. Intervals are 95 % confidence intervals over instances.",
                env!("CARGO_PKG_VERSION"),
                self.source(context)
            ),
            rules: rules.clone(),
            metrics: filter.metrics.clone(),
            detect: DetectionTarget {
                target: judging.smallest_effect.map_or(usual.target, |it| 1.0 + it),
                confidence: judging.confidence.unwrap_or(usual.confidence),
                ..usual
            },
            raw: self.raw,
        };
        let mut writer = ReportWriter::create(&self.output, options).map_err(directory_error)?;
        writer.changes(changes);
        let traces = newest_traces(&store, &filter)?;
        contents.traces = !traces.is_empty();
        let stacks = match contents.stacks {
            true => StoredStacks::read(&store, &filter)?,
            false => None,
        };
        contents.stacks = stacks.is_some();
        writer.contents(contents);
        if let Some((view, remarks)) = comparisons {
            notes.extend(remarks);
            writer.comparisons(view);
        }
        writer.remarks(ReportRemarks {
            all: store.annotations().all()?,
            retired: store.catalogue().left_out(&filter)?.instances,
            shown: filter.retired,
        });
        each_batch(&store, &filter, |benchmarks| -> Result<(), CliError> {
            let count = benchmarks.len() as u64;
            writer.add(benchmarks).map_err(directory_error)?;
            bar.inc(count);
            Ok(())
        })?;
        for head in &traces {
            let mut reader = SpanReader::default();
            store.each_span(head.instance, |span| reader.add(span))?;
            writer
                .add_trace(head, &reader.finish())
                .map_err(directory_error)?;
        }
        if let Some(stacks) = stacks {
            let program = context.program();
            let written = stacks.show(&rules, &program, |view| writer.add_stacks(view));
            written.map_err(directory_error)?;
        }
        let written = writer.finish().map_err(directory_error)?;
        bar.finish_and_clear();
        if self.open {
            open_in_browser(&written.index, context);
        }
        // Scripts read the path.
        if context.quiet && context.format == AnswerFormat::Text {
            writeln!(context.terminal.out(), "{}", written.index.display())?;
            return Ok(ExitStatus::Fine);
        }
        if self.audit.detail() == AuditDetail::All {
            let page = written.index.with_file_name("cleaning.html");
            let text = format!("exclusions are listed in {}", page.display());
            let note = Note::marked("exclusions", text);
            notes.push(note.with("page", page.display().to_string()));
        }
        let benchmarks = counted(written.benchmarks, "benchmark");
        let answer = WrittenAnswer {
            kind: &written::REPORT,
            path: &written.index,
            counts: [
                ("benchmarks", written.benchmarks as u64),
                ("traces", traces.len() as u64),
            ]
            .into(),
            contents: format!(" ({benchmarks})"),
            notes: written.conclusions.into_iter().chain(notes).collect(),
            next: Vec::new(),
        };
        let mut answer = answer.answer()?;
        answer.verdict = written.verdict.map(Verdict::name);
        context.tell(&answer)
    }

    /// Finds the changes in the history, which pages there is something for, and which runs are not judged. They are known once all benchmarks were read,
    /// but are part of every page, so everything is read twice; that takes about a twentieth of the time of the
    /// report.
    fn changes(
        &self,
        store: &Store,
        filter: &Filter,
        asked: &SampleFilter,
        judging: &JudgingOptions,
    ) -> Result<(ChangesView, ReportContents, Vec<Note>), CliError> {
        let metrics = compared_metrics(asked, Profile::of(None));
        // Retired results may be shown, but they do not count.
        let filter = Filter {
            retired: Retired::LeaveOut,
            ..filter.clone()
        };
        let usual = MainChoice::DefaultBranch;
        let judged = (self.main).judged(store, &filter, asked, judging, usual)?;
        let mut histories = Histories::in_order(judged.history);
        let mut contents = ReportContents::default();
        each_batch(store, &filter, |mut benchmarks| {
            for data in &mut benchmarks {
                contents.add(ReportContents::of(data));
                into_base_units(data);
                // Runs that are not judged are in no history, and on the pages.
                histories.add(data, &judging.rules, &metrics);
            }
            Ok::<(), StoreError>(())
        })?;
        let options = self.statistics.options(judging);
        let seed = options.seed;
        let options = DetectOptions {
            false_discovery_rate: options.false_discovery_rate,
            smallest_effect: self.statistics.smallest_effect,
            ..DetectOptions::default()
        };
        let remarks = store.annotations().all()?;
        let mut view = ChangesView::of(histories, &judging.suite, options, &remarks);
        if self.self_test {
            view.test_itself(SelfTestOptions {
                seed,
                ..SelfTestOptions::default()
            });
        }
        view.count_commits(|after, up_to| judging.number_of_commits(after, up_to));
        view.link_commits(|commit| judging.remote_with(commit));
        view.describe_commits(|after, up_to, most| judging.commits_after(after, up_to, most));
        Ok((view, contents, judged.notes))
    }

    /// Compares these sides, if there are any.
    fn comparisons(
        &self,
        sides: &[SideSpec],
        filter: &SampleFilter,
        judging: &JudgingOptions,
        context: &Context,
    ) -> Result<Option<(ComparisonView, Vec<Note>)>, CliError> {
        if sides.is_empty() {
            return Ok(None);
        }
        let metrics = compared_metrics(filter, Profile::of(None));
        let gathered = gather(sides, filter, &metrics, judging, context)?;
        let options = self.statistics.options(judging);
        let mut notes = gathered.notes;
        let control = control_result(sides, filter, &metrics, (judging, &options), context)?;
        notes.extend(control.iter().map(ControlResult::note));
        let GatheredSides {
            samples,
            names,
            unused,
            ..
        } = gathered;
        notes.extend(unused_note(Unused {
            metrics: samples.unused_metrics().clone(),
            benchmarks: samples.unused_benchmarks(&names),
            ..unused
        }));
        let mut comparisons = samples.compare(&names, &options);
        samples.tell_drifts(&mut comparisons, &names, options.seed);
        let is_open = comparisons.iter().any(|it| it.needed_in_total().is_some());
        let effect = self.statistics.smallest_effect;
        let next = match is_open {
            true => next_step_of_latest(sides, filter, effect, context)?,
            false => None,
        };
        let view = ComparisonView {
            next,
            comparisons,
            suites: samples.suites(&names, options.confidence),
            options,
            notes: notes.iter().map(|note| note.text.clone()).collect(),
        };
        Ok(Some((view, notes.into_iter().map(Note::mark).collect())))
    }
}

/// Returns the sides that are compared where none are named and no history is long enough to judge: the variants of the
/// only session, or the last two sessions; of the runs that are judged.
fn usual_sides(
    store: &Store,
    filter: &Filter,
    judged: &ChangesView,
) -> Result<Vec<SideSpec>, CliError> {
    /// More variants are a study or a table, not an A/B.
    const MOST_VARIANTS: usize = 4;
    let mut runs = store.catalogue().runs(filter)?;
    runs.retain(|run| judged.has_run(&run.head.id));
    // The catalogue begins with the newest; of one session, with what was recorded last.
    runs.reverse();
    let suites: BTreeSet<&str> = runs.iter().map(|run| run.head.suite.as_str()).collect();
    let mut sessions: Vec<(Id, Option<&str>)> = Vec::new();
    let mut variants: Vec<&str> = Vec::new();
    for run in &runs {
        let head = &run.head;
        let session = (head.session, head.session_name.as_deref());
        if !sessions.contains(&session) {
            sessions.push(session);
        }
        if !variants.contains(&head.variant.as_str()) {
            variants.push(&head.variant);
        }
    }
    let has_levels = runs.iter().any(|run| !run.head.levels.is_empty());
    if suites.len() != 1 || has_levels {
        return Ok(Vec::new());
    }
    let reference = ["baseline", Run::DEFAULT_VARIANT].into_iter();
    let reference = reference
        .filter_map(|name| variants.iter().position(|it| *it == name))
        .next();
    if let Some(at) = reference {
        let reference = variants.remove(at);
        variants.insert(0, reference);
    }
    let texts: Vec<String> = match (sessions.as_slice(), variants.len()) {
        ([_], 2..=MOST_VARIANTS) => variants.iter().map(|it| format!("variant:{it}")).collect(),
        // Sessions without a name would be called by their ids, and those of one name would be the same side.
        ([.., (_, Some(before)), (_, Some(latest))], 1) if before != latest => {
            [before, latest].map(|it| format!("session:{it}")).to_vec()
        }
        _ => Vec::new(),
    };
    let sides = texts.iter().map(|text| parse_side(text));
    sides
        .collect::<Result<_, _>>()
        .map_err(|error| CliError::input(error.to_string()))
}

/// Returns the newest trace of each benchmark and variant, the newest first.
fn newest_traces(store: &Store, filter: &Filter) -> Result<Vec<TraceHead>, CliError> {
    let mut known = BTreeSet::new();
    let traces = store.catalogue().traces(filter)?.into_iter().rev();
    let newest = traces.filter(|it| known.insert((it.benchmark.clone(), it.variant.clone())));
    Ok(newest.collect())
}

/// Returns the suites and the day of the latest session of what is reported.
fn title(store: &Store, filter: &Filter) -> Result<String, CliError> {
    let runs = store.catalogue().runs(filter)?;
    let suites: BTreeSet<&str> = runs.iter().map(|run| run.head.suite.as_str()).collect();
    let Some(latest) = runs.iter().map(|run| run.head.started).max() else {
        return Ok("Lapwing report".to_owned());
    };
    Ok(format!(
        "{} · {}",
        first_names(suites, 3),
        latest.strftime("%Y-%m-%d")
    ))
}

/// Opens a page in the browser that is set up, if there is one.
fn open_in_browser(page: &Path, context: &Context) {
    let page = page.canonicalize().unwrap_or_else(|_gone| page.to_owned());
    let chosen = std::env::var("BROWSER").ok().into_iter();
    let usual = ["xdg-open", "open"].map(str::to_owned);
    for program in chosen.chain(usual) {
        let mut command = Command::new(&program);
        command
            .arg(&page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if command.spawn().is_ok() {
            return;
        }
    }
    context.terminal.note(&format!(
        "no browser was found; open {} in one, or set BROWSER",
        page.display()
    ));
}

fn directory_error(error: DirectoryError) -> CliError {
    let hint = match &error {
        DirectoryError::Occupied { .. } | DirectoryError::NoDirectory { .. } => {
            Some("name a new or empty folder: `lapwing report -o FOLDER`")
        }
        DirectoryError::Busy { .. } => {
            Some("wait until it has finished, or choose another directory with -o")
        }
        DirectoryError::Io { .. } => None,
    };
    CliError::input(error).hint_if(hint)
}
