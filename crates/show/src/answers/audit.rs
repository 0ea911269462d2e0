//! Exclusions in the answers of judging commands: a line below the answer, or with `--audit` all
//! of them (`docs/cleaning.md`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use lapwing_analyse::clean::{
    Audit, AuditStage, BenchmarkAudit, BurnInSource, IterationState, LeftOut, SteadyFrom,
};
use lapwing_model::text::{counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerFormat, Table};

/// Detail of the exclusions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditDetail {
    /// A line, and in JSON the sums.
    Line,
    /// Every step and every benchmark, and in JSON every iteration.
    All,
}

/// Maximum number of rows of a table.
const SHOWN: usize = 20;

/// Exclusions below an answer.
#[derive(Debug, Clone, Copy)]
pub struct AuditPart<'a> {
    /// The exclusions.
    pub audit: &'a Audit,
    /// How many of them are listed.
    pub detail: AuditDetail,
}

impl<'a> AuditPart<'a> {
    /// Writes the exclusions in text or Markdown. JSON has them in its own key
    /// ([`Self::fields`]), and CSV has none.
    pub fn write(
        self,
        format: AnswerFormat,
        room: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let escape = |line: String| line.replace('|', "\\|");
        match (format, self.detail, line(self.audit)) {
            (AnswerFormat::Text, AuditDetail::Line, Some(line)) => writeln!(out, "\n{line}"),
            (AnswerFormat::Markdown, AuditDetail::Line, Some(line)) => {
                writeln!(out, "\n{}", escape(line))
            }
            (AnswerFormat::Text, AuditDetail::All, _) => {
                writeln!(out)?;
                sections(self.audit, |table, out| table.text_within(room, out), out)
            }
            (AnswerFormat::Markdown, AuditDetail::All, _) => {
                writeln!(out)?;
                sections(self.audit, Table::markdown, out)
            }
            (AnswerFormat::Text | AnswerFormat::Markdown, AuditDetail::Line, None)
            | (AnswerFormat::Csv | AnswerFormat::Json, _, _) => Ok(()),
        }
    }

    /// Returns the value of the key `audit` of an answer.
    pub fn fields(self) -> AuditFields<'a> {
        AuditFields::new(self.audit, self.detail)
    }
}

/// Returns `excluded from 1,200 iterations: 90 burn-in, 3 failed (--audit shows which)`; `None`
/// without exclusions.
fn line(audit: &Audit) -> Option<String> {
    let left_out = audit.left_out();
    if left_out.is_empty() {
        return None;
    }
    Some(format!(
        "excluded from {}: {} (`--audit` shows which)",
        recorded(audit),
        reasons(&left_out)
    ))
}

/// Returns `1,200 iterations`, or `2,400 values` if iterations count for several metrics.
fn recorded(audit: &Audit) -> String {
    let all = audit.funnel().stages().next();
    let iterations = all.map_or(0, |(_, it)| it.iterations) as u64;
    if audit.has_several_metrics() {
        counted(iterations, "value")
    } else {
        counted(iterations, "iteration")
    }
}

/// Returns `90 burn-in, 3 failed`.
fn reasons(left_out: &LeftOut) -> String {
    let parts: Vec<String> = left_out
        .reasons()
        .map(|(state, count)| format!("{} {}", grouped(count), state.name()))
        .collect();
    parts.join(", ")
}

/// Writes the steps, the benchmarks that are not viable, and the exclusions of each.
fn sections(
    audit: &Audit,
    write: impl Fn(&Table, &mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Exclusions, step by step:\n")?;
    write(&funnel(audit), out)?;
    if audit.has_several_metrics() {
        writeln!(
            out,
            "\ninstances and iterations are counted once per metric"
        )?;
    }
    let not_viable: Vec<&BenchmarkAudit> = audit.not_viable().map(|(it, _)| it).collect();
    if !not_viable.is_empty() {
        writeln!(
            out,
            "\n{} not analysed:\n",
            counted(not_viable.len(), "benchmark")
        )?;
        let mut table = Table::new(&[("benchmark", Left), ("why", Left)]);
        for it in not_viable.iter().take(SHOWN) {
            table.row(vec![name(audit, it), it.reason().unwrap_or_default()]);
        }
        write(&table, out)?;
        and_more(not_viable.len(), out)?;
    }
    let never: Vec<String> = never_steady(audit).map(|it| name(audit, it)).collect();
    if !never.is_empty() {
        let (verb, them) = match never.len() {
            1 => ("reaches", "it"),
            _ => ("reach", "them"),
        };
        writeln!(
            out,
            "\n{} never {verb} a steady state; fix or retire {them}: {}",
            counted(never.len(), "benchmark"),
            never[..never.len().min(SHOWN)].join(", ")
        )?;
        and_more(never.len(), out)?;
    }
    let lossy: Vec<&BenchmarkAudit> = audit
        .benchmarks
        .iter()
        .filter(|it| !it.left_out.is_empty())
        .collect();
    if !lossy.is_empty() {
        writeln!(out, "\nExclusions by benchmark:\n")?;
        write(&losses(audit, &lossy), out)?;
        and_more(lossy.len(), out)?;
    }
    Ok(())
}

fn and_more(all: usize, out: &mut dyn Write) -> io::Result<()> {
    match all.checked_sub(SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => {
            let more = grouped(more);
            writeln!(out, "\nand {more} more; `--audit --format json` lists all")
        }
    }
}

fn funnel(audit: &Audit) -> Table {
    let mut table = Table::new(&[
        ("left", Left),
        ("benchmarks", Right),
        ("instances", Right),
        ("iterations", Right),
    ]);
    for (stage, left) in audit.funnel().stages() {
        table.row(vec![
            stage.name().to_owned(),
            grouped(left.benchmarks),
            grouped(left.instances),
            grouped(left.iterations),
        ]);
    }
    table
}

fn losses(audit: &Audit, lossy: &[&BenchmarkAudit]) -> Table {
    let mut table = Table::new(&[
        ("benchmark", Left),
        ("burn-in", Left),
        ("iterations left", Right),
        ("excluded", Left),
    ]);
    for it in lossy.iter().take(SHOWN) {
        let [recorded, left] = iterations(it);
        table.row(vec![
            name(audit, it),
            burn_in_text(it),
            format!("{} of {}", grouped(left), grouped(recorded)),
            reasons(&it.left_out),
        ]);
    }
    table
}

/// Returns the numbers of recorded and of analysed iterations.
fn iterations(it: &BenchmarkAudit) -> [usize; 2] {
    let at = |stage: usize| {
        it.funnel
            .stages()
            .nth(stage)
            .map_or(0, |it| it.1.iterations)
    };
    [at(0), at(AuditStage::ALL.len() - 1)]
}

/// Returns `12 (found)`, or why there is no burn-in.
fn burn_in_text(it: &BenchmarkAudit) -> String {
    let from = match it.burn_in {
        BurnInSource::Recorded => return "as planned".to_owned(),
        BurnInSource::NotListed => return "not in the file".to_owned(),
        BurnInSource::Given => "given",
        BurnInSource::Listed => "file",
        BurnInSource::Reviewed => "review",
        BurnInSource::Found { .. } => "found",
    };
    match it.policy.burn_in {
        SteadyFrom::Index(first) => match it.burn_in.wanted() {
            Some(wanted) => format!("{first} ({from}; wants {wanted})"),
            None => format!("{first} ({from})"),
        },
        SteadyFrom::Never => "never steady".to_owned(),
        SteadyFrom::Recorded => "as planned: too few iterations".to_owned(),
        SteadyFrom::Unknown => "unknown".to_owned(),
    }
}

/// Returns the name of a benchmark in the audit, with suite, metric and setting if they differ.
fn name(audit: &Audit, it: &BenchmarkAudit) -> String {
    let mut name = it.benchmark.clone();
    if audit.has_several_suites() {
        name = format!("{}: {name}", it.suite);
    }
    if let Some(setting) = it.setting.text().filter(|_| audit.has_several_settings()) {
        name.push_str(&format!(" ({setting})"));
    }
    if let Some(side) = &it.side {
        name.push_str(&format!(" in {side}"));
    }
    if audit.has_several_metrics() {
        name.push_str(&format!(", {}", it.metric));
    }
    name
}

fn never_steady(audit: &Audit) -> impl Iterator<Item = &BenchmarkAudit> {
    audit
        .benchmarks
        .iter()
        .filter(|it| it.policy.burn_in == SteadyFrom::Never)
}

/// Exclusions in an answer for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditFields<'a> {
    /// What remains after each step that excludes something; with `--audit` after every step.
    funnel: Vec<FunnelFields>,
    /// Number of excluded iterations by rule.
    left_out: BTreeMap<&'static str, usize>,
    /// Benchmarks that are not analysed.
    not_viable: Vec<NotViableFields<'a>>,
    /// Benchmarks that never reach a steady state.
    never_steady: Vec<AuditIdentity<'a>>,
    /// Every benchmark with its exclusions: only with `--audit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmarks: Option<Vec<AuditedFields<'a>>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FunnelFields {
    stage: &'static str,
    benchmarks: usize,
    instances: usize,
    iterations: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AuditIdentity<'a> {
    suite: &'a str,
    benchmark: &'a str,
    setting: Option<String>,
    side: Option<&'a str>,
    metric: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotViableFields<'a> {
    #[serde(flatten)]
    identity: AuditIdentity<'a>,
    stage: Option<&'static str>,
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AuditedFields<'a> {
    #[serde(flatten)]
    identity: AuditIdentity<'a>,
    burn_in: AuditBurnInFields,
    /// Number of recorded iterations.
    iterations: usize,
    /// Number of iterations that are analysed.
    iterations_left: usize,
    left_out: BTreeMap<&'static str, usize>,
    exclusions: Vec<ExclusionFields<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AuditBurnInFields {
    from: &'static str,
    first_steady: Option<u32>,
    wanted: Option<u32>,
    never_steady: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExclusionFields<'a> {
    instance: String,
    rule: &'static str,
    /// First and last index of each stretch.
    indices: &'a [(u32, u32)],
}

impl<'a> AuditFields<'a> {
    fn new(audit: &'a Audit, detail: AuditDetail) -> Self {
        let funnel = audit.funnel();
        let mut funnel: Vec<FunnelFields> = funnel
            .stages()
            .map(|(stage, left)| FunnelFields {
                stage: stage.key(),
                benchmarks: left.benchmarks,
                instances: left.instances,
                iterations: left.iterations,
            })
            .collect();
        if detail == AuditDetail::Line {
            // Stages that leave everything are in the whole audit only.
            funnel.dedup_by_key(|it| (it.benchmarks, it.instances, it.iterations));
        }
        let not_viable = audit.not_viable().map(|(it, stage)| NotViableFields {
            identity: AuditIdentity::new(it),
            stage: stage.map(AuditStage::key),
            reason: it.reason(),
        });
        let benchmarks = || audit.benchmarks.iter().map(AuditedFields::new).collect();
        Self {
            funnel,
            left_out: left_out_fields(&audit.left_out()),
            not_viable: not_viable.collect(),
            never_steady: never_steady(audit).map(AuditIdentity::new).collect(),
            benchmarks: (detail == AuditDetail::All).then(benchmarks),
        }
    }
}

impl<'a> AuditIdentity<'a> {
    fn new(it: &'a BenchmarkAudit) -> Self {
        Self {
            suite: &it.suite,
            benchmark: &it.benchmark,
            setting: it.setting.text(),
            side: it.side.as_deref(),
            metric: &it.metric,
        }
    }
}

impl<'a> AuditedFields<'a> {
    fn new(it: &'a BenchmarkAudit) -> Self {
        let first = match it.policy.burn_in {
            SteadyFrom::Index(first) => Some(first),
            SteadyFrom::Recorded | SteadyFrom::Never | SteadyFrom::Unknown => None,
        };
        let exclusions = it.exclusions.iter().map(|exclusion| ExclusionFields {
            instance: exclusion.instance.to_string(),
            rule: exclusion.state.key(),
            indices: &exclusion.stretches,
        });
        let [recorded, left] = iterations(it);
        Self {
            identity: AuditIdentity::new(it),
            iterations: recorded,
            iterations_left: left,
            burn_in: AuditBurnInFields {
                from: it.burn_in.key(),
                first_steady: first,
                wanted: it.burn_in.wanted(),
                never_steady: it.policy.burn_in == SteadyFrom::Never,
            },
            left_out: left_out_fields(&it.left_out),
            exclusions: exclusions.collect(),
        }
    }
}

/// Returns the number of exclusions of each rule that excludes any.
pub fn left_out_fields(left_out: &LeftOut) -> BTreeMap<&'static str, usize> {
    IterationState::ALL
        .into_iter()
        .filter(|it| *it != IterationState::Steady)
        .map(|it| (it.key(), left_out.count(it)))
        .filter(|(_, count)| *count > 0)
        .collect()
}
