//! The answer of a bisection, from its search.

use std::path::Path;

use lapwing_measure::bisection::{
    CaseSearch, CommitComparison, CommitSearch, SearchStage, UnsearchedBranch,
};
use lapwing_measure::{CommitSummary, RunEnd, commit_summary};
use lapwing_show::answers::bisection::{
    BisectRow, BisectedBenchmark, BisectedBranch, BisectedCommit, BisectedPair, BisectionAnswer,
    BisectionOutcome, CommitDescription, SuspectCommits,
};

/// Commits with a smaller probability are left out of the table, unless they were measured.
const LIKELY: f64 = 0.05;

/// Returns the answer of a search by a metric.
pub fn bisection_answer(search: &CommitSearch<'_>, metric: &str, end: RunEnd) -> BisectionAnswer {
    let benchmarks = search.cases.iter();
    BisectionAnswer {
        metric: metric.to_owned(),
        is_interrupted: end == RunEnd::Interrupted,
        instances: search.visits.instances(),
        visited: search.visits.visited(),
        commits: search.visits.plan.variants.len(),
        benchmarks: benchmarks
            .map(|case| benchmark(search, case, metric))
            .collect(),
        session: String::new(),
        next: Vec::new(),
    }
}

fn benchmark(search: &CommitSearch<'_>, case: &CaseSearch, metric: &str) -> BisectedBenchmark {
    let planned = &search.visits.plan.cases[case.case];
    let declared = planned.metrics.get(metric).map(|it| it.unit.clone());
    let usual = if metric.ends_with("_time") { "s" } else { "" };
    let commit = |variant: usize| commit(search, variant);
    let pair = |compared: CommitComparison| {
        let [baseline, candidate] = compared.commits.map(commit);
        BisectedPair {
            baseline,
            candidate,
            looked: compared.looked,
        }
    };
    let suspects = case.suspects();
    let merges = case.merges.iter();
    let broken = case.broken.iter();
    BisectedBenchmark {
        id: planned.benchmark.id.clone(),
        unit: declared.unwrap_or_else(|| usual.to_owned()),
        outcome: outcome(search, case),
        suspects: SuspectCommits {
            first: commit(case.line[suspects.first]),
            last: commit(case.suspect()),
            count: suspects.last - suspects.first + 1,
            probability: suspects.probability,
        },
        ends: case.ends.map(pair),
        parent: case.parent.map(pair),
        confirmations: case.confirmations,
        merges: merges
            .map(|merge| (commit(merge.variant), merge.parent.looked))
            .collect(),
        unsearched: case.unsearched.clone().map(|branch| match branch {
            UnsearchedBranch::BrokenEnd(label) => BisectedBranch::BrokenEnd(label),
            UnsearchedBranch::NoDifference { ends, looked } => {
                BisectedBranch::NoDifference { ends, looked }
            }
        }),
        rows: rows(search, case),
        broken: broken
            .map(|(variant, reason)| (search.visits.label(*variant), reason.clone()))
            .collect(),
    }
}

fn outcome(search: &CommitSearch<'_>, case: &CaseSearch) -> BisectionOutcome {
    match case.stage {
        SearchStage::Ends | SearchStage::Between | SearchStage::Parent => {
            BisectionOutcome::Unfinished
        }
        SearchStage::NoDifference => BisectionOutcome::NoDifference,
        SearchStage::BrokenEnd(variant) => BisectionOutcome::BrokenEnd {
            label: search.visits.label(variant),
            reason: case.broken.get(&variant).cloned().unwrap_or_default(),
        },
        SearchStage::OutOfBudget => BisectionOutcome::OutOfBudget,
        SearchStage::Found => {
            let summary = summary(search, case.suspect());
            BisectionOutcome::Found(summary.map(|summary| CommitDescription {
                subject: summary.subject,
                author: summary.author,
                parents: summary.parents,
            }))
        }
    }
}

fn rows(search: &CommitSearch<'_>, case: &CaseSearch) -> Vec<BisectRow> {
    let posterior = case.posterior();
    let is_shown = |at: usize| {
        !case.logs(at).is_empty()
            // Without a difference, each commit is as likely.
            || (posterior[at] >= LIKELY && case.stage != SearchStage::NoDifference)
            || case.broken.contains_key(&case.line[at])
    };
    let shown = (0..case.line.len()).filter(|at| is_shown(*at));
    let rows = shown.map(|at| {
        let variant = case.line[at];
        let BisectedCommit { label, hash } = commit(search, variant);
        BisectRow {
            benchmark: search.visits.plan.cases[case.case].benchmark.id.clone(),
            commit: hash,
            subject: summary(search, variant).map_or_else(String::new, |it| it.subject),
            instances: case.logs(at).len(),
            value: lapwing_stats::mean(case.logs(at)).map(f64::exp),
            probability: posterior[at],
            broken: case.broken.get(&variant).cloned(),
            label,
        }
    });
    rows.collect()
}

fn commit(search: &CommitSearch<'_>, variant: usize) -> BisectedCommit {
    let planned = search.visits.plan.variants[variant].commit.as_ref();
    BisectedCommit {
        label: search.visits.label(variant),
        hash: planned.map_or_else(String::new, |planned| planned.hash().to_owned()),
    }
}

fn summary(search: &CommitSearch<'_>, variant: usize) -> Option<CommitSummary> {
    let planned = search.visits.plan.variants[variant].commit.as_ref()?;
    commit_summary(Path::new(&planned.repository), planned.hash())
}
