//! `lapwing bisect`: finds the commit that changed a benchmark.

mod answer;
mod ends;
mod finding;
mod news;
mod options;

use std::path::PathBuf;

use clap::Args;
use lapwing_measure::bisection::{
    CommitReadiness, CommitSearch, CommitVisits, InstanceWatch, ResumedSearch, SEARCH,
    SearchOptions, SearchPrior, StoredMeasurements,
};
use lapwing_measure::session::cluster::ClusterMeasurement;
use lapwing_measure::session::{
    MeasuringParts, PythonEnvironments, SessionOpening, SessionRequest, commits_between,
    new_session,
};
use lapwing_measure::suite::{Plan, Variant, VersionSource};
use lapwing_show::answers::bisection::{BisectionAnswer, BisectionOutcome};
use lapwing_show::writing::NextStep;
use serde_json::json;

use self::answer::{WantedChange, bisection_answer};
use self::finding::SearchedFinding;
pub use self::news::{bisection_hint, say_news};
pub use self::options::{CommitOptions, check_metric};
use super::run::{ClusterOptions, executors_of};
use crate::cleaning::CleaningOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};
use crate::session;

/// Find the commit that made benchmarks slower or faster
///
/// `lapwing bisect v1.4 main -- ./bench` first checks that both ends differ, then measures the most
/// informative commits, each in its own worktree, and finally compares the commit with its parent.
/// What that does not explain is searched too, and so is the branch that a merge brought. All
/// measurements are stored as a session.
#[derive(Debug, Args)]
pub struct BisectCommand {
    /// Commit before the change: a hash, a tag, a branch, or a date such as 2026-08-01 (the last
    /// commit before it)
    #[arg(value_name = "GOOD", required_unless_present_any = ["resume", "finding"])]
    good: Option<String>,
    /// Commit after it
    #[arg(value_name = "BAD", default_value = "HEAD")]
    bad: String,
    /// Search a change of a history: its commits, benchmark, metric and setting. CHANGE is an id as listed
    /// by `lapwing detect`
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["good", "words", "command", "benchmark", "metric", "resume"])]
    finding: Option<String>,
    /// Only commits with such a change count, and without any the exit code is 3; the others are named, too
    #[arg(long, value_name = "KIND", value_parser = one_of(&WANTED))]
    find: Option<WantedChange>,
    #[command(flatten)]
    options: CommitOptions,
    /// Take the commits from this repository instead, such as that of a dependency
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Install each commit by this command before it is measured, in the working directory;
    /// `{worktree}` becomes the folder of the commit
    #[arg(long, value_name = "COMMAND")]
    install: Option<String>,
    /// What is taken to be likely before anything is measured [default: lines]
    #[arg(long, value_name = "PRIOR", value_parser = one_of(&PRIORS))]
    prior: Option<SearchPrior>,
    /// Maximum number of instances per benchmark, and again in each merged branch
    #[arg(long = "max-instances", value_name = "N", value_parser = clap::value_parser!(u32).range(20..=100_000), default_value_t = 600)]
    budget: u32,
    /// Measure the rest of an interrupted session [default session: the latest]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["good", "words", "command", "benchmark", "repo", "install"])]
    resume: Option<String>,
    #[command(flatten)]
    cluster: ClusterOptions,
}

const WANTED: [NamedValue<WantedChange>; 2] = [
    (
        "regression",
        "Commits that made a benchmark worse",
        WantedChange::Regression,
    ),
    (
        "improvement",
        "Commits that made a benchmark better",
        WantedChange::Improvement,
    ),
];

const PRIORS: [NamedValue<SearchPrior>; 2] = [
    ("even", "All commits alike", SearchPrior::Even),
    (
        "lines",
        "Commits that changed more lines of code more, with half of the probability",
        SearchPrior::Lines,
    ),
];

impl BisectCommand {
    /// Searches.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        self.options.check_selection()?;
        let finding = self.finding.as_deref();
        let finding = finding.map(|id| SearchedFinding::find(id, context));
        let finding = finding.transpose()?;
        if let Some(finding) = &finding {
            self.options.benchmark = vec![finding.subject.benchmark.clone()];
            self.options.metric.clone_from(&finding.subject.metric);
        }
        let store = crate::store::open_for_writing(context)?;
        let (plan, search_options, opening, stored, cluster) = match &self.resume {
            Some(session) => {
                let resumed = ResumedSearch::find(&store, session, &context.surroundings())?;
                let cluster = self.cluster.reopen(resumed.opening.session(), context)?;
                (
                    resumed.plan,
                    resumed.options,
                    resumed.opening,
                    resumed.stored,
                    cluster,
                )
            }
            None => {
                let request = self
                    .options
                    .request(context)
                    .map_err(|error| match &finding {
                        Some(finding) => error.hint(format!(
                            "`{}` searches it by a command",
                            finding.with_command(&context.program())
                        )),
                        None => error,
                    })?;
                let plan = self.planned(&request, finding.as_ref(), context)?;
                let options = self.search_options();
                let mut session = new_session(
                    self.options.name.clone(),
                    &plan,
                    &store,
                    &context.surroundings(),
                )?;
                session.attributes.insert(SEARCH.to_owned(), json!(options));
                let settings = self
                    .cluster
                    .for_instances(executors_of(&request.benchmarks))?;
                let cluster = settings.map(|settings| {
                    let surroundings = context.surroundings();
                    let leaves = self.cluster.leave_jobs();
                    ClusterMeasurement::begin(settings, leaves, &mut session, &surroundings)
                });
                let cluster = cluster.transpose()?;
                let stored = StoredMeasurements::default();
                (plan, options, SessionOpening::New(session), stored, cluster)
            }
        };
        let environments = PythonEnvironments::prepare(&plan, &context.surroundings())?;
        let mut cluster = self.cluster.for_search(cluster)?;
        let width = cluster.as_mut().map_or(1, ClusterMeasurement::width);
        let name = opening.session().name.clone().unwrap_or_default();
        if self.resume.is_some() && !context.quiet {
            context.terminal.say(&format!("resuming session `{name}`"));
        }
        let mut watch = InstanceWatch::new(&search_options.metric, context);
        let readiness = CommitReadiness {
            install: search_options.install.clone(),
            working_tree: None,
        };
        let news = |news| say_news(news, context);
        let visits = CommitVisits::new(plan.clone(), readiness, watch.measured(), stored, &news);
        let metric = search_options.metric.clone();
        let judge = CleaningOptions::default().judging()?.suite;
        let mut search = CommitSearch::new(visits, search_options, width);
        let surroundings = context.surroundings();
        let parts = MeasuringParts::start(&plan, store, environments, cluster, surroundings)?;
        let (end, _store) = session::measure(parts, opening, &mut watch, |measurement| {
            search.search(measurement)
        })?;
        let mut answer = bisection_answer(&search, &metric, end, (self.find, &judge));
        let status = status(&answer);
        if status == ExitStatus::Interrupted {
            let command = format!("{} bisect --resume {name}", context.program());
            answer.next = vec![NextStep::new(command, "continues it")];
        }
        answer.session.clone_from(&name);
        context.show(&answer, &self.options.answer)?;
        if !context.quiet {
            let store = context.store.display();
            context
                .terminal
                .say(&format!("stored in {store} as session `{name}`"));
        }
        Ok(status)
    }

    fn search_options(&self) -> SearchOptions {
        let options = &self.options;
        SearchOptions {
            metric: options.metric.clone(),
            instances: options.instances as usize,
            budget: self.budget as usize,
            confidence: options.confidence.level(),
            install: self.install.clone(),
            prior: self.prior.unwrap_or_default(),
        }
    }

    /// Returns a plan whose variants are the commits.
    fn planned(
        &self,
        request: &SessionRequest,
        finding: Option<&SearchedFinding>,
        context: &Context,
    ) -> Result<Plan, CliError> {
        let mut plan = request.plan(&context.surroundings())?.plan;
        if let Some(finding) = finding {
            finding.choose_variant(&mut plan);
        }
        check_metric(&plan, &self.options.metric)?;
        let variant = CommitOptions::only_variant(&plan)?;
        if let Some(folder) = &self.repo {
            let folder = std::path::absolute(folder)?;
            plan.version = VersionSource::Repository(folder.display().to_string());
        }
        let given = match finding {
            Some(finding) => finding.ends.each_ref().map(String::as_str),
            None => [self.good.as_deref().unwrap_or_default(), &self.bad],
        };
        let [good, bad] = ends::commits(&plan, given, context)?;
        let range = format!("{good}..{bad}");
        // An editable installation writes into the working tree.
        let may_be_changed = self.install.is_some();
        let surroundings = context.surroundings();
        let commits = commits_between(&plan, &range, 1, may_be_changed, &surroundings)?;
        if commits.len() < 2 {
            return Err(CliError::input(format!(
                "`{}` and `{}` are the same commit",
                given[0], given[1]
            )));
        }
        plan.variants = commits
            .into_iter()
            .map(|commit| Variant {
                commit: Some(commit),
                ..variant.clone()
            })
            .collect();
        Ok(plan)
    }
}

fn status(answer: &BisectionAnswer) -> ExitStatus {
    let any = |is: fn(&BisectionOutcome) -> bool| {
        let mut benchmarks = answer.benchmarks.iter();
        benchmarks.any(|benchmark| is(&benchmark.outcome))
    };
    if answer.is_interrupted {
        ExitStatus::Interrupted
    } else if any(|outcome| matches!(outcome, BisectionOutcome::BrokenEnd { .. })) {
        ExitStatus::Failed
    } else if any(|outcome| !matches!(outcome, BisectionOutcome::Found)) {
        ExitStatus::NotEnough
    } else {
        ExitStatus::Fine
    }
}
