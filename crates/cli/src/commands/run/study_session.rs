//! Sessions that measure the configurations of a study.

use std::path::Path;

use lapwing_measure::session::{RequestedBenchmarks, SessionRequest};
use lapwing_measure::suite::Settings;
use lapwing_model::Object;
use lapwing_study::design::StudyDesign;

use crate::error::CliError;
use crate::suite::suite_file;

/// The attribute of a session that has the design of its study.
pub const STUDY: &str = StudyDesign::ATTRIBUTE;

/// Returns the request to measure the configurations of a design, in the place of the variants of its suite.
pub fn study_request(design: &StudyDesign, path: &Path) -> Result<SessionRequest, CliError> {
    let path = suite_file::named(path);
    let mut suite = suite_file::load_for_study(&path)?;
    let configurations = design.configurations.iter();
    let configurations: Vec<_> = configurations
        .map(|it| (it.name.clone(), it.levels.clone()))
        .collect();
    suite.set_configurations(&configurations).map_err(|problem| {
        CliError::input(format!("{}: {problem}", path.display()))
            .hint("the suite was changed since the design was made: make another one with `lapwing study design`")
    })?;
    let suite = Box::new(suite);
    let attributes = Object::from_iter([(STUDY.to_owned(), serde_json::to_value(design)?)]);
    Ok(SessionRequest {
        seed: design.seed,
        settings: Settings {
            instances: Some(design.replicates),
            ..Settings::default()
        },
        attributes,
        ..SessionRequest::new(RequestedBenchmarks::Suite { suite, path })
    })
}
