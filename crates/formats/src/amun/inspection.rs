//! The parts that all results of an inspection share: its specification and its build.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::shared::intake::RunDraft;
use crate::shared::keys::{put, take_text};
use lapwing_model::{Level, Object};

/// The attribute of a run that has the inspection.
const INSPECTION: &str = "inspection";

/// An inspection without its results.
#[derive(Debug, Default)]
pub(super) struct Inspection {
    pub(super) id: String,
    pub(super) created: Option<String>,
    pub(super) specification: Option<Object>,
    pub(super) build_log: Option<String>,
    pub(super) dockerfile: Option<String>,
    status: Option<Json>,
    /// Keys that are not understood.
    others: Object,
}

impl Inspection {
    /// Returns an inspection of which only the name is known.
    pub(super) fn of_single(id: String) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }

    /// Reads a document whose results are removed.
    pub(super) fn of_document(mut whole: Object) -> Result<Self, String> {
        let id = take_text(&mut whole, "inspection_id");
        let specification = match whole.remove("specification") {
            Some(Json::Object(specification)) => Some(specification),
            Some(Json::Null) | None => None,
            Some(_) => return Err("`specification` is not an object".to_owned()),
        };
        Ok(Self {
            id: id.ok_or("`inspection_id` is not a text")?,
            created: take_text(&mut whole, "created"),
            build_log: take_text(&mut whole, "build_log"),
            dockerfile: None,
            specification,
            status: whole.remove("status"),
            others: whole,
        })
    }

    /// Returns whether the build went well; `None` if that is unknown.
    pub(super) fn build_outcome(&self) -> Option<Result<(), String>> {
        let code = self
            .status
            .as_ref()?
            .pointer("/build/exit_code")?
            .as_i64()?;
        Some(match code {
            0 => Ok(()),
            code => Err(format!("the build ended with exit code {code}")),
        })
    }

    /// Returns the run of its results: the requested packages and Python are what varies between inspections.
    pub(super) fn run_draft(self, python: Option<String>) -> RunDraft {
        let specification = Json::Object(self.specification.clone().unwrap_or_default());
        let text = |path: &str| Some(specification.pointer(path)?.as_str()?.to_owned());
        let mut packages = BTreeMap::new();
        let locked = specification.pointer("/python/requirements_locked/default");
        for (name, package) in locked.and_then(Json::as_object).into_iter().flatten() {
            if let Some(version) = package.get("version").and_then(Json::as_str) {
                let version = version.trim_start_matches("==");
                packages.insert(name.clone(), version.to_owned());
            }
        }
        let python = text("/python/requirements/requires/python_version").or(python);
        let requested = specification.pointer("/python/requirements/packages");
        let mut factors: BTreeMap<String, Level> = requested
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| Some((name.clone(), Level::Text(packages.get(name)?.clone()))))
            .collect();
        let mut environment = Object::new();
        if let Some(python) = python {
            environment.insert("python".to_owned(), json!(python));
            factors.insert("python".to_owned(), Level::Text(python));
        }
        if !packages.is_empty() {
            environment.insert("packages".to_owned(), json!(packages));
        }
        let mut inspection = self.others;
        inspection.insert("id".to_owned(), json!(self.id));
        let known = [
            ("created", self.created.map(Json::from)),
            ("specification", self.specification.map(Json::from)),
            ("build_log", self.build_log.map(Json::from)),
            ("dockerfile", self.dockerfile.map(Json::from)),
            ("status", self.status),
        ];
        for (key, value) in known {
            put(&mut inspection, key, value);
        }
        let draft = RunDraft {
            factors,
            environment,
            attributes: Object::from_iter([(INSPECTION.to_owned(), inspection.into())]),
            ..RunDraft::default()
        };
        draft.named_by_factors()
    }
}
