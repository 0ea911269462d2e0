//! `lapwing study optimise`: finds a good configuration in few runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use lapwing_measure::suite::parse_duration;
use lapwing_model::Level;
use lapwing_model::text::{counted, first_names};
use lapwing_record::InstanceData;
use lapwing_show::study::StudyMetricText;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{Table, TextAnswer};
use lapwing_stats::{Confidence, Ratio, Seed, ratio_of_means};
use lapwing_study::design::{
    BASE, MeasuredSettings, SettingSummary, StudyConfiguration, StudyDesign, StudySearch,
};
use lapwing_study::{StudyData, StudyMetric, StudyScale};
use serde::Serialize;
use serde_json::json;

use super::factors::StudySuite;
use super::options::StudyDataOptions;
use super::rounds::{PURPOSE, StudyRounds, listed_design};
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, within};
use crate::session::interrupts;

/// The purpose of the sessions of the final comparison, in their attribute.
const CONFIRMATION: &str = "confirmation";

/// Rows of the text.
const SHOWN: usize = 10;

/// Find a good configuration of the suite's factors in few runs
///
/// Measures balanced random configurations, then those that a model of all results expects most of,
/// until no improvement is expected any more. Finally measures the best one and the base
/// alternately, and compares them. Earlier results of the same factors count, so that the same
/// command continues an interrupted search.
#[derive(Debug, Args)]
pub struct StudyOptimise {
    /// Suite file [default: lapwing.toml]
    #[arg(id = "studied_suite", value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// Only vary this factor; can be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    factor: Vec<String>,
    /// Maximum number of instances before the final comparison, earlier ones included
    #[arg(long, value_name = "N", value_parser = within(2..=4096, "write a number from 2 to 4,096"), default_value_t = 60)]
    runs: usize,
    /// Finish within this time, the final comparison included
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Configurations per round after the first one
    #[arg(long, value_name = "N", value_parser = within(1..=64, "write a number from 1 to 64"), default_value_t = 4)]
    batch: usize,
    /// Stop when no further configuration is expected to be better by this share
    #[arg(long, value_name = "SHARE", value_parser = parse_change, default_value = "1%")]
    improvement: f64,
    /// Instances of the best configuration and of the base in the final comparison, 0 for none
    #[arg(long, value_name = "N", value_parser = within(0..=1000, "write a number from 0 to 1,000"), default_value_t = 8)]
    confirm: usize,
    /// Iterations per instance, after burn-in [default: the suite's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iterations: Option<u32>,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Seed of random choices and of the order of measuring
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Name of the sessions
    #[arg(long, value_name = "NAME", default_value = "optimise")]
    name: String,
    #[command(flatten)]
    data: StudyDataOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

/// Why the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum SearchEnd {
    NoImprovement,
    Runs,
    Budget,
    Exhausted,
}

impl SearchEnd {
    fn text(self) -> &'static str {
        match self {
            Self::NoImprovement => "no further configuration is expected to be better",
            Self::Runs => "the number of runs is reached: --runs adds more",
            Self::Budget => "the time is over: the same command continues",
            Self::Exhausted => "every feasible configuration was measured",
        }
    }
}

/// The measurements in the store.
struct SearchState {
    measured: MeasuredSettings,
    metric: Option<StudyMetric>,
    /// The number of instances and failed configurations of the search, without the final comparison.
    runs: usize,
}

#[derive(Default, Serialize)]
struct SettingRow {
    configuration: String,
    instances: usize,
    mean: f64,
    expected: Option<f64>,
    expected_deviation: Option<f64>,
    change: Option<f64>,
}

impl StudyOptimise {
    /// Searches, confirms, and shows the result.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let study = StudySuite::load(self.suite.as_deref())?;
        let factors = study.factors(&self.factor)?;
        let benchmark = self.only_benchmark(&study)?;
        let search = StudySearch::new(factors, self.improvement.ln_1p(), Seed(self.seed));
        let search = search.map_err(CliError::input)?;
        let search = search.ok_or_else(|| CliError::input("there is no factor to vary"))?;
        let mut own = OptimisationRun {
            rounds: StudyRounds {
                suite_file: study.path.clone(),
                benchmark: self.data.filters.benchmark.clone(),
                iterations: self.iterations,
                time_limit: self.time_limit,
                name: Some(self.name.clone()),
                ..StudyRounds::default()
            },
            command: &self,
            study: &study,
            benchmark,
            search,
            started: Instant::now(),
            lost: Vec::new(),
            best: None,
        };
        let Some(end) = own.search(context)? else {
            context
                .terminal
                .say("interrupted: the same command continues");
            return Ok(ExitStatus::Interrupted);
        };
        if !own.confirm(context)? {
            context
                .terminal
                .say("interrupted: the same command continues");
            return Ok(ExitStatus::Interrupted);
        }
        own.show(end, context)
    }

    fn only_benchmark(&self, study: &StudySuite) -> Result<String, CliError> {
        let plan = study.plan(&self.data.filters.benchmark);
        match plan.cases.as_slice() {
            [case] => Ok(case.benchmark.id.clone()),
            [] => Err(CliError::input("no benchmark of the suite is chosen")),
            several => {
                let ids = several.iter().map(|it| format!("`{}`", it.benchmark.id));
                Err(CliError::input(format!(
                    "a search is about one benchmark, and several could be meant: {}",
                    first_names(ids, 10)
                ))
                .hint("name one with --benchmark"))
            }
        }
    }
}

/// A search under way.
struct OptimisationRun<'a> {
    command: &'a StudyOptimise,
    study: &'a StudySuite,
    benchmark: String,
    search: StudySearch,
    rounds: StudyRounds,
    started: Instant,
    /// Configurations that could not be measured at all.
    lost: Vec<Vec<usize>>,
    /// The best configuration at the end of the search, which the final comparison is about.
    best: Option<SettingSummary>,
}

impl OptimisationRun<'_> {
    /// Measures until a rule ends the search; `None` if interrupted.
    fn search(&mut self, context: &Context) -> Result<Option<SearchEnd>, CliError> {
        let base = vec![0; self.search.factors.len()];
        loop {
            let state = self.state(context)?;
            let attempts = state.runs;
            let left = self.command.runs.saturating_sub(attempts);
            if left == 0 {
                return Ok(Some(SearchEnd::Runs));
            }
            let first = self
                .search
                .first_runs
                .saturating_sub(state.measured.tried());
            let count = first.max(self.command.batch).min(left);
            if self.is_late(count) {
                return Ok(Some(SearchEnd::Budget));
            }
            let step = self.search.next(&state.measured, count);
            let Some(step) = step.map_err(CliError::input)? else {
                return Ok(Some(SearchEnd::Exhausted));
            };
            let has_base = !state.measured.of_run(&base).is_empty();
            let is_open = !has_base && !state.measured.failed.contains(&base);
            if step.is_done && !is_open {
                return Ok(Some(SearchEnd::NoImprovement));
            }
            let mut runs: Vec<Vec<usize>> = Vec::new();
            let proposed = step.proposed.into_iter().map(|it| it.run);
            for run in is_open.then(|| base.clone()).into_iter().chain(proposed) {
                if runs.len() < count && !runs.contains(&run) {
                    runs.push(run);
                }
            }
            self.say_round(&state, runs.len(), context);
            let seed = self.command.seed.wrapping_add(attempts as u64);
            let design = self.design(runs.clone(), 1, seed)?;
            let status = self.rounds.measure(&design, "search", context)?;
            if status == ExitStatus::Interrupted || interrupts().count() > 0 {
                return Ok(None);
            }
            let after = self.state(context)?;
            if after.metric.is_none() && after.measured.failed.is_empty() {
                return Err(self.no_values());
            }
            let after = after.measured;
            let is_lost = |run: &Vec<usize>| {
                after.of_run(run).len() == state.measured.of_run(run).len()
                    && !after.failed.contains(run)
            };
            self.lost.extend(runs.into_iter().filter(is_lost));
        }
    }

    fn no_values(&self) -> CliError {
        let metrics = &self.command.data.filters.metric;
        let of_metric = match metrics.first() {
            Some(metric) => format!(" of `{metric}`"),
            None => String::new(),
        };
        CliError::not_enough(format!("no configuration has a usable value{of_metric}"))
            .hint("`lapwing list metrics` lists the measured metrics")
    }

    /// Measures the best configuration and the base alternately; `false` if interrupted.
    fn confirm(&mut self, context: &Context) -> Result<bool, CliError> {
        let wanted = self.command.confirm;
        let state = self.state(context)?;
        self.best = self.search.summaries(&state.measured).into_iter().next();
        let best = self.best.as_ref().map(|own| own.run.clone());
        let Some(best) = best.filter(|run| run.iter().any(|level| *level > 0)) else {
            return Ok(true);
        };
        let compared = self.confirmation(&best, context)?;
        let fewest = compared.iter().map(Vec::len).min().unwrap_or(0);
        if fewest >= wanted {
            return Ok(true);
        }
        let more = wanted - fewest;
        if !context.quiet {
            context.terminal.say(&format!(
                "final comparison: {} of {} and of the base, alternately",
                counted(more, "instance"),
                self.name(&best)
            ));
        }
        let runs = vec![vec![0; best.len()], best];
        let seed = self.command.seed.wrapping_add(fewest as u64);
        let design = self.design(runs, u32::try_from(more).unwrap_or(1), seed)?;
        let status = self.rounds.measure(&design, CONFIRMATION, context)?;
        Ok(status != ExitStatus::Interrupted && interrupts().count() == 0)
    }

    fn design(
        &self,
        runs: Vec<Vec<usize>>,
        replicates: u32,
        seed: u64,
    ) -> Result<StudyDesign, CliError> {
        let suite = (self.study.suite.name.as_str(), self.study.path.as_path());
        listed_design(suite, &self.search.factors, runs, replicates, seed)
    }

    /// Returns whether a round of so many instances and the final comparison would take too long.
    fn is_late(&self, count: usize) -> bool {
        let rest = self.rounds.expected(count + 2 * self.command.confirm);
        let budget = self.command.budget;
        budget.is_some_and(|budget| self.started.elapsed() + rest > budget)
    }

    fn name(&self, run: &[usize]) -> String {
        StudyConfiguration::new(&self.search.factors, run).name
    }

    fn say_round(&self, state: &SearchState, count: usize, context: &Context) {
        if context.quiet {
            return;
        }
        let best = self.search.summaries(&state.measured).into_iter().next();
        let best = match (best, &state.metric) {
            (Some(own), Some(metric)) => {
                let value = metric.value_text(StudyScale::Log, response_of(metric, own.mean));
                format!("; best so far {} ({value})", self.name(&own.run))
            }
            (_, _) => String::new(),
        };
        context.terminal.say(&format!(
            "round of {}, {} of at most {} runs measured{best}",
            counted(count, "configuration"),
            state.runs,
            self.command.runs
        ));
    }

    /// Reads what was measured until now.
    fn state(&self, context: &Context) -> Result<SearchState, CliError> {
        let data = self.read(context, |_| true)?;
        let mut measured = data
            .as_ref()
            .map_or_else(MeasuredSettings::default, |data| {
                MeasuredSettings::of(data, &self.search.factors)
            });
        measured.failed.extend(self.lost.iter().cloned());
        let compared = self.read(context, is_confirmation)?;
        let compared = compared.map_or(0, |data| data.instances.len());
        Ok(SearchState {
            runs: measured.attempts().saturating_sub(compared),
            measured,
            metric: data.map(|data| data.metric),
        })
    }

    /// Reads the responses of the final comparison: of the base, and of the best configuration.
    fn confirmation(&self, best: &[usize], context: &Context) -> Result<[Vec<f64>; 2], CliError> {
        let mut sides = [Vec::new(), Vec::new()];
        let Some(data) = self.read(context, is_confirmation)? else {
            return Ok(sides);
        };
        let sessions: BTreeSet<usize> = data.instances.iter().map(|own| own.session).collect();
        for session in sessions {
            let instances = data.instances.iter().filter(|own| own.session == session);
            let part = StudyData {
                instances: instances.cloned().collect(),
                ..data.clone()
            };
            // Other sessions compared the base with another configuration.
            let own = MeasuredSettings::of(&part, &self.search.factors);
            if !own.of_run(best).is_empty() {
                sides[0].extend(own.of_run(&vec![0; best.len()]));
                sides[1].extend(own.of_run(best));
            }
        }
        Ok(sides)
    }

    /// Reads the instances with the factors of the suite as they are now.
    fn read(
        &self,
        context: &Context,
        is_wanted: impl Fn(&InstanceData) -> bool,
    ) -> Result<Option<StudyData>, CliError> {
        let place = (self.study.suite.name.as_str(), self.benchmark.as_str());
        let is_current = |instance: &InstanceData| {
            self.search.factors.iter().all(|factor| {
                let known = instance.run.definitions.get(&factor.name);
                let is_absent = instance.run.factors.get(&factor.name) == Some(&Level::Bool(false));
                is_absent || known.is_none_or(|own| *own == factor.definition)
            })
        };
        let options = &self.command.data;
        options.of_instances(place, context, |own| is_current(own) && is_wanted(own))
    }

    fn show(&self, end: SearchEnd, context: &Context) -> Result<ExitStatus, CliError> {
        let state = self.state(context)?;
        let found = self.search.summaries(&state.measured);
        let (Some(best), Some(metric)) = (&self.best, &state.metric) else {
            return Err(self.no_values());
        };
        let compared = self.confirmation(&best.run, context)?;
        let ratio = ratio_of(metric, &compared);
        let change = |own: &SettingSummary| {
            let base = found
                .iter()
                .find(|it| it.run.iter().all(|level| *level == 0))?;
            let change = own.expected?.mean - base.expected?.mean;
            Some(response_of(metric, change))
        };
        let rows: Vec<SettingRow> = found
            .iter()
            .map(|own| SettingRow {
                configuration: self.name(&own.run),
                instances: own.instances,
                mean: StudyScale::Log.cost(response_of(metric, own.mean)),
                expected: own
                    .expected
                    .map(|it| StudyScale::Log.cost(response_of(metric, it.mean))),
                expected_deviation: own.expected.map(|it| it.deviation),
                change: change(own),
            })
            .collect();
        let headline = self.headline(best, metric, ratio, &compared);
        let configuration = StudyConfiguration::new(&self.search.factors, &best.run);
        let json = json!({
            "best": configuration,
            "metric": metric.name,
            "comparison": ratio.map(|it| json!({
                "ratio": it.ratio,
                "lower": it.interval.lower,
                "upper": it.interval.upper,
                "p_value": it.p_value,
                "instances": compared.each_ref().map(Vec::len),
                "is_distinguishable": is_sure(&it),
            })),
            "ended_by": end,
            "runs": state.runs,
            "configurations": rows,
            "failed": state.measured.failed.iter().map(|run| self.name(run)).collect::<Vec<_>>(),
        });
        let text = TextAnswer {
            headline,
            table: table(metric, &rows),
            notes: self.notes(end, &state, rows.len(), context),
        };
        crate::answer::write_parts(text, &json, &rows, self.command.answer.format, context)
    }

    fn headline(
        &self,
        best: &SettingSummary,
        metric: &StudyMetric,
        ratio: Option<Ratio>,
        compared: &[Vec<f64>; 2],
    ) -> String {
        let name = self.name(&best.run);
        if name == BASE {
            return "the base is the best configuration found".to_owned();
        }
        let Some(ratio) = ratio else {
            return format!("best configuration found: {name}; not compared with the base");
        };
        let change = ratio.ratio.ln();
        let interval = lapwing_stats::Interval {
            lower: ratio.interval.lower.ln(),
            upper: ratio.interval.upper.ln(),
        };
        let text = metric.change_with_interval(StudyScale::Log, change, Some(interval));
        let [base, own] = compared.each_ref().map(Vec::len);
        let sizes = format!("{own} and {base} instances, alternately");
        match (is_sure(&ratio), metric.is_gain(StudyScale::Log, change)) {
            (false, _) => format!(
                "best configuration found: {name}, not distinguishable from the base: {text} ({sizes})"
            ),
            (true, true) => {
                format!("best configuration found: {name}, {text} against the base ({sizes})")
            }
            (true, false) => format!(
                "best configuration found: {name}, but worse than the base in the final comparison: {text} ({sizes})"
            ),
        }
    }

    fn notes(
        &self,
        end: SearchEnd,
        state: &SearchState,
        configurations: usize,
        context: &Context,
    ) -> Vec<String> {
        let mut notes = vec![format!(
            "{} of {} measured; {}",
            counted(state.measured.instances.len(), "instance"),
            counted(configurations, "configuration"),
            end.text()
        )];
        if !state.measured.failed.is_empty() {
            let names = state.measured.failed.iter().map(|run| self.name(run));
            notes.push(format!(
                "{} without a usable value: {}",
                counted(state.measured.failed.len(), "configuration"),
                first_names(names, 5)
            ));
        }
        let broken: Vec<String> = (state.measured.broken_levels().into_iter())
            .map(|(factor, level)| self.search.factors[factor].level_name(level))
            .collect();
        if !broken.is_empty() {
            notes.push(format!(
                "never worked, so not tried any more: {}",
                first_names(broken, 5)
            ));
        }
        notes.push("`expected` is by the model of all results, which shrinks lucky values; the final comparison rests on its own instances alone".to_owned());
        notes.push(format!(
            "`{} study findings` explains the effects",
            context.program()
        ));
        notes
    }
}

fn is_confirmation(instance: &InstanceData) -> bool {
    let kept = instance.session.attributes.get(StudyDesign::ATTRIBUTE);
    kept.is_some_and(|it| it[PURPOSE] == CONFIRMATION)
}

/// Returns the logarithm of a cost from its response, and back.
fn response_of(metric: &StudyMetric, response: f64) -> f64 {
    if metric.is_gain(StudyScale::Log, -1.0) {
        response
    } else {
        -response
    }
}

/// Returns best / base of the final comparison.
fn ratio_of(metric: &StudyMetric, compared: &[Vec<f64>; 2]) -> Option<Ratio> {
    let [base, best] = compared.each_ref().map(|own| {
        let costs = own.iter().map(|it| response_of(metric, *it).exp());
        costs.collect::<Vec<f64>>()
    });
    ratio_of_means(&base, &best, Confidence::P95)
}

fn is_sure(ratio: &Ratio) -> bool {
    !ratio.interval.contains(1.0)
}

fn table(metric: &StudyMetric, rows: &[SettingRow]) -> Table {
    let mut table = Table::new(&[
        ("configuration", Left),
        ("instances", Right),
        ("mean", Right),
        ("expected", Right),
        ("against base", Right),
    ]);
    let value = |cost: f64| metric.value_text(StudyScale::Time, cost);
    for own in rows.iter().take(SHOWN) {
        table.row(vec![
            own.configuration.clone(),
            own.instances.to_string(),
            value(own.mean),
            own.expected.map_or("–".to_owned(), value),
            own.change.map_or("–".to_owned(), |it| {
                metric.change_text(StudyScale::Log, it)
            }),
        ]);
    }
    table
}
