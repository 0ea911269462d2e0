//! Requests: what a session is to measure, and how often.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lapwing_model::{Object, Session, matches_name};
use lapwing_record::Store;
use lapwing_record::files::create_folder;
use lapwing_record::private::hidden_in_plan;

use super::cluster::ClusterMeasurement;
use super::{
    EnvironmentBuilds, MeasuringParts, OpenMeasurement, PythonEnvironments, SessionError,
    SessionOpening, SessionRemark, SessionSurroundings, commits_between, new_session, repository,
    tests_of,
};
use crate::local::duet_cores;
use crate::repository::patch::applied_patches;
use crate::suite::{
    AdHoc, Case, CaseInput, ClusterSettings, CommandLine, Plan, PlannedCommit, Settings, StopEarly,
    Suite, Variant, nearest,
};
use crate::{Consumer, FixedSchedule, Profiler, RunEnd, RunError, single_commit};

/// What a session measures, how often, and where. [`SessionRequest::plan`] says what that comes to, and
/// [`PlannedSession::measure`] measures it.
///
/// By default each benchmark of the suite is measured as the suite says, in all variants, on this machine.
#[derive(Debug, Clone)]
pub struct SessionRequest {
    /// The benchmarks.
    pub benchmarks: RequestedBenchmarks,
    /// Numbers that replace those of the suite.
    pub settings: Settings,
    /// The seed of the random order.
    pub seed: u64,
    /// Which of them are measured.
    pub selection: BenchmarkSelection,
    /// Whether a copy of the first variant is measured too, as a control.
    pub with_control: bool,
    /// The command that builds each commit, in the place of that of the suite.
    pub build: Option<CommandLine>,
    /// The commits at which every variant is measured; `None` measures what is there.
    pub commits: Option<RequestedCommits>,
    /// The rule that ends the measurement of a benchmark early.
    pub stop_early: Option<StopEarly>,
    /// The name of the session; two random words by default.
    pub name: Option<String>,
    /// Attributes of the session.
    pub attributes: Object,
    /// How instances are jobs; `None` measures them on this machine.
    pub cluster: Option<ClusterSettings>,
    /// Whether jobs stay in the queue when a signal ends the client.
    pub leave_jobs: bool,
    /// The profiler of each benchmark, if wanted.
    pub profile: Option<String>,
    /// The Python environments that are built to plan.
    pub builds: EnvironmentBuilds,
}

/// The benchmarks of a request.
#[derive(Debug, Clone)]
pub enum RequestedBenchmarks {
    /// Those of a suite file.
    Suite {
        /// The suite.
        suite: Box<Suite>,
        /// Its file.
        path: PathBuf,
    },
    /// Commands.
    Commands(Box<AdHoc>),
    /// A plan.
    Plan(Box<Plan>),
}

/// A selection of benchmarks and variants of a suite; empty lists select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BenchmarkSelection {
    /// Ids, patterns with `*` and `?`, or parts of ids.
    pub benchmarks: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Names of variants, the first of which is the baseline.
    pub variants: Vec<String>,
}

/// Commits that are measured one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedCommits {
    /// The range, as in `v1.0..main`.
    pub range: String,
    /// Every commit of that number; the first and the last in any case.
    pub every: usize,
}

/// A plan that is ready to be measured.
pub struct PlannedSession {
    /// The plan.
    pub plan: Plan,
    /// The Python environments of its variants.
    pub environments: PythonEnvironments,
    /// The ids of all benchmarks from which those of the plan were selected.
    pub selected_from: Vec<String>,
}

/// A session that was measured.
pub struct MeasuredSession {
    /// The session.
    pub session: Session,
    /// Its plan.
    pub plan: Plan,
    /// How it ended.
    pub end: RunEnd,
    /// The store that has it.
    pub store: Store,
}

impl SessionRequest {
    /// Returns a request to measure benchmarks as they say themselves.
    pub fn new(benchmarks: RequestedBenchmarks) -> Self {
        Self {
            benchmarks,
            settings: Settings::default(),
            seed: 0,
            selection: BenchmarkSelection::default(),
            with_control: false,
            build: None,
            commits: None,
            stop_early: None,
            name: None,
            attributes: Object::new(),
            cluster: None,
            leave_jobs: false,
            profile: None,
            builds: EnvironmentBuilds::Missing,
        }
    }

    /// Returns the plan, whose Python environments are built; commits are not yet checked out.
    ///
    /// # Errors
    /// If something that is asked for does not exist, or contradicts something else.
    pub fn plan(
        &self,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<PlannedSession, SessionError> {
        let (plan, environments) = self.all_benchmarks(surroundings)?;
        let ids = plan.cases.iter().map(|it| it.benchmark.id.clone());
        let selected_from = ids.collect();
        let mut plan = self.selection.select(plan)?;
        if let Some(build) = &self.build {
            plan.build = Some(build.clone());
        }
        refuse_missing_inputs(&plan)?;
        let mut plan = self.with_worktrees(plan, surroundings)?;
        plan.stop_early = self.stop_early.clone().or(plan.stop_early);
        if let Some(commits) = &self.commits {
            plan = commits.of_plan(plan, surroundings)?;
        }
        Ok(PlannedSession {
            plan: with_clean_names(plan, surroundings),
            environments,
            selected_from,
        })
    }

    /// Returns the plan of all benchmarks in the selected variants.
    fn all_benchmarks(
        &self,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<(Plan, PythonEnvironments), SessionError> {
        match &self.benchmarks {
            RequestedBenchmarks::Suite { suite, path } => {
                let draft = self.with_variants(suite.plan(&self.settings, self.seed))?;
                let environments = PythonEnvironments::find(&draft, self.builds, surroundings)?;
                let folders = environments.folders();
                let tests = tests_of(suite, &draft.variants, folders, surroundings);
                let tests = tests.map_err(|error| match (error, self.builds) {
                    (SessionError::NoEnvironment, EnvironmentBuilds::None) => {
                        SessionError::UnbuiltEnvironment
                    }
                    (error, _) => error,
                })?;
                let plan = suite.plan_with_tests(tests, &self.settings, self.seed);
                let plan = plan.map_err(|problem| SessionError::Contradiction {
                    path: path.clone(),
                    problem,
                })?;
                let variants = draft.variants;
                Ok((Plan { variants, ..plan }, environments))
            }
            RequestedBenchmarks::Commands(commands) => {
                let directory = &surroundings.places.directory;
                let plan = commands.plan(directory, &self.settings, self.seed);
                let plan = plan.map_err(SessionError::Commands)?;
                Ok((self.with_variants(plan)?, PythonEnvironments::default()))
            }
            RequestedBenchmarks::Plan(plan) => {
                let plan = self.with_variants(plan.as_ref().clone())?;
                Ok((plan, PythonEnvironments::default()))
            }
        }
    }

    /// Returns the plan with the selected variants, and a control if wanted.
    fn with_variants(&self, mut plan: Plan) -> Result<Plan, SessionError> {
        plan.variants = self.selection.variants_of(plan.variants)?;
        if let (true, Some(first)) = (self.with_control, plan.variants.first()) {
            let control = first.control();
            if plan.variants.iter().any(|it| it.name == control.name) {
                return Err(SessionError::ControlExists(control.name));
            }
            plan.variants.push(control);
        }
        Ok(plan)
    }

    /// Returns the plan with the commits that its variants name.
    fn with_worktrees(
        &self,
        mut plan: Plan,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Plan, SessionError> {
        let are_patched = plan.variants.iter().any(|it| !it.patches.is_empty());
        if !are_patched && plan.variants.iter().all(|it| it.worktree.is_none()) {
            return Ok(plan);
        }
        if self.commits.is_some() {
            return Err(SessionError::CommitsOfVariants);
        }
        let repository = repository(&plan, surroundings)?;
        for variant in &mut plan.variants {
            // Without patches, too: the working tree may hold changes, and is in another folder.
            let head = are_patched.then_some("HEAD");
            let Some(revision) = variant.worktree.as_deref().or(head) else {
                continue;
            };
            let commit = single_commit(&repository, revision, plan.build.is_some())?;
            let patches = match std::mem::take(&mut variant.patches) {
                none if none.is_empty() => none,
                patches => {
                    let scratch = tempfile::tempdir_in(&surroundings.places.temporary)
                        .map_err(SessionError::NoCommitFolder)?;
                    applied_patches(&commit, patches, scratch.path())
                }
            };
            variant.commit = Some(PlannedCommit { patches, ..commit });
        }
        Ok(plan)
    }
}

impl BenchmarkSelection {
    fn variants_of(&self, variants: Vec<Variant>) -> Result<Vec<Variant>, SessionError> {
        if self.variants.is_empty() {
            return Ok(variants);
        }
        let mut chosen: Vec<Variant> = Vec::new();
        for name in &self.variants {
            let Some(variant) = variants.iter().find(|it| it.name == *name) else {
                let known = variants.iter().map(|it| it.name.as_str());
                return Err(SessionError::unknown("variant", name, known));
            };
            if !chosen.contains(variant) {
                chosen.push(variant.clone());
            }
        }
        Ok(chosen)
    }

    /// Returns the plan with the selected benchmarks.
    fn select(&self, mut plan: Plan) -> Result<Plan, SessionError> {
        let ids = || plan.cases.iter().map(|it| it.benchmark.id.as_str());
        for wanted in &self.benchmarks {
            if !ids().any(|id| matches_name(wanted, id)) {
                return Err(SessionError::unknown("benchmark", wanted, ids()));
            }
        }
        let tags = || {
            let cases = plan.cases.iter();
            cases.flat_map(|it| it.benchmark.tags.iter().map(String::as_str))
        };
        for wanted in &self.tags {
            if !tags().any(|tag| tag == wanted) {
                return Err(SessionError::unknown("tag", wanted, tags()));
            }
        }
        let had_any = !plan.cases.is_empty();
        plan.cases.retain(|case| {
            let named = |wanted: &String| matches_name(wanted, &case.benchmark.id);
            let tagged = |wanted: &String| case.benchmark.tags.contains(wanted);
            (self.benchmarks.is_empty() || self.benchmarks.iter().any(named))
                && (self.tags.is_empty() || self.tags.iter().any(tagged))
        });
        if plan.cases.is_empty() && had_any {
            return Err(SessionError::NothingSelected);
        }
        Ok(plan)
    }
}

impl RequestedCommits {
    /// Returns the plan with every variant once per commit.
    fn of_plan(
        &self,
        mut plan: Plan,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Plan, SessionError> {
        let commits = commits_between(&plan, &self.range, self.every, false, surroundings)?;
        let variants = std::mem::take(&mut plan.variants);
        let at_commit = |commit: &PlannedCommit| {
            let commit = commit.clone();
            let variants = variants.iter().cloned();
            variants.map(move |variant| Variant {
                commit: Some(commit.clone()),
                ..variant
            })
        };
        plan.variants = commits.iter().flat_map(at_commit).collect();
        Ok(plan)
    }
}

/// Returns a plan with the names that its records will have.
fn with_clean_names(mut plan: Plan, surroundings: &SessionSurroundings<'_>) -> Plan {
    let clean = |name: &mut String| *name = surroundings.places.clean_name(name);
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for case in &mut plan.cases {
        clean(&mut case.benchmark.id);
        let twins = known.entry(case.benchmark.id.clone()).or_default();
        *twins += 1;
        if *twins > 1 {
            case.benchmark.id.push_str(&format!(" #{twins}"));
        }
    }
    for variant in &mut plan.variants {
        clean(&mut variant.name);
        variant.control_of.as_mut().map(clean);
        let commands = std::mem::take(&mut variant.commands).into_iter();
        let commands = commands.map(|(id, it)| (surroundings.places.clean_name(&id), it));
        variant.commands = commands.collect();
    }
    plan
}

/// Refuses a missing file or directory before anything is measured, unless a command may still create it.
fn refuse_missing_inputs(plan: &Plan) -> Result<(), SessionError> {
    if plan.build.is_some() {
        return Ok(());
    }
    let creates = |case: &&Case| case.setup.is_some() || case.prepare.is_some();
    for case in plan.cases.iter().filter(|it| !creates(it)) {
        let missing = |key: &'static str, path: &Path| SessionError::MissingInput {
            key,
            benchmark: case.benchmark.id.clone(),
            path: path.to_owned(),
        };
        let folder = case.directory.as_deref().map(Path::new);
        if let Some(folder) = folder
            && !folder.is_dir()
        {
            return Err(missing("directory", folder));
        }
        if let CaseInput::File(file) = &case.stdin {
            let path = folder.unwrap_or(Path::new("")).join(file);
            if !path.exists() {
                return Err(missing("stdin", Path::new(file)));
            }
        }
    }
    Ok(())
}

impl PlannedSession {
    /// Returns the plan with cores for two sides, which are measured at the same time.
    ///
    /// # Errors
    /// If there are not two sides, or not enough cores.
    pub fn as_duet(mut self) -> Result<Self, SessionError> {
        let plan = &mut self.plan;
        // Without a new commit there is nothing to measure.
        if plan.variants.is_empty() {
            return Ok(self);
        }
        let (variants, cases) = (plan.variants.len(), plan.cases.len());
        let of_commands = plan.suite == AdHoc::SUITE;
        if variants != 2 && !(of_commands && variants == 1 && cases == 2) {
            return Err(SessionError::NotTwoSides {
                of_commands,
                commands: cases,
                variants,
                are_commits: plan.variants.iter().all(|it| it.commit.is_some()),
                has_control: plan.variants.iter().any(|it| it.control_of.is_some()),
            });
        }
        if let Some(test) = plan.cases.iter().find(|case| case.pytest.is_some()) {
            let test = test.benchmark.id.clone();
            return Err(SessionError::DuetOfTests(test));
        }
        if !plan.interleave && plan.variants.iter().any(|it| it.commit.is_some()) {
            return Err(SessionError::DuetOneAfterAnother);
        }
        plan.duet = Some(duet_cores(Path::new("/"), plan.cpus.as_deref())?);
        Ok(self)
    }

    /// Measures the plan in a new session of the store, until it is complete or an interrupt ends it.
    ///
    /// # Errors
    /// If the session cannot be opened, or has to end early: the error says where its measurements are.
    pub fn measure(
        self,
        request: &SessionRequest,
        store: Store,
        surroundings: &SessionSurroundings<'_>,
        watcher: &mut dyn Consumer,
    ) -> Result<MeasuredSession, SessionError> {
        let mut schedule = FixedSchedule::new(&self.plan);
        self.measure_by(request, store, surroundings, watcher, |_, measurement| {
            measurement.visit_all(&mut schedule)
        })
    }

    /// Measures in a new session what `work` visits of the plan.
    ///
    /// # Errors
    /// As [`Self::measure`].
    pub fn measure_by(
        self,
        request: &SessionRequest,
        store: Store,
        surroundings: &SessionSurroundings<'_>,
        watcher: &mut dyn Consumer,
        work: impl FnOnce(&Session, &mut OpenMeasurement<'_, '_, '_>) -> Result<RunEnd, RunError>,
    ) -> Result<MeasuredSession, SessionError> {
        let mut store = store;
        if let RequestedBenchmarks::Suite { suite, .. } = &request.benchmarks {
            let mut rules = store.cleaner().rules().clone();
            rules.hide.extend(&suite.hide);
            store.set_privacy(rules)?;
        }
        let mut session = new_session(request.name.clone(), &self.plan, &store, surroundings)?;
        session.attributes.extend(request.attributes.clone());
        if let Some(what) = hidden_in_plan(&store.cleaner().clean_session(&session)) {
            surroundings.remark(SessionRemark::NotResumable { what });
        }
        let cluster = request.cluster.clone().map(|settings| {
            ClusterMeasurement::begin(settings, request.leave_jobs, &mut session, surroundings)
        });
        let cluster = cluster.transpose()?;
        let executor = match &cluster {
            None => surroundings.start_executor(&self.plan)?,
            // It only builds; benchmarks run on the processors of other machines.
            Some(_) => surroundings.launch(None)?,
        };
        let profiler = request.profiler(&session, surroundings)?;
        let parts = MeasuringParts {
            surroundings: *surroundings,
            plan: &self.plan,
            store,
            executor,
            environments: self.environments,
            cluster,
            profiler,
        };
        let opening = SessionOpening::New(session.clone());
        let (end, store) =
            parts.all(opening, watcher, |measurement| work(&session, measurement))?;
        Ok(MeasuredSession {
            session,
            plan: self.plan,
            end,
            store,
        })
    }
}

impl SessionRequest {
    /// Returns the profiler, which writes to a folder of the session beside the store.
    fn profiler(
        &self,
        session: &Session,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Option<Profiler>, SessionError> {
        let Some(command) = &self.profile else {
            return Ok(None);
        };
        let beside = surroundings.store.parent().unwrap_or(Path::new(""));
        let beside = std::path::absolute(beside.join("profiles"))?;
        let folder = beside.join(session.id.to_string());
        let profiler = Profiler::new(command, folder.clone())?;
        create_folder(&beside)?;
        create_folder(&folder)?;
        surroundings.remark(SessionRemark::Profiling { folder });
        Ok(Some(profiler))
    }
}

impl SessionError {
    /// Returns the error of a name that a suite does not have.
    fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        // `gzip[level=6]` is often given without the brackets.
        let bare: Vec<&str> = known
            .clone()
            .map(|it| it.split('[').next().unwrap_or(it))
            .collect();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let known = known.filter(|it| names.insert(it));
        let known: Vec<String> = known.map(str::to_owned).collect();
        Self::Unknown {
            kind,
            name: name.to_owned(),
            nearest: nearest(name, bare.iter().copied()),
            known,
        }
    }
}
