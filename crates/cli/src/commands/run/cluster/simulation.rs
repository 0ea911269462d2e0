//! `lapwing mds|plan|detect --executor slurm`: experiments of a simulation, or searches of series, are made by jobs.
//!
//! Each experiment depends on its task alone, and each search on its series, so the client does what it would do without
//! jobs, with what they made. What is missing it makes itself: the result is the same, whatever jobs there were.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lapwing_analyse::detect::{
    FoundElsewhere, SearchedSeries, SeriesSearch, SeriesSearcher, write_searches,
};
use lapwing_analyse::judge::{KnownExperiments, SharedSource};
use lapwing_measure::RunEnd;
use lapwing_measure::session::SessionError;
use lapwing_measure::session::cluster::{ClusterShares, ShareBatch, ShareFiles, SharedFolder};
use lapwing_measure::suite::ExecutorTables;
use lapwing_model::text::{counted, plural};
use lapwing_record::Store;

use super::super::progress::RunProgress;
use super::options::{ClusterOptions, ExecutorChoice};
use super::shares::JobShare;
use crate::error::CliError;
use crate::options::Context;
use crate::session::catch_signals;
use crate::store::open_for_reading;
use crate::suite::suite_file;

/// The machines that simulate or search.
#[derive(Debug, Clone, Default, Args)]
pub struct ShareJobs {
    #[command(flatten)]
    cluster: ClusterOptions,
    /// The share of this job.
    #[arg(long, hide = true, value_parser = JobShare::parse)]
    pub share: Option<JobShare>,
}

/// The beginning of a simulation.
pub enum SimulationStart {
    /// All experiments are made here.
    Here,
    /// Jobs have made experiments.
    Made(Arc<KnownExperiments>),
    /// The user interrupted the jobs.
    Interrupted,
}

impl SimulationStart {
    /// Returns the source of experiments.
    pub fn source(&self) -> Option<SharedSource> {
        match self {
            Self::Made(known) => Some(SharedSource(Arc::<KnownExperiments>::clone(known))),
            Self::Here | Self::Interrupted => None,
        }
    }

    /// Says, after the simulation, how much of it jobs have not made.
    pub fn note_missed(&self, context: &Context) {
        if let Self::Made(known) = self
            && let missed @ 1.. = known.missed()
        {
            context.terminal.note(&format!(
                "{} of a simulation {} not made by jobs, and made here",
                counted(missed, "part"),
                plural(missed, "was", "were")
            ));
        }
    }
}

impl ShareJobs {
    /// Returns whether jobs do the work.
    pub fn are_used(&self) -> bool {
        self.cluster.executor != ExecutorChoice::Local
    }

    /// Lets jobs make the experiments of this process's command; `suite` is the suite file of its options.
    pub fn start(
        &self,
        suite: Option<PathBuf>,
        context: &Context,
    ) -> Result<SimulationStart, CliError> {
        let arguments = std::env::args_os().skip(1);
        let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
        let Some(shares) = self.shares("simulating", arguments.collect(), suite)? else {
            return Ok(SimulationStart::Here);
        };
        let mut known = KnownExperiments::default();
        let end = shares.run(
            &StoreCopy(&open_for_reading(context)?),
            &mut RunProgress::new(context),
            &mut |path| known.read(path),
            &context.surroundings(),
        )?;
        Ok(match end {
            RunEnd::Complete => SimulationStart::Made(Arc::new(known)),
            RunEnd::Interrupted => SimulationStart::Interrupted,
        })
    }

    /// Returns a searcher whose jobs make the searches of `lapwing detect`; `None` if they are made here.
    pub fn searcher<'c>(
        &self,
        suite: Option<PathBuf>,
        context: &'c Context,
    ) -> Result<Option<JobSearcher<'c>>, CliError> {
        let shares = self.shares("searching", vec!["detect".to_owned()], suite)?;
        Ok(shares.map(|shares| JobSearcher { shares, context }))
    }

    /// Returns how jobs that call this command share its work; `None` if they do not.
    fn shares(
        &self,
        doing: &'static str,
        arguments: Vec<String>,
        suite: Option<PathBuf>,
    ) -> Result<Option<ClusterShares>, CliError> {
        let tables = match suite.filter(|_| self.are_used()) {
            Some(path) => suite_file::load_executors(&path)?,
            None => ExecutorTables::default(),
        };
        let Some(settings) = self.cluster.settings(tables)? else {
            return Ok(None);
        };
        if self.cluster.leave_jobs() {
            return Err(CliError::input(
                "--cluster leave_jobs=yes: an analysis cannot be resumed",
            ));
        }
        catch_signals()?;
        Ok(Some(ClusterShares {
            doing,
            settings,
            arguments,
            jobs: self.cluster.jobs(),
        }))
    }
}

/// Gives jobs a copy of the store.
struct StoreCopy<'s>(&'s Store);

impl ShareFiles for StoreCopy<'_> {
    fn write(&self, folder: &SharedFolder, _jobs: u64) -> Result<(), SessionError> {
        Ok(self.0.upkeep().copy_to(&ShareBatch::store(folder))?)
    }
}

/// Lets jobs search series. Each one is given the series of its share, and nothing else.
#[derive(Debug)]
pub struct JobSearcher<'c> {
    shares: ClusterShares,
    context: &'c Context,
}

/// Gives jobs the searches of their shares.
struct SearchFiles<'s>(&'s [SeriesSearch<'s>]);

impl ShareFiles for SearchFiles<'_> {
    fn write(&self, folder: &SharedFolder, jobs: u64) -> Result<(), SessionError> {
        for share in 0..jobs {
            write_searches(&ShareBatch::work(folder, share), self.0, share, jobs)?;
        }
        Ok(())
    }
}

impl SeriesSearcher for JobSearcher<'_> {
    type Error = CliError;

    fn search(&mut self, searches: &[SeriesSearch<'_>]) -> Result<Vec<SearchedSeries>, CliError> {
        let mut found = FoundElsewhere::default();
        let end = self.shares.clone().run(
            &SearchFiles(searches),
            &mut RunProgress::new(self.context),
            &mut |path| found.read(path),
            &self.context.surroundings(),
        )?;
        if end == RunEnd::Interrupted {
            return Err(SessionError::Interrupted.into());
        }
        let (searched, missing) = found.complete(searches);
        if missing > 0 {
            self.context.terminal.note(&format!(
                "{missing} {} not searched by jobs, but here",
                plural(missing, "history was", "histories were")
            ));
        }
        Ok(searched)
    }
}
