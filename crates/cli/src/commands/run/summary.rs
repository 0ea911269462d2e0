//! The results of a session: sentences, then numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use lapwing_analyse::clean::{CleaningPolicy, LeftOut, clean};
use lapwing_analyse::explain::{Advice, advise};
use lapwing_analyse::judge::{EarlierComparisons, Estimate, SideSample, estimate};
use lapwing_analyse::sample::{GroupBy, Sample, SidePlace, each_benchmark, samples};
use lapwing_measure::suite::{Case, CommandLine, Plan};
use lapwing_model::COUNTED;
use lapwing_model::text::{counted, plural};
use lapwing_model::{Id, InstanceOutcome, Metric, MetricName, Run, Session};
use lapwing_record::{Filter, InstanceData, Store, StoreError};
use serde_json::{Value, json};

use super::advice_text;
use super::compare::{self, ComparedFamily};
use super::study_session::STUDY;
use crate::answer::write_json;
use crate::error::CliError;
use crate::options::Context;
use lapwing_measure::session::place_in;
use lapwing_show::answers::earlier_note;
use lapwing_show::chart::{ComparedValue, comparison};
use lapwing_show::writing::{Align, AnswerFormat, Table, markdown_text};
use lapwing_show::{EstimateText, VariantColours, cv_text, quantity};

/// The metric that variants are compared by where none is named.
const WALL_TIME: &str = "wall_time";

/// One benchmark in one variant.
pub struct Row {
    pub benchmark: String,
    pub variant: String,
    pub wall: Option<Estimate>,
    /// The metric that variants are compared by, with its estimate and its values.
    pub metric: Metric,
    pub compared: Option<Estimate>,
    pub side: SideSample,
    /// Whether it is the copy of another variant.
    pub is_control: bool,
    /// Whether its Python environment could not be built.
    is_unbuilt: bool,
    pub memory: Option<Estimate>,
    /// Whether a source kept summaries instead of samples.
    has_summaries: bool,
    /// The scheduler's words for instances whose jobs did not end well, and were not measured in another attempt.
    job_states: Vec<String>,
    /// Metrics that the program reported itself.
    pub own: Vec<(String, Metric, Estimate)>,
    pub advice: Vec<Advice>,
}

impl Row {
    /// Returns whether there is no value.
    fn has_nothing(&self) -> bool {
        self.wall.is_none() && self.own.is_empty()
    }

    /// Returns the wall time like a metric that the program reported.
    fn wall_time(&self) -> Option<(String, Metric, Estimate)> {
        Some(("wall_time".to_owned(), Metric::lower("s"), self.wall?))
    }
}

/// The results of a session.
pub struct Summary {
    pub rows: Vec<Row>,
    suite: String,
    /// The metric that variants are compared by.
    metric: MetricName,
    /// Earlier sessions of the benchmarks, if these are few.
    history: EarlierComparisons,
    /// Number of instances of earlier epochs, which are excluded.
    earlier: usize,
    variants: usize,
    ad_hoc: bool,
    /// Whether its variants are configurations of a study, which no comparison of each with the first explains.
    is_study: bool,
}

impl Summary {
    /// Reads the results of a session; its variants are compared by a metric, or by wall time.
    pub fn read(
        store: &Store,
        session: &Session,
        plan: &Plan,
        metric: Option<&str>,
    ) -> Result<Self, CliError> {
        Ok(Self {
            is_study: session.attributes.contains_key(STUDY),
            ..Self::of_session(store, session.id, plan, metric)?
        })
    }

    /// Reads the results of the session of that id.
    pub fn of_session(
        store: &Store,
        session: Id,
        plan: &Plan,
        metric: Option<&str>,
    ) -> Result<Self, CliError> {
        let mut found: BTreeMap<(usize, usize), Row> = BTreeMap::new();
        let mut earlier = 0;
        let filter = Filter::of_session(session).with_retired();
        each_benchmark(store, &filter, |data| {
            let places_of = |instance: &InstanceData| {
                let id = &instance.instance.benchmark.id;
                let place = place_in(plan, id, &instance.run).map(|(case, variant)| SidePlace {
                    group: case,
                    side: variant,
                    ..SidePlace::default()
                });
                place.into_iter().collect()
            };
            for sample in samples(&data, GroupBy::Side(&places_of)) {
                // The benchmark may have been changed before the session was resumed.
                earlier += sample.earlier_epoch;
                let (case, variant) = (sample.place.group, sample.place.side);
                let label = plan.variants[variant].label();
                let mut row = row(
                    &plan.cases[case],
                    &label,
                    &sample,
                    metric.unwrap_or(WALL_TIME),
                );
                row.is_control = plan.variants[variant].control_of.is_some();
                row.is_unbuilt = plan.variants[variant].python.is_some() && row.has_nothing();
                found.insert((case, variant), row);
            }
            Ok::<(), StoreError>(())
        })?;
        let rows: Vec<Row> = found.into_values().collect();
        let metric = metric.unwrap_or(WALL_TIME).to_owned();
        let benchmarks: BTreeSet<String> = match plan.variants.len() {
            0 | 1 => BTreeSet::new(),
            _ => rows.iter().map(|row| row.benchmark.clone()).collect(),
        };
        let sessions = BTreeSet::from([session]);
        let history =
            EarlierComparisons::of_few(store, &plan.suite, &benchmarks, &metric, &sessions)?;
        Ok(Self {
            rows,
            suite: plan.suite.clone(),
            metric,
            history,
            earlier,
            variants: plan.variants.len(),
            ad_hoc: plan.suite == lapwing_measure::suite::AdHoc::SUITE,
            is_study: false,
        })
    }

    /// Returns whether a benchmark failed in every iteration.
    pub fn has_failed(&self) -> bool {
        self.rows
            .iter()
            .any(|row| row.has_nothing() && (row.side.failures > 0 || row.is_unbuilt))
    }

    /// Returns whether no iteration succeeded.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(Row::has_nothing)
    }

    /// Shows it in the requested format.
    pub fn show(&self, format: AnswerFormat, context: &Context) -> Result<(), CliError> {
        match format {
            AnswerFormat::Text => self.text(context),
            AnswerFormat::Json | AnswerFormat::Markdown | AnswerFormat::Csv => {
                self.write(format, context, &mut context.terminal.out_as(format))
            }
        }
    }

    /// Writes it in a format for files.
    pub fn write(
        &self,
        format: AnswerFormat,
        context: &Context,
        out: &mut impl Write,
    ) -> Result<(), CliError> {
        match format {
            AnswerFormat::Text => self.text(context),
            AnswerFormat::Json => self.json(out),
            AnswerFormat::Markdown => self.markdown(out),
            AnswerFormat::Csv => Ok(self.table().csv(out)?),
        }
    }

    fn text(&self, context: &Context) -> Result<(), CliError> {
        let mut out = context.terminal.out();
        let mut table = Table::plain(&[Align::Left; 4]);
        let mut left_out = LeftOut::default();
        for row in &self.rows {
            left_out.add(&row.side.cleaned.left_out);
            let noise = |it: &Estimate| it.cv.map_or_else(String::new, cv_text);
            let [time, noise_of_time] = match &row.wall {
                Some(wall) => [wall.text("s"), noise(wall)],
                None if row.has_summaries => [
                    "–  (the source kept only summaries: `lapwing report` has them)".to_owned(),
                    String::new(),
                ],
                None if row.own.is_empty() => {
                    ["–  (no successful iteration)".to_owned(), String::new()]
                }
                None => ["–".to_owned(), String::new()],
            };
            let memory = row.memory.as_ref();
            table.row(vec![
                format!(" {}", self.label(row)),
                time,
                memory.map_or_else(String::new, |it| memory_text(it.value)),
                noise_of_time,
            ]);
            for (name, metric, estimate) in &row.own {
                table.row(vec![
                    format!("   {name}"),
                    estimate.text(&metric.unit),
                    String::new(),
                    noise(estimate),
                ]);
            }
        }
        if !context.quiet {
            writeln!(out)?;
        }
        table.text(&mut out)?;
        let sentences = self.sentences();
        if !sentences.is_empty() {
            writeln!(out)?;
        }
        for sentence in sentences {
            writeln!(out, " {sentence}")?;
        }
        drop(out);
        if !context.quiet {
            self.notes(context, &left_out);
        }
        Ok(())
    }

    fn notes(&self, context: &Context, left_out: &LeftOut) {
        let advice = advice_text::notes(&self.rows, |row| self.label(row));
        context.terminal.notes(advice);
        context.terminal.notes(self.jobs_note());
        context.terminal.notes(earlier_note(self.earlier));
        if !left_out.is_empty() {
            let text = left_out.text();
            // `3 burn-in iterations`, but `3 in interrupted instances`.
            let is_adjective = ![" in ", " of ", " without "]
                .iter()
                .any(|it| text.contains(it));
            let iterations = plural(left_out.total(), "iteration", "iterations");
            context.terminal.say(&match is_adjective {
                true => format!("excluded: {text} {iterations}"),
                false => format!("excluded {iterations}: {text}"),
            });
        }
    }

    /// Returns a note on instances whose jobs did not end well.
    fn jobs_note(&self) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for word in self.rows.iter().flat_map(|row| &row.job_states) {
            *counts.entry(word).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let words: Vec<String> = (counts.iter())
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        (all > 0).then(|| {
            format!(
                "{} did not end well: {}; `lapwing run --resume` measures those again that were lost or cancelled",
                counted(all, "instance"),
                words.join(", ")
            )
        })
    }

    /// Returns the label of a row.
    pub fn label(&self, row: &Row) -> String {
        if self.variants == 1 || row.variant == Run::DEFAULT_VARIANT {
            row.benchmark.clone()
        } else {
            format!("{}  {}", row.benchmark, row.variant)
        }
    }

    /// Draws the wall times to a file.
    pub fn plot(&self, path: &Path) -> Result<(), CliError> {
        let mut colours = VariantColours::default();
        let values: Vec<ComparedValue> = self
            .rows
            .iter()
            .filter_map(|row| {
                Some(ComparedValue {
                    name: self.label(row),
                    colour: colours.number(&row.variant),
                    estimate: row.wall?,
                })
            })
            .collect();
        comparison(&"wall_time".to_owned(), "s", &values).save(path)?;
        Ok(())
    }

    fn json(&self, out: &mut impl Write) -> Result<(), CliError> {
        let mut rows: Vec<Value> = Vec::new();
        for row in &self.rows {
            let memory = row
                .memory
                .map(|it| ("peak_memory".to_owned(), Metric::lower("B"), it));
            let wall = row.wall_time().into_iter();
            for (metric, kind, it) in wall.chain(memory).chain(row.own.iter().cloned()) {
                rows.push(json!({
                    "benchmark": row.benchmark,
                    "variant": row.variant,
                    "metric": metric,
                    "unit": kind.unit,
                    "value": it.value,
                    "lower": it.interval.map(|it| it.lower),
                    "upper": it.interval.map(|it| it.upper),
                    "instances": it.size.instances,
                    "iterations": it.size.iterations,
                    "cv": it.cv,
                    "cv_between": it.between,
                    "cv_within": it.within,
                    "left_out": row.side.cleaned.left_out.total(),
                }));
            }
        }
        write_json(&rows, out)
    }

    /// Writes rounded values with units, and the sentences of the comparison.
    fn markdown(&self, out: &mut impl Write) -> Result<(), CliError> {
        let mut table = Table::new(&[
            ("benchmark", Align::Left),
            ("metric", Align::Left),
            ("value", Align::Right),
            ("spread", Align::Right),
        ]);
        for row in &self.rows {
            let wall = row.wall_time().into_iter();
            let mut any = false;
            for (name, metric, it) in wall.chain(row.own.iter().cloned()) {
                any = true;
                table.row(vec![
                    self.label(row),
                    name,
                    it.text(&metric.unit),
                    it.cv.map_or_else(String::new, cv_text),
                ]);
            }
            if !any {
                let nothing = "–  (no successful iteration)".to_owned();
                table.row(vec![self.label(row), String::new(), nothing, String::new()]);
            }
        }
        table.markdown(out)?;
        let sentences = self.sentences();
        if !sentences.is_empty() {
            writeln!(out)?;
        }
        for sentence in sentences {
            writeln!(out, "- {}", markdown_text(&sentence))?;
        }
        Ok(())
    }

    /// Returns the comparisons as sentences; none of a study.
    fn sentences(&self) -> Vec<String> {
        if self.is_study {
            Vec::new()
        } else {
            let family = ComparedFamily {
                suite: &self.suite,
                metric: &self.metric,
                earlier: &self.history,
            };
            compare::sentences(&self.rows, self.variants, self.ad_hoc, &family)
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("benchmark", Align::Left),
            ("variant", Align::Left),
            ("metric", Align::Left),
            ("unit", Align::Left),
            ("value", Align::Right),
            ("lower", Align::Right),
            ("upper", Align::Right),
            ("instances", Align::Right),
            ("iterations", Align::Right),
            ("cv", Align::Right),
        ]);
        let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
        for row in &self.rows {
            let wall = row.wall_time().into_iter();
            for (name, metric, it) in wall.chain(row.own.iter().cloned()) {
                table.row(vec![
                    row.benchmark.clone(),
                    row.variant.clone(),
                    name,
                    metric.unit,
                    it.value.to_string(),
                    number(it.interval.map(|it| it.lower)),
                    number(it.interval.map(|it| it.upper)),
                    it.size.instances.to_string(),
                    it.size.iterations.to_string(),
                    number(it.cv),
                ]);
            }
        }
        table
    }
}

/// Returns the scheduler's words for the last attempts that did not end well.
fn job_states(instances: &[&InstanceData]) -> Vec<String> {
    let mut last: BTreeMap<u32, &InstanceData> = BTreeMap::new();
    for it in instances {
        let known = last.entry(it.instance.block).or_insert(it);
        if it.instance.attempt >= known.instance.attempt {
            *known = it;
        }
    }
    let ends = last.into_values().filter_map(|it| it.end.as_ref());
    let bad = ends.filter(|end| end.outcome != InstanceOutcome::Ok);
    bad.filter_map(|end| Some(end.observed.get("job_state")?.as_str()?.to_owned()))
        .collect()
}

/// Returns a peak memory as text. Exactly a power of two is what is reported for commands that need less.
fn memory_text(bytes: f64) -> String {
    let text = quantity(bytes, "B");
    if bytes.log2().fract() == 0.0 {
        format!("≤ {text}")
    } else {
        text
    }
}

fn row(case: &Case, variant: &str, sample: &Sample<'_>, compared: &str) -> Row {
    let instances = &sample.instances;
    let side = SideSample::of(sample, compared, CleaningPolicy::default());
    let mut declared = instances.iter().map(|it| it.run.metrics.get(compared));
    let metric = match compared {
        WALL_TIME => Metric::lower("s"),
        _ => declared.find_map(|it| it.cloned()).unwrap_or_default(),
    };
    let of = |metric: &str| {
        estimate(&clean(
            instances.iter().copied(),
            metric,
            CleaningPolicy::default(),
        ))
    };
    let mut names: Vec<&String> = instances
        .iter()
        .flat_map(|it| it.iterations.values.keys())
        // Time per unit of work is the inverse of the throughput.
        .filter(|name| {
            !["wall_time", "peak_memory"].contains(&name.as_str())
                && !COUNTED.contains(&name.as_str())
                && !name.starts_with("seconds_per_")
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let own = names
        .into_iter()
        .filter_map(|name| {
            // A later run declares metrics that appeared later.
            let mut declared = instances.iter().map(|it| it.run.metrics.get(name));
            let metric = declared.find_map(|it| it.cloned()).unwrap_or_default();
            Some((name.clone(), metric, of(name)?))
        })
        .collect();
    Row {
        benchmark: case.benchmark.id.clone(),
        variant: variant.to_owned(),
        wall: of(WALL_TIME),
        compared: estimate(&side.cleaned),
        metric,
        is_control: false,
        is_unbuilt: false,
        side,
        memory: of("peak_memory"),
        own,
        has_summaries: instances.iter().any(|it| !it.summaries.is_empty()),
        job_states: job_states(instances),
        advice: advise(instances, matches!(case.command, CommandLine::Shell(_))),
    }
}
