//! Explanations of the time of a run: `lapwing trace show findings`.

use lapwing_model::text::joined;
use lapwing_trace::{Trace, TraceFinding, TraceFindings, lint};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::lint::defect_rows;
use super::with_defects;
use crate::percent;
use crate::trace::{finding_text, headline, path_texts, share, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// Explanations of the time of a run, the largest first.
#[derive(Debug)]
pub struct TraceFindingsAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Its findings.
    pub findings: TraceFindings,
}

#[derive(Default, Serialize)]
struct TraceFindingRow {
    kind: &'static str,
    explains: i64,
    text: String,
}

impl TraceFindingsAnswer<'_> {
    fn finding_rows(&self) -> Vec<TraceFindingRow> {
        let findings = self.findings.findings.iter();
        let rows = findings.map(|finding| TraceFindingRow {
            kind: match finding {
                TraceFinding::TaskTime { .. } => "task_time",
                TraceFinding::Queue { .. } => "queue",
                TraceFinding::OffCpu(_) => "off_cpu",
                TraceFinding::Contention(_) => "contention",
                TraceFinding::Redundant { .. } => "redundant",
                TraceFinding::HotDataset { .. } => "hot_dataset",
                TraceFinding::Imbalance { .. } => "imbalance",
                TraceFinding::Controller { .. } => "controller",
            },
            explains: finding.explains(),
            text: finding_text(self.trace, &self.findings, finding),
        });
        rows.collect()
    }

    /// Returns the times of all workers as shares of their sum.
    fn workers_text(&self) -> String {
        let workers = &self.findings.workers;
        let parts = workers.parts.iter();
        let mut parts: Vec<(&str, i64)> = parts
            .map(|(part, time)| (part.meaning(), *time))
            .chain([("idle", workers.idle)])
            .filter(|(_, time)| *time > 0)
            .collect();
        parts.sort_by_key(|(_, time)| -time);
        let all = workers.all();
        let texts = parts
            .iter()
            .map(|(what, time)| format!("{} {what}", percent(share(*time, all))));
        format!("workers' time: {}", joined(texts))
    }

    fn task_names(&self, tasks: &[usize]) -> Vec<&str> {
        let tasks = tasks.iter().map(|at| self.trace.tasks[*at].name);
        tasks.map(|name| self.trace.text(name)).collect()
    }
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("trace");

impl Answer for TraceFindingsAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::new(&[("explains", Right), ("finding", Left)]);
        for row in self.finding_rows() {
            table.row(vec![time(row.explains), row.text]);
        }
        let mut notes = vec![self.workers_text()];
        notes.extend(path_texts(&self.findings));
        let answer = TextAnswer {
            headline: headline(self.trace, &self.findings),
            table,
            notes: uncoded(notes),
            next: Vec::new(),
            has_table_first: false,
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let trace = self.trace;
        let workers = &self.findings.workers;
        let path = self.findings.path.as_ref().map(|path| {
            let parts = path.parts().into_iter();
            json!({
                "observed": path.is_observed,
                "duration": path.duration(),
                "tasks": self.task_names(&path.tasks),
                "parts": times(parts.map(|(part, time)| (part.name(), time))),
            })
        });
        let ideal = self.findings.ideal.as_ref().map(|ideal| {
            let slack = trace.tasks.iter().zip(&ideal.slack);
            json!({
                "critical_path": ideal.critical,
                "tasks": self.task_names(&ideal.path),
                "slack": times(slack.map(|(task, slack)| (trace.text(task.name), *slack))),
                "work": ideal.work,
                "bound_with_measured_workers": ideal.bound(workers.workers),
            })
        });
        let parts = workers.parts.iter();
        let busy = workers.busy.iter();
        Ok(json!({
            "makespan": workers.makespan,
            "tasks": trace.tasks.len(),
            "workers": workers.workers,
            "utilisation": workers.utilisation(),
            "parallelism": workers.parallelism(),
            "worker_time": {
                "parts": times(parts.map(|(part, time)| (part.name(), *time))),
                "idle": workers.idle,
                "all": workers.all(),
                "busy": times(busy.map(|(worker, time)| (trace.text(*worker), *time))),
            },
            "path": path,
            "ideal": ideal,
            "findings": self.finding_rows(),
            "defects": defect_rows(&lint(trace)),
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.finding_rows())
    }
}

fn times<'n>(times: impl Iterator<Item = (&'n str, i64)>) -> Map<String, Value> {
    times
        .map(|(name, time)| (name.to_owned(), json!(time)))
        .collect()
}
