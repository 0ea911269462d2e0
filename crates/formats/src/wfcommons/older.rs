//! WfFormat 1.3 and 1.4: a task is one object with its place in the graph and its execution.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Execution, Machine, Specification, SpecifiedFile, SpecifiedTask, Workflow};
use crate::BadLine;
use crate::shared::reading::document::Document;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OlderWorkflow<'d> {
    #[serde(alias = "makespan")]
    makespan_in_seconds: Option<f64>,
    executed_at: Option<String>,
    #[serde(borrow)]
    tasks: Vec<&'d RawValue>,
    #[serde(default)]
    machines: Vec<Machine>,
}

#[derive(Deserialize)]
struct OlderTask {
    #[serde(default)]
    name: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    files: Vec<OlderFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OlderFile {
    link: Option<String>,
    name: String,
    #[serde(default, alias = "size")]
    size_in_bytes: u64,
}

impl<'d> OlderWorkflow<'d> {
    /// Returns the workflow in the form of 1.5.
    pub(super) fn into_workflow(self, document: &'d Document) -> Result<Workflow<'d>, BadLine> {
        let tasks = self.tasks.iter().map(|raw| document.element(raw));
        // What is wrong with a task is said when it is read.
        let tasks: Vec<OlderTask> = tasks.filter_map(Result::ok).collect();
        let ids: BTreeSet<String> = tasks.iter().map(OlderTask::id).collect();
        let by_name: BTreeMap<&String, String> =
            tasks.iter().map(|task| (&task.name, task.id())).collect();
        let specified = tasks.iter().map(|task| SpecifiedTask {
            id: task.id(),
            name: task.name.clone(),
            // Parents have their ids or their names.
            parents: task
                .parents
                .iter()
                .map(|parent| match by_name.get(parent) {
                    Some(id) if !ids.contains(parent) => id.clone(),
                    Some(_) | None => parent.clone(),
                })
                .collect(),
            output_files: task
                .files
                .iter()
                .filter(|file| file.link.as_deref() == Some("output"))
                .map(|file| file.name.clone())
                .collect(),
        });
        let files = tasks.iter().flat_map(|task| &task.files);
        let files = files.map(|file| SpecifiedFile {
            id: file.name.clone(),
            size_in_bytes: file.size_in_bytes,
        });
        Ok(Workflow {
            specification: Specification {
                tasks: specified.collect(),
                files: files.collect(),
            },
            execution: Execution {
                makespan_in_seconds: self.makespan_in_seconds,
                executed_at: self.executed_at,
                tasks: self.tasks,
                machines: self.machines,
            },
        })
    }
}

impl OlderTask {
    fn id(&self) -> String {
        match self.id.is_empty() {
            true => self.name.clone(),
            false => self.id.clone(),
        }
    }
}
