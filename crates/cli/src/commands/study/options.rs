//! Options of all analyses of a study.

use clap::Args;
use lapwing_analyse::sample::{BenchmarkData, SampleFilter, each_benchmark};
use lapwing_model::text::first_names;
use lapwing_record::{Filter, InstanceData, StoreError};
use lapwing_stats::deltas::DeltaPairing;
use lapwing_study::{StudyData, StudyError, StudyScale};

use super::answer::StudyPlotOptions;
use crate::cleaning::CleaningOptions;
use crate::error::CliError;
use crate::options::{AnswerOptions, Context, FilterOptions, NamedValue, one_of};
use crate::store::{note_retired, open_for_reading};

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
    #[command(flatten)]
    pub plot: StudyPlotOptions,
    #[command(flatten)]
    pub data: StudyDataOptions,
    #[command(flatten)]
    pub answer: AnswerOptions,
}

/// Options that choose the data of a study.
#[derive(Debug, Args)]
pub struct StudyDataOptions {
    #[command(flatten)]
    pub filters: FilterOptions,
    #[command(flatten)]
    pub cleaning: CleaningOptions,
}

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

/// How replicates of two settings make deltas.
pub const PAIRINGS: [NamedValue<DeltaPairing>; 3] = [
    (
        "means",
        "One delta per pair of settings, of their means",
        DeltaPairing::Means,
    ),
    (
        "medians",
        "One delta per pair of settings, of their medians",
        DeltaPairing::Medians,
    ),
    (
        "all",
        "Every instance of the one with every instance of the other",
        DeltaPairing::AllPairs,
    ),
];

impl StudyOptions {
    /// Returns the data, restricted as the options say.
    pub fn read(&self, context: &Context) -> Result<StudyData, CliError> {
        self.restricted(&self.all(context)?)
    }

    /// Returns the data with all factors; a chart that could not be saved is refused before.
    pub fn all(&self, context: &Context) -> Result<StudyData, CliError> {
        self.plot.check()?;
        self.data.read(context)
    }

    /// Returns a study restricted as the options say.
    pub fn restricted(&self, data: &StudyData) -> Result<StudyData, CliError> {
        data.without(&self.without).map_err(with_hint)
    }
}

impl StudyDataOptions {
    /// Returns the data of the only benchmark that passes the filters.
    pub fn read(&self, context: &Context) -> Result<StudyData, CliError> {
        self.read_filtered(self.filters.filter()?, context)
    }

    /// Returns the data of a benchmark, of the runs that pass the filters.
    pub fn of_benchmark(&self, name: &str, context: &Context) -> Result<StudyData, CliError> {
        let filter = SampleFilter {
            benchmarks: vec![name.to_owned()],
            ..self.filters.filter()?
        };
        self.read_filtered(filter, context)
    }

    /// Returns the data of some instances of a benchmark, by its suite and id; `None` if they have no value.
    pub fn of_instances(
        &self,
        (suite, benchmark): (&str, &str),
        context: &Context,
        is_wanted: impl Fn(&InstanceData) -> bool,
    ) -> Result<Option<StudyData>, CliError> {
        if !context.store.exists() {
            return Ok(None);
        }
        let rules = self.cleaning.rules()?;
        let store = open_for_reading(context)?;
        let filter = SampleFilter {
            benchmarks: vec![benchmark.to_owned()],
            ..self.filters.filter()?
        };
        let mut filter = match filter.resolve(&store) {
            Err(StoreError::NoMatch { .. }) => return Ok(None),
            resolved => resolved?,
        };
        let metrics = std::mem::take(&mut filter.metrics);
        let mut gathered = None;
        let read = each_benchmark(&store, &filter, |mut data| {
            if data.suite == suite && data.benchmark.id == benchmark {
                data.instances.retain(&is_wanted);
                let named = metrics.first().map(String::as_str);
                gathered = Some(StudyData::of(&data, named, &rules));
            }
            Ok::<(), StoreError>(())
        });
        match read {
            Ok(()) | Err(StoreError::NoMatch { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match gathered {
            None | Some(Err(StudyError::NoFactors { .. } | StudyError::NoValues { .. })) => {
                Ok(None)
            }
            Some(found) => found.map(Some).map_err(with_hint),
        }
    }

    fn read_filtered(
        &self,
        filter: SampleFilter,
        context: &Context,
    ) -> Result<StudyData, CliError> {
        let rules = self.cleaning.rules()?;
        let store = open_for_reading(context)?;
        let mut filter = filter.resolve(&store)?;
        note_retired(&store, &filter, context)?;
        let found = store.catalogue().benchmarks(&filter)?;
        if found.len() > 1 {
            let names = found.iter().map(|row| format!("`{}`", row.benchmark));
            let names = first_names(names, 10);
            return Err(CliError::input(format!(
                "a study is about one benchmark, and several pass the filters: {names}"
            ))
            .hint("name one with --benchmark, or its suite with --where suite=NAME"));
        }
        // All metrics are read, because burn-in is detected from the wall time.
        let metrics = std::mem::take(&mut filter.metrics);
        if let [one, other, ..] = metrics.as_slice() {
            return Err(CliError::input(format!(
                "a study is about one metric, not `{one}` and `{other}`"
            )));
        }
        let mut gathered = None;
        each_benchmark(&store, &filter, |data| {
            let named = metrics.first().map(String::as_str);
            gathered = Some(StudyData::of(&data, named, &rules));
            Ok::<(), StoreError>(())
        })?;
        match gathered {
            Some(found) => found.map_err(with_hint),
            None => Err(
                CliError::not_enough("no benchmark passes all of these filters")
                    .hint("`lapwing list` shows the contents of the store"),
            ),
        }
    }
}

/// Passes each benchmark that passes a filter; none if there is no store or no such benchmark.
pub fn each_known_benchmark(
    filter: &Filter,
    context: &Context,
    mut take: impl FnMut(BenchmarkData),
) -> Result<(), CliError> {
    if !context.store.exists() {
        return Ok(());
    }
    let read = each_benchmark(&open_for_reading(context)?, filter, |data| {
        take(data);
        Ok(())
    });
    match read {
        Ok(()) | Err(StoreError::NoMatch { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the error with advice.
pub fn with_hint(error: StudyError) -> CliError {
    let hint = match &error {
        StudyError::NoFactors { .. } => Some(
            "define factors in the suite file, or import runs with `lapwing import --from runs`; docs/study.md shows how",
        ),
        StudyError::SeveralMetrics { .. } => Some("name one with --metric"),
        StudyError::NoValues { .. } => Some("`lapwing list metrics` lists the measured metrics"),
        StudyError::TooMany { .. } | StudyError::Unknown { .. } | StudyError::NoLevel { .. } => {
            None
        }
    };
    match &error {
        StudyError::NoValues { .. } => CliError::not_enough(error).hint_if(hint),
        _ => CliError::input(error).hint_if(hint),
    }
}
