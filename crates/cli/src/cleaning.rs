//! Options of every command that judges: exclusions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_analyse::clean::{BurnInRule, CleaningRules, OutlierMetrics, OutlierRule};
use lapwing_analyse::sample::{CommitLine, MainChoice, RepositoryCommits};
use lapwing_formats::ImportOptions;
use lapwing_measure::suite::{Plan, burn_in_file};
use lapwing_measure::{
    ancestry, commits_after, default_line, known_commits, number_of_commits, remote_address,
};
use lapwing_model::{JudgeSettings, JudgedFrom, Session};
use lapwing_record::{AnnotationCounts, Store, StoreError};
use lapwing_show::answers::annotating::disregarded_note;
use lapwing_show::answers::audit::AuditDetail;
use lapwing_show::report::CommitWords;
use lapwing_show::writing::Note;
use lapwing_stats::Confidence;

use crate::error::CliError;
use crate::options::{NamedValue, checked, keyed, one_of};
use crate::profile::{Compat, Profile};
use crate::suite::suite_file;

/// Exclusions from analysis.
#[derive(Debug, Clone, Default, Args)]
pub struct CleaningOptions {
    /// Exclusions, as in the [judge] table of a suite: `burn_in` (`recorded`, `auto` or a number of
    /// iterations), `burn_in_file`, `outlier_factor`, `min_iterations`, `min_instances`, as in
    /// `--clean 'burn_in=auto min_instances=3'` [default: the suite's, or burn_in=recorded]
    #[arg(long, value_name = "RULES", value_parser = checked(WrittenRules::parse), help_heading = "Exclusions")]
    clean: Vec<String>,
    #[command(flatten)]
    suite: SuiteOption,
}

/// The attribute of a session with the suite file that it was measured by, if that is not `lapwing.toml`.
pub const SUITE_FILE_OF_SESSION: &str = "suite_file";

/// The suite file that sets defaults.
#[derive(Debug, Clone, Default, Args)]
pub struct SuiteOption {
    /// Suite file whose [judge] table sets defaults, or `none` [default: lapwing.toml if present]
    #[arg(
        long = "suite",
        id = "suite_file",
        value_name = "FILE",
        help_heading = "Exclusions"
    )]
    file: Option<PathBuf>,
}

impl SuiteOption {
    /// Returns the path of the file; `None` if none is to be read.
    pub fn path(&self) -> Option<PathBuf> {
        match &self.file {
            Some(path) if path == Path::new("none") => None,
            Some(path) => Some(suite_file::named(path)),
            None => suite_file::here(),
        }
    }
}

/// Exclusions of a command that can show them, and can follow the rules of Hail.
#[derive(Debug, Clone, Default, Args)]
pub struct AuditedCleaning {
    #[command(flatten)]
    pub own: CleaningOptions,
    /// Reproduce another tool's method, bugs included
    #[arg(long, value_name = "TOOL", value_parser = one_of(&HAIL), help_heading = "Exclusions")]
    pub compat: Option<Compat>,
    #[command(flatten)]
    pub audit: AuditOption,
}

const HAIL: [NamedValue<Compat>; 1] = [(
    "hail",
    "The notebook and `analyze_benchmarks` of Hail's benchmarks",
    Compat::Hail,
)];

/// Whose annotations count.
#[derive(Debug, Clone, Default, Args)]
pub struct TriageOption {
    /// Authors whose annotations count although they came from other stores, such as mutes that were pulled from
    /// a shared history; `*` stands for any text [default: the suite's `triage_by`; those of this store and
    /// those that an allowed signer signed always count]
    #[arg(
        long,
        value_name = "AUTHOR",
        value_delimiter = ',',
        help_heading = "Exclusions"
    )]
    triage_by: Vec<String>,
}

impl TriageOption {
    /// Returns settings with the authors of the option, if it is given.
    pub fn over(&self, judging: JudgingOptions) -> JudgingOptions {
        if self.triage_by.is_empty() {
            return judging;
        }
        JudgingOptions {
            triage_by: self.triage_by.clone(),
            ..judging
        }
    }
}

/// Whether exclusions are shown.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct AuditOption {
    /// Show what was excluded, by rule and benchmark, and which benchmarks lack enough data
    /// to analyse
    #[arg(long, help_heading = "Exclusions")]
    audit: bool,
}

impl AuditOption {
    /// Returns the detail of the audit.
    pub fn detail(self) -> AuditDetail {
        if self.audit {
            AuditDetail::All
        } else {
            AuditDetail::Line
        }
    }
}

impl AuditedCleaning {
    /// Returns the defaults of the options.
    pub fn profile(&self) -> Profile {
        Profile::of(self.compat)
    }

    /// Returns the detail of the audit.
    pub fn detail(&self) -> AuditDetail {
        self.audit.detail()
    }

    /// Returns the settings of the options, else of the suite file, else the defaults.
    pub fn judging(&self) -> Result<JudgingOptions, CliError> {
        self.own.judging_as(self.compat)
    }

    /// Returns the rules of cleaning.
    pub fn rules(&self) -> Result<CleaningRules, CliError> {
        Ok(self.judging()?.rules)
    }
}

/// Rules as they are written: `burn_in=auto min_instances=3`.
#[derive(Debug, Clone, Default)]
struct WrittenRules {
    burn_in: Option<JudgedFrom>,
    burn_in_file: Option<PathBuf>,
    outlier_factor: Option<f64>,
    min_iterations: Option<usize>,
    min_instances: Option<usize>,
}

impl WrittenRules {
    const KEYS: [&str; 5] = [
        "burn_in",
        "burn_in_file",
        "outlier_factor",
        "min_iterations",
        "min_instances",
    ];

    fn parse(text: &str) -> Result<Self, String> {
        keyed(text, &Self::KEYS, |rules: &mut Self, key, value| {
            let least = || match value.parse() {
                Ok(number) if number > 0_usize => Ok(Some(number)),
                Ok(_) | Err(_) => Err(format!("write {key}=N with a whole number of 1 or more")),
            };
            match key {
                "burn_in" => rules.burn_in = Some(parse_burn_in(&value)?),
                "burn_in_file" => rules.burn_in_file = Some(PathBuf::from(value)),
                "outlier_factor" => rules.outlier_factor = Some(parse_factor(&value)?),
                "min_iterations" => rules.min_iterations = least()?,
                _ => rules.min_instances = least()?,
            }
            Ok(())
        })
    }

    /// Returns the rules with these limits.
    fn over(&self, rules: CleaningRules) -> CleaningRules {
        CleaningRules {
            outliers: self.outlier_factor.map(outliers).or(rules.outliers),
            min_iterations: self.min_iterations.unwrap_or(rules.min_iterations),
            min_instances: self.min_instances.unwrap_or(rules.min_instances),
            ..rules
        }
    }
}

/// Settings of judging, from the options or else the suite file; the command has the other defaults.
#[derive(Debug, Clone)]
pub struct JudgingOptions {
    /// Exclusions.
    pub rules: CleaningRules,
    /// The smallest change that matters, as a share.
    pub smallest_effect: Option<f64>,
    /// The level of intervals.
    pub confidence: Option<Confidence>,
    /// The accepted share of false findings among the reported changes.
    pub false_discovery_rate: Option<f64>,
    /// Authors whose annotations count although they came from other stores.
    pub triage_by: Vec<String>,
    /// What the suite file says, also of single benchmarks and metrics.
    pub suite: JudgeSettings,
    /// Whether a smallest effect was asked for, which is that of all benchmarks.
    pub is_effect_asked: bool,
    /// How files are read; `None` as usual.
    pub reading: Option<ImportOptions>,
    /// The runs that sides have which are conditions.
    pub main: MainChoice,
}

impl JudgingOptions {
    /// Leaves out of what a store gives the annotations that do not count; returns a note on those.
    pub fn honour(&self, store: &Store) -> Result<Option<Note>, StoreError> {
        let mut counts = AnnotationCounts::default();
        for remark in store.honour(&self.triage_by)? {
            counts.add(&remark.annotation);
        }
        Ok(disregarded_note(&counts))
    }

    /// Returns the commit that a revision means in the repository under test, and its ancestors; empty if it means
    /// none.
    pub fn ancestry(&self, revision: &str) -> Vec<String> {
        let repository = self.suite.repository.as_deref();
        repository.map_or_else(Vec::new, |folder| ancestry(folder, revision))
    }

    /// Returns what the repository under test knows of commits.
    pub fn repository(&self) -> RepositoryCommits<'_> {
        RepositoryCommits {
            ancestry: Box::new(|revision| self.ancestry(revision)),
            line: Box::new(|commits| self.commit_line(commits)),
        }
    }

    /// Returns the line of the default branch of the repository under test, if it has one of these commits.
    fn commit_line(&self, commits: &BTreeSet<&str>) -> Option<CommitLine> {
        let folder = self.suite.repository.as_deref()?;
        if commits.is_empty() {
            return None;
        }
        let known = known_commits(folder, commits.iter().copied());
        if known.is_empty() {
            return None;
        }
        let of_branch = default_line(folder)?;
        let (branch, commits) = (of_branch.branch.clone(), of_branch.commits.clone());
        let line = CommitLine::new(branch, commits, known);
        Some(if line.has_others() {
            line.in_order(of_branch.with_merged(folder))
        } else {
            line
        })
    }

    /// Returns the number of commits after one up to another; `None` if the repository under test does not have them.
    pub fn number_of_commits(&self, after: &str, up_to: &str) -> Option<usize> {
        number_of_commits(self.suite.repository.as_deref()?, after, up_to)
    }

    /// Returns the newest commits after one up to another, at most so many; none if the repository under test does not
    /// have them.
    pub fn commits_after(&self, after: &str, up_to: &str, most: usize) -> Vec<CommitWords> {
        let repository = self.suite.repository.as_deref();
        let commits = repository.map(|folder| commits_after(folder, after, up_to, most));
        let commits = commits.into_iter().flatten();
        let words = commits.map(|(commit, summary)| CommitWords {
            commit,
            subject: summary.subject,
            author: summary.author,
        });
        words.collect()
    }

    /// Returns the address of the remote of the repository under test, if the repository has this commit.
    pub fn remote_with(&self, commit: &str) -> Option<String> {
        self.number_of_commits(commit, commit)?;
        remote_address(self.suite.repository.as_deref()?)
    }
}

/// Returns the start of the steady state.
fn parse_burn_in(text: &str) -> Result<JudgedFrom, String> {
    match text {
        "recorded" => Ok(JudgedFrom::Recorded),
        "auto" => Ok(JudgedFrom::Auto),
        number => number
            .parse()
            .map(JudgedFrom::Index)
            .map_err(|_not_a_number| {
                "write burn_in=recorded, burn_in=auto or burn_in=N".to_owned()
            }),
    }
}

impl CleaningOptions {
    /// Returns the settings of the options, else of the suite file, else the defaults.
    pub fn judging(&self) -> Result<JudgingOptions, CliError> {
        self.judging_as(None)
    }

    /// Returns the options of the suite file in a folder, if it has one.
    pub fn of_folder(folder: Option<&Path>) -> Self {
        let file = folder.map(|it| it.join(suite_file::SUITE_FILE));
        Self {
            suite: SuiteOption {
                file: file.filter(|it| it.is_file()),
            },
            ..Self::default()
        }
    }

    /// Returns the options of the suite that a session was measured by: of the file that it names, or of the one in the
    /// folder of its plan.
    pub fn of_session(session: &Session, plan: &Plan) -> Self {
        let named = session.attributes.get(SUITE_FILE_OF_SESSION);
        match named.and_then(|it| it.as_str()).map(PathBuf::from) {
            Some(path) => Self {
                suite: SuiteOption {
                    file: Some(match path.is_file() {
                        true => path,
                        false => PathBuf::from("none"),
                    }),
                },
                ..Self::default()
            },
            None => Self::of_folder(plan.directory.as_ref().map(Path::new)),
        }
    }

    /// Returns the suite file that sets defaults; `None` if none is to be read.
    pub fn suite(&self) -> Option<PathBuf> {
        self.suite.path()
    }

    fn judging_as(&self, compat: Option<Compat>) -> Result<JudgingOptions, CliError> {
        let suite = self.suite_settings()?;
        let confidence = suite.confidence.map(Confidence::new).transpose()?;
        Ok(JudgingOptions {
            rules: self.rules_with(&suite, compat)?,
            smallest_effect: suite.smallest_effect,
            confidence,
            false_discovery_rate: suite.false_discovery_rate,
            triage_by: suite.triage_by.clone(),
            suite,
            is_effect_asked: false,
            reading: None,
            main: MainChoice::DefaultBranch,
        })
    }

    /// Returns the rules of cleaning.
    pub fn rules(&self) -> Result<CleaningRules, CliError> {
        Ok(self.judging()?.rules)
    }

    fn suite_settings(&self) -> Result<JudgeSettings, CliError> {
        let Some(path) = self.suite() else {
            return Ok(JudgeSettings {
                repository: Some(PathBuf::from(".")),
                ..JudgeSettings::default()
            });
        };
        suite_file::judging(&path, "has settings for judging")
    }

    fn rules_with(
        &self,
        suite: &JudgeSettings,
        compat: Option<Compat>,
    ) -> Result<CleaningRules, CliError> {
        let written = WrittenRules::parse(&self.clean.join(" ")).map_err(CliError::input)?;
        // A burn-in on the command line applies to all benchmarks, despite a file of the suite.
        let file_of_suite = match written.burn_in {
            Some(_) => None,
            None => suite.burn_in_file.as_ref(),
        };
        let starts = match written.burn_in_file.as_ref().or(file_of_suite) {
            Some(path) => Some(burn_in_file::read(path)?),
            None => None,
        };
        if let Some(Compat::Hail) = compat {
            let Some(starts) = starts else {
                return Err(CliError::input(
                    "--compat hail needs the first steady iterations",
                )
                .hint(
                    "name their file with --clean burn_in_file=FILE; `lapwing burn-in -o FILE` writes one",
                ));
            };
            // The rules of Hail, except those that options set.
            return Ok(written.over(CleaningRules::hail(starts)));
        }
        let usual = CleaningRules::default();
        let least = |number: Option<u32>, usual: usize| {
            number.map_or(usual, |it| usize::try_from(it).unwrap_or(usize::MAX))
        };
        Ok(written.over(CleaningRules {
            burn_in: BurnInRule {
                listed: starts,
                others: Some(
                    written
                        .burn_in
                        .or(suite.burn_in)
                        .unwrap_or(JudgedFrom::Recorded),
                ),
            },
            outliers: suite.outlier_factor.map(outliers),
            min_iterations: least(suite.min_iterations, usual.min_iterations),
            min_instances: least(suite.min_instances, usual.min_instances),
            ..usual
        }))
    }
}

fn outliers(factor: f64) -> OutlierRule {
    OutlierRule {
        factor,
        fewest_values: 0,
        metrics: OutlierMetrics::Times,
    }
}

fn parse_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor > 1.0 && factor.is_finite() => Ok(factor),
        Ok(_) | Err(_) => {
            Err("write outlier_factor=X with a number above 1, such as 10".to_owned())
        }
    }
}
