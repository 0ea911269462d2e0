//! Options of all analyses of a study.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::sample::SampleFilter;
use lapwing_model::text::joined;
use lapwing_record::Store;
use lapwing_show::answers::study::StudyAnswer;
use lapwing_show::writing::{NextStep, Note, NotedAnswer};
use lapwing_study::design::StudyModel;
use lapwing_study::{StudyData, StudyScale};

use crate::cleaning::CleaningOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::{
    AnswerOptions, Context, FilterOptions, NamedValue, check_plot, extension, one_of,
};
use crate::store::{notes_on_retired, open_for_reading};

/// Options of all analyses of a study.
#[derive(Debug, Args)]
pub struct StudyOptions {
    /// Scale of the analysis: the same change is large in microseconds and small in tasks per
    /// second, or the other way round
    #[arg(long, value_name = "SCALE", value_parser = one_of(&SCALES))]
    pub scale: Option<StudyScale>,
    /// Only instances without this factor; separate several with commas
    #[arg(long, value_name = "FACTOR", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Write a chart to this .svg, .png or .html file; a page has the answer and all of its charts
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Which chart, if there are several [default: the first; on a page all]
    #[arg(long, value_name = "NAME", requires = "plot")]
    plot_kind: Option<String>,
    #[command(flatten)]
    pub data: StudyDataOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

/// The data of a study, with notes on what was excluded.
pub struct ReadStudy {
    pub data: StudyData,
    pub notes: Vec<Note>,
}

/// Options that choose the data of a study.
#[derive(Debug, Args)]
pub struct StudyDataOptions {
    #[command(flatten)]
    pub filters: FilterOptions,
    #[command(flatten)]
    pub cleaning: CleaningOptions,
}

/// Effects to estimate.
pub const MODELS: [NamedValue<StudyModel>; 2] = [
    ("main", "the effect of each factor", StudyModel::Main),
    (
        "pairs",
        "also how any two factors interact",
        StudyModel::Pairs,
    ),
];

const SCALES: [NamedValue<StudyScale>; 3] = [
    (
        "time",
        "The metric itself; of a rate its inverse",
        StudyScale::Time,
    ),
    (
        "rate",
        "How much is done per unit of time: the inverse",
        StudyScale::Rate,
    ),
    (
        "log",
        "The logarithm: changes are percentages, and factors multiply",
        StudyScale::Log,
    ),
];

impl StudyOptions {
    /// Returns whether everything is listed.
    pub fn is_full(&self) -> bool {
        self.answer.extent().full
    }

    /// Returns the data, restricted as the options say.
    pub fn read(&self, context: &Context) -> Result<ReadStudy, CliError> {
        let ReadStudy { data, notes } = self.all(context)?;
        let data = data.without(&self.without)?;
        Ok(ReadStudy { data, notes })
    }

    /// Returns the data with all factors; a chart that could not be saved is refused before.
    pub fn all(&self, context: &Context) -> Result<ReadStudy, CliError> {
        check_plot(self.plot.as_deref())?;
        let filter = self.data.filters.filter()?;
        self.data.read_with_notes(filter, context)
    }

    /// Saves the charts of an answer, if asked for, and writes it with notes on the choice of its data and next steps.
    pub fn show(
        &self,
        answer: &StudyAnswer<'_>,
        notes: &[Note],
        next: &[NextStep],
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        if let Some(path) = &self.plot {
            let mut charts = answer.charts.iter();
            match (&self.plot_kind, answer.charts.first()) {
                (Some(kind), _) => match charts.find(|(name, _)| name == kind) {
                    Some((_, chart)) => chart.save(path)?,
                    None => {
                        let names = answer.charts.iter().map(|(name, _)| format!("`{name}`"));
                        let names: BTreeSet<String> = names.collect();
                        return Err(CliError::input(format!(
                            "there is no chart `{kind}` here: {}",
                            joined(names)
                        )));
                    }
                },
                (None, None) => return Err(CliError::not_enough("there is nothing to draw")),
                (None, Some(_)) if extension(path) == "html" => answer.save_page(path)?,
                (None, Some((_, chart))) => chart.save(path)?,
            }
        }
        context.show(
            &NotedAnswer {
                answer,
                notes,
                next: (!next.is_empty()).then_some(next),
            },
            &self.answer,
        )
    }
}

impl StudyDataOptions {
    /// Returns the data of the only benchmark that passes a filter, and prints notes on it.
    pub fn read(&self, filter: SampleFilter, context: &Context) -> Result<StudyData, CliError> {
        let ReadStudy { data, notes } = self.read_with_notes(filter, context)?;
        if !context.quiet {
            context.terminal.notes(notes);
        }
        Ok(data)
    }

    /// Returns the data of the only benchmark that passes a filter, and notes on it.
    pub fn read_with_notes(
        &self,
        filter: SampleFilter,
        context: &Context,
    ) -> Result<ReadStudy, CliError> {
        let rules = self.cleaning.rules()?;
        let store = open_for_reading(context)?;
        let filter = filter.resolve(&store)?;
        let notes = notes_on_retired(&store, &filter)?;
        let data = StudyData::read(&store, filter, &rules)?;
        Ok(ReadStudy { data, notes })
    }
}

/// Opens the store, if there is one.
pub fn existing_store(context: &Context) -> Result<Option<Store>, CliError> {
    let exists = context.store.exists();
    exists.then(|| open_for_reading(context)).transpose()
}
