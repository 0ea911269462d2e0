//! `lapwing burn-in`: the first steady iteration of each benchmark, and the cost of burn-in.

mod plot;
mod read;
mod review;
mod suite;
mod terminal_plot;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::explain::{KeptValues, SteadyStartSearch};
use lapwing_measure::suite::burn_in_file::unknown_names;
use lapwing_measure::suite::{burn_in_file, parse_duration};
use lapwing_record::Filter;
use lapwing_show::answers::burn_in::{BurnInAnswer, UseOfStarts, burn_in_notes};
use lapwing_show::answers::{not_judged, not_judged::NotJudged};
use lapwing_show::writing::Note;
use lapwing_stats::steady::{BurnInOptions, MaxCost};

use crate::cleaning::SuiteOption;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions, check_plot, is_stdout};
use crate::store::{note_retired, open_for_reading};
use crate::suite::{suite_file, suite_update};

/// Detect warm-up: the first steady iteration per benchmark, and the cost of burn-in
#[derive(Debug, Args)]
pub struct BurnIn {
    #[command(flatten)]
    filters: FilterOptions,
    /// Choose the burn-in so that this share of the instances that become steady is steady after it
    #[arg(long, value_name = "SHARE", value_parser = parse_quantile, default_value = "0.9")]
    quantile: f64,
    /// Maximum burn-in per instance: a time such as 30s, or `5 iterations`
    #[arg(long, value_name = "COST", value_parser = parse_max_cost)]
    max_cost: Option<MaxCost>,
    #[command(flatten)]
    answer: AnswerOptions,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Read the first steady iteration per benchmark from this file (JSON or YAML, name to index);
    /// benchmarks that it lacks are detected [default: `burn_in_file` in the suite's [judge] table]
    #[arg(long, value_name = "FILE", help_heading = "Manual choice")]
    burn_in_file: Option<PathBuf>,
    /// Review the benchmarks one by one: accept the proposal, or enter another number
    #[arg(long, requires = "output", help_heading = "Manual choice")]
    review: bool,
    /// Write the first steady iterations to this file, .json or .yaml; `-` is standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Manual choice")]
    output: Option<PathBuf>,
    #[command(flatten)]
    suite: SuiteOption,
    /// Write the result into a suite file [default file: lapwing.toml]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "lapwing.toml", help_heading = "Manual choice")]
    update_suite: Option<PathBuf>,
}

fn parse_quantile(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(quantile) if (0.0..=1.0).contains(&quantile) => Ok(quantile),
        Ok(_) | Err(_) => Err("write a number from 0 to 1, such as 0.9".to_owned()),
    }
}

fn parse_max_cost(text: &str) -> Result<MaxCost, String> {
    let counted = text
        .strip_suffix("iterations")
        .or_else(|| text.strip_suffix("iteration"));
    match counted {
        Some(number) => {
            let number = number.trim().parse().map(MaxCost::Iterations);
            number.map_err(|_no_number| "write `5 iterations`".to_owned())
        }
        None => parse_duration(text).map(|time| MaxCost::Sum(time.as_secs_f64())),
    }
}

impl BurnIn {
    /// Detects the starts, offers them for review, shows them and writes them.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_plot(self.plot.as_deref())?;
        let listed = self.listed()?;
        let suite = self.update_suite.as_deref();
        let suite = suite.map(suite_update::load).transpose()?;
        if self.review && self.output.iter().any(|path| is_stdout(path)) {
            return Err(
                CliError::input("a review writes every answer at once, into a file")
                    .hint("name one: `-o burn-in.json`"),
            );
        }
        let search = self.search(context);
        let store = open_for_reading(context)?;
        let filter = self.filters.filter()?.resolve(&store)?;
        note_retired(&store, &filter, context)?;
        let (mut rows, others) = read::read(&store, &filter, &search, &listed, context)?;
        if rows.is_empty() {
            return Err(nothing(&others));
        }
        if let Some(path) = self.plot.as_deref() {
            plot::check_number(path, &rows)?;
        }
        let known = store.catalogue().benchmarks(&Filter::default())?;
        let writer = match &self.output {
            Some(path) => Some(write::BurnInWriter::new(path, &known, context)?),
            None => None,
        };
        let mut complete = true;
        if self.review
            && let Some(writer) = &writer
        {
            complete = review::review(&mut rows, writer, context)?;
        }
        let use_of_starts = if self.output.is_some() || self.update_suite.is_some() {
            UseOfStarts::Written
        } else {
            UseOfStarts::Shown
        };
        let mut notes = burn_in_notes(&rows, use_of_starts);
        let known = known.iter().map(|row| row.benchmark.as_str());
        let unknown = unknown_names(&listed, known).into_iter();
        notes.extend(unknown.map(|text| Note::marked("unknown_names", text)));
        notes.extend(not_judged::note(&others).map(Note::mark));
        let answer = BurnInAnswer {
            rows,
            not_judged: others,
            notes,
            has_legend: !context.quiet,
        };
        context.show_beside(&self.output, &answer, &self.answer)?;
        if let Some(path) = self.plot.as_deref() {
            plot::save(path, &answer)?;
        }
        if let Some(writer) = &writer
            && !self.review
        {
            writer.write_all(&answer.rows, context)?;
        }
        if let Some(suite) = suite
            && complete
        {
            suite::update(suite, &answer.rows, context)?;
        }
        Ok(ExitStatus::Fine)
    }

    fn search(&self, context: &Context) -> SteadyStartSearch {
        SteadyStartSearch {
            burn_in: BurnInOptions {
                quantile: self.quantile,
                max_cost: self.max_cost,
                ..BurnInOptions::default()
            },
            keep: if self.review || self.plot.is_some() || context.for_notebook {
                KeptValues::Values
            } else {
                KeptValues::Starts
            },
        }
    }

    /// Returns the starts of the burn-in file: the named one, else that of the default suite file.
    fn listed(&self) -> Result<BTreeMap<String, u32>, CliError> {
        if let Some(path) = &self.burn_in_file {
            return Ok(burn_in_file::read(path)?);
        }
        let Some(suite) = self.suite.path() else {
            return Ok(BTreeMap::new());
        };
        match suite_file::judging(&suite, "may name a burn-in file")?.burn_in_file {
            // It may be named before this command has written it.
            Some(path) if path.exists() => Ok(burn_in_file::read(&path)?),
            Some(_) | None => Ok(BTreeMap::new()),
        }
    }
}

fn nothing(others: &[NotJudged]) -> CliError {
    let cause = match not_judged::names(others) {
        Some(names) => format!("no burn-in to detect for {names}"),
        None => "no burn-in to detect: no benchmark passes the filters".to_owned(),
    };
    CliError::not_enough(cause).hint("`lapwing list` shows the contents of the store")
}
