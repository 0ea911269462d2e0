//! The answer of a bisection, from its search.

use std::path::Path;

use lapwing_measure::bisection::{CaseSearch, CommitSearch, FoundCommit, LineSearch};
use lapwing_measure::{CommitSummary, RunEnd, commit_summary, declared_metrics};
use lapwing_model::{Better, JudgeSettings};
use lapwing_show::answers::bisection::{
    BisectRow, BisectedBenchmark, BisectedBranch, BisectedChange, BisectedCommit, BisectedPair,
    BisectionAnswer, BisectionOutcome, CommitDescription, SuspectCommits,
};
use lapwing_stats::{PairDifference, SearchEnd, SuspectedCommits};

use crate::commands::campaign::direction_note;

/// Commits with a smaller probability are left out of the table, unless they were measured.
const LIKELY: f64 = 0.05;

/// The direction of the changes that a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedChange {
    /// Those that make it better.
    Improvement,
    /// Those that make it worse.
    Regression,
}

/// Returns the answer of a search by a metric; for changes of any direction, if none is wanted.
pub fn bisection_answer(
    search: &CommitSearch<'_>,
    metric: &str,
    end: RunEnd,
    (wanted, judge): (Option<WantedChange>, &JudgeSettings),
) -> BisectionAnswer {
    let benchmarks = search.cases.iter();
    let declared = declared_metrics(&search.visits.plan.cases);
    let declared = declared.get(metric).and_then(|it| it.better);
    let better = |id: &str| judge.limits_of(id, metric).better.or(declared);
    let mut cases = search.visits.plan.cases.iter();
    let unstated = wanted.and_then(|_| cases.find(|it| better(&it.benchmark.id).is_none()));
    BisectionAnswer {
        metric: metric.to_owned(),
        is_interrupted: end == RunEnd::Interrupted,
        instances: search.visits.instances(),
        visited: search.visits.visited(),
        commits: search.visits.plan.variants.len(),
        benchmarks: benchmarks
            .map(|case| {
                let benchmark = CaseView { search, case }.benchmark(metric);
                match wanted {
                    Some(wanted) => {
                        let better = better(&benchmark.id);
                        only(benchmark, wanted, better)
                    }
                    None => benchmark,
                }
            })
            .collect(),
        notes: unstated
            .and_then(|_| direction_note(metric, None))
            .into_iter()
            .collect(),
        session: String::new(),
        next: Vec::new(),
    }
}

/// Returns a result that counts only changes in the wanted direction.
fn only(
    mut benchmark: BisectedBenchmark,
    wanted: WantedChange,
    better: Option<Better>,
) -> BisectedBenchmark {
    let (is_less, name) = match wanted {
        WantedChange::Improvement => (better != Some(Better::Higher), "improvement"),
        WantedChange::Regression => (better == Some(Better::Higher), "regression"),
    };
    let is_wanted = |it: &BisectedChange| (it.parent.difference.value < 0.0) == is_less;
    let is_found = matches!(benchmark.outcome, BisectionOutcome::Found);
    if is_found && !benchmark.found.iter().any(is_wanted) {
        benchmark.outcome = BisectionOutcome::OnlyOthers(name);
    }
    benchmark
}

/// A benchmark of a search.
struct CaseView<'a> {
    search: &'a CommitSearch<'a>,
    case: &'a CaseSearch,
}

impl CaseView<'_> {
    fn benchmark(&self, metric: &str) -> BisectedBenchmark {
        let planned = &self.search.visits.plan.cases[self.case.case];
        let declared = planned.metrics.get(metric).map(|it| it.unit.clone());
        let usual = if metric.ends_with("_time") { "s" } else { "" };
        let main = &self.case.lines[0];
        let sides = [0, main.commits.len() - 1];
        let ends = main.search.ends();
        let found = self.case.found();
        let refuted = self.case.lines.iter().map(|it| it.search.refuted());
        let broken = self.case.broken.iter();
        BisectedBenchmark {
            id: planned.benchmark.id.clone(),
            unit: declared.unwrap_or_else(|| usual.to_owned()),
            outcome: self.outcome(),
            found: found.iter().map(|it| self.change(it)).collect(),
            ends: ends.map(|difference| self.pair(main, sides, difference)),
            unexplained: main.search.unexplained().filter(|_| !found.is_empty()),
            refuted: refuted.sum(),
            rows: self.rows(),
            broken: broken
                .map(|(variant, reason)| (self.search.visits.label(*variant), reason.clone()))
                .collect(),
        }
    }

    fn outcome(&self) -> BisectionOutcome {
        let main = &self.case.lines[0];
        match self.case.end() {
            None => BisectionOutcome::Unfinished,
            Some(SearchEnd::Alike) => BisectionOutcome::NoDifference,
            Some(SearchEnd::BrokenEnd(_)) if self.is_zero() => BisectionOutcome::Zero,
            Some(SearchEnd::BrokenEnd(at)) => {
                let variant = main.commits[at];
                BisectionOutcome::BrokenEnd {
                    label: self.search.visits.label(variant),
                    reason: self.case.broken.get(&variant).cloned().unwrap_or_default(),
                }
            }
            Some(SearchEnd::NotFound(suspects)) => {
                BisectionOutcome::NotFound(self.suspects(main, suspects))
            }
            Some(SearchEnd::Found(_)) => BisectionOutcome::Found,
        }
    }

    /// Returns whether the metric is 0 at both ends.
    fn is_zero(&self) -> bool {
        let main = &self.case.lines[0].commits;
        [main[0], main[main.len() - 1]].iter().all(|variant| {
            let means = self.search.visits.means(self.case.case, *variant);
            !means.is_empty() && means.iter().all(|mean| mean.abs() <= 0.0)
        })
    }

    fn change(&self, found: &FoundCommit) -> BisectedChange {
        let line = &self.case.lines[found.line];
        let commits = found.change.commits;
        let variant = line.commits[commits.last];
        let summary = self
            .summary(variant)
            .filter(|_| commits.first == commits.last);
        let merges = found.merges.iter();
        BisectedChange {
            suspects: self.suspects(line, commits),
            description: summary.map(|summary| CommitDescription {
                subject: summary.subject,
                author: summary.author,
                parents: summary.parents,
            }),
            parent: self.pair_of(line, commits, found.change.difference),
            is_whole: found.change.is_whole,
            merges: merges
                .map(|(line, change)| {
                    self.pair_of(&self.case.lines[*line], change.commits, change.difference)
                })
                .collect(),
            unsearched: self
                .case
                .branch_of(variant)
                .and_then(|it| self.unsearched(&self.case.lines[it])),
        }
    }

    /// Returns why a branch gives no answer.
    fn unsearched(&self, line: &LineSearch) -> Option<BisectedBranch> {
        let sides = [0, line.commits.len() - 1];
        match line.search.end() {
            Some(SearchEnd::BrokenEnd(at)) => {
                let label = self.search.visits.label(line.commits[at]);
                Some(BisectedBranch::BrokenEnd(label))
            }
            Some(SearchEnd::NotFound(suspects)) => {
                Some(BisectedBranch::NotFound(self.suspects(line, suspects)))
            }
            // Also of a branch whose change is the other way.
            Some(SearchEnd::Alike | SearchEnd::Found(_)) | None => {
                let pair = self.pair(line, sides, line.search.ends()?);
                Some(BisectedBranch::NoDifference(Box::new(pair)))
            }
        }
    }

    fn suspects(&self, line: &LineSearch, suspects: SuspectedCommits) -> SuspectCommits {
        let commits = line.commits[suspects.first..=suspects.last].iter();
        SuspectCommits {
            commits: commits.map(|variant| self.commit(*variant)).collect(),
            probability: suspects.probability,
        }
    }

    fn pair(
        &self,
        line: &LineSearch,
        sides: [usize; 2],
        difference: PairDifference,
    ) -> BisectedPair {
        let [baseline, candidate] = sides.map(|at| self.commit(line.commits[at]));
        BisectedPair {
            baseline,
            candidate,
            difference,
        }
    }

    fn pair_of(
        &self,
        line: &LineSearch,
        commits: SuspectedCommits,
        difference: PairDifference,
    ) -> BisectedPair {
        self.pair(line, [commits.first - 1, commits.last], difference)
    }

    fn rows(&self) -> Vec<BisectRow> {
        let mut rows = Vec::new();
        self.add_rows(0, &mut rows);
        rows
    }

    /// Adds the commits of a line, those of branches before their merges.
    fn add_rows(&self, line: usize, rows: &mut Vec<BisectRow>) {
        let line = &self.case.lines[line];
        let is_alike = line.search.end() == Some(SearchEnd::Alike);
        for (variant, probability) in line.commits.iter().zip(line.search.probabilities()) {
            let mut probability = probability;
            if let Some(branch) = self.case.branch_of(*variant) {
                self.add_rows(branch, rows);
                if !self.case.lines[branch].found().is_empty() {
                    probability = 0.0;
                }
            }
            let BisectedCommit { label, hash } = self.commit(*variant);
            let means = self.search.visits.means(self.case.case, *variant);
            let broken = self.case.broken.get(variant);
            // Without a difference, each commit is as likely.
            let is_likely = probability >= LIKELY && !is_alike;
            let is_shown = !means.is_empty() || is_likely || broken.is_some();
            if !is_shown || rows.iter().any(|row| row.commit == hash) {
                continue;
            }
            rows.push(BisectRow {
                benchmark: self.search.visits.plan.cases[self.case.case]
                    .benchmark
                    .id
                    .clone(),
                commit: hash,
                subject: self
                    .summary(*variant)
                    .map_or_else(String::new, |it| it.subject),
                instances: means.len(),
                value: lapwing_stats::median(&means),
                probability,
                broken: broken.cloned(),
                label,
            });
        }
    }

    fn commit(&self, variant: usize) -> BisectedCommit {
        let planned = self.search.visits.plan.variants[variant].commit.as_ref();
        BisectedCommit {
            label: self.search.visits.label(variant),
            hash: planned.map_or_else(String::new, |planned| planned.hash().to_owned()),
        }
    }

    fn summary(&self, variant: usize) -> Option<CommitSummary> {
        let planned = self.search.visits.plan.variants[variant].commit.as_ref()?;
        commit_summary(Path::new(&planned.repository), planned.hash())
    }
}
