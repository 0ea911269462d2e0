//! Conbench's documents, as they stand there.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ImportError;
use crate::shared::keys::put_object;
use crate::shared::reading::document::Document;
use crate::shared::reading::number::{Number, column, known};
use lapwing_model::Object;

/// A page of what the server has.
#[derive(Deserialize)]
struct Page<'d> {
    #[serde(borrow)]
    data: Option<&'d RawValue>,
    metadata: Option<Value>,
    #[serde(flatten)]
    others: Object,
}

/// Pages may be wrapped once more by the program that fetched them.
const DEEPEST: usize = 3;

/// Returns the results of a document: of a list of them, of a page, or the one that it is;
/// with what else the page says.
pub(super) fn elements(document: &Document) -> Result<(Vec<&RawValue>, Object), ImportError> {
    let mut about = Object::new();
    let mut raw: &RawValue = document.parse()?;
    for _ in 0..DEEPEST {
        if raw.get().starts_with('[') {
            break;
        }
        let page: Page<'_> = document.element(raw).map_err(|it| document.refused(it))?;
        match page.data {
            Some(inner) => raw = inner,
            None => return Ok((vec![raw], about)),
        }
        about.extend(page.others);
        match page.metadata {
            Some(Value::Object(mut metadata)) => {
                // Where the next page is says nothing of this one.
                metadata.remove("next_page_cursor");
                put_object(&mut about, "metadata", metadata);
            }
            Some(other) => {
                about.insert("metadata".to_owned(), other);
            }
            None => {}
        }
    }
    let elements = document.element(raw).map_err(|it| document.refused(it))?;
    Ok((elements, about))
}

/// Distinguishes a result from a comparison of two.
#[derive(Deserialize)]
pub(super) struct Element {
    pub(super) baseline: Option<IgnoredAny>,
    pub(super) contender: Option<IgnoredAny>,
}

/// One benchmark in one batch.
#[derive(Deserialize)]
pub(super) struct Posted {
    pub(super) run_id: Option<String>,
    pub(super) run_name: Option<String>,
    pub(super) run_reason: Option<String>,
    pub(super) run_tags: Option<Object>,
    pub(super) batch_id: Option<String>,
    pub(super) timestamp: Option<String>,
    pub(super) tags: Option<Object>,
    pub(super) info: Option<Object>,
    pub(super) context: Option<Object>,
    pub(super) optional_benchmark_info: Option<Object>,
    pub(super) validation: Option<Object>,
    pub(super) change_annotations: Option<Object>,
    pub(super) github: Option<Object>,
    pub(super) commit: Option<Object>,
    pub(super) machine_info: Option<Object>,
    pub(super) cluster_info: Option<Object>,
    pub(super) hardware: Option<Object>,
    pub(super) stats: Option<ConbenchStats>,
    pub(super) error: Option<Value>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// The measurements.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ConbenchStats {
    #[serde(deserialize_with = "column")]
    pub(super) data: Vec<f64>,
    pub(super) unit: Option<String>,
    #[serde(deserialize_with = "column")]
    pub(super) times: Vec<f64>,
    pub(super) time_unit: Option<String>,
    pub(super) iterations: Option<u64>,
    mean: Number,
    median: Number,
    stdev: Number,
    min: Number,
    max: Number,
    q1: Number,
    q3: Number,
    iqr: Number,
    #[serde(flatten)]
    pub(super) others: Object,
}

impl ConbenchStats {
    /// Returns the figure of that name, where the source has it.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        let figure = match name {
            "mean" => self.mean,
            "median" => self.median,
            "stdev" => self.stdev,
            "min" => self.min,
            "max" => self.max,
            "q1" => self.q1,
            "q3" => self.q3,
            "iqr" => self.iqr,
            _other => return None,
        };
        figure.known()
    }
}

/// Two results of the same benchmark.
#[derive(Deserialize)]
pub(super) struct Comparison {
    pub(super) unit: Option<String>,
    pub(super) less_is_better: Option<bool>,
    pub(super) baseline: Option<Side>,
    pub(super) contender: Option<Side>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// One of them.
#[derive(Deserialize)]
pub(super) struct Side {
    pub(super) tags: Option<Object>,
    pub(super) run_id: Option<String>,
    pub(super) batch_id: Option<String>,
    pub(super) error: Option<Value>,
    #[serde(default, deserialize_with = "known")]
    pub(super) single_value_summary: Option<f64>,
    #[serde(flatten)]
    pub(super) others: Object,
}
