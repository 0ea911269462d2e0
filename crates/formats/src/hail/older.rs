//! The document that Hail's benchmarks wrote before 2024: one object a benchmark with its times in seconds, or, where
//! several files were combined, with a list of trials.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{METRICS, commit_of};
use crate::shared::detect::{has_key, has_own_key, is_object};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, iterations_of};
use crate::shared::keys::take_text;
use crate::shared::others::others;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::reading::number::{Number, column};
use crate::shared::sink::Sink;
use crate::{BadLine, ImportError, Source};
use lapwing_model::{InstanceOutcome, Metric, Object, Outcome, Version};
use lapwing_record::Mark;

/// Returns whether a text begins as such a document.
pub(super) fn is_older(head: &[u8]) -> bool {
    is_object(head)
        && has_own_key(head, "config")
        && has_own_key(head, "benchmarks")
        && (has_key(head, "times") || has_key(head, "failed"))
}

#[derive(Deserialize)]
struct OlderDocument<'d> {
    #[serde(default)]
    config: Object,
    #[serde(borrow)]
    benchmarks: Vec<&'d RawValue>,
}

/// A benchmark with one trial or several.
#[derive(Deserialize)]
struct OlderBenchmark<'d> {
    name: String,
    #[serde(borrow)]
    trials: Option<Vec<&'d RawValue>>,
}

/// The keys that are read of a benchmark and of a trial.
const KEYS: [&str; 5] = ["name", "trials", "failed", "timed_out", "times"];

/// One process.
#[derive(Deserialize)]
struct OlderTrial {
    #[serde(default)]
    failed: bool,
    #[serde(default)]
    timed_out: bool,
    #[serde(default, deserialize_with = "column")]
    times: Vec<f64>,
}

pub(super) fn read_older(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let OlderDocument {
        mut config,
        benchmarks,
    } = document.parse()?;
    let started = take_text(&mut config, "timestamp");
    let session = SessionDraft {
        started: started.as_deref().and_then(moment),
        ..SessionDraft::of("hail benchmark")
    };
    let version = take_text(&mut config, "version");
    let mut intake = Intake::begin(source, document.sha256(), sink, session)?;
    let run = intake.run(RunDraft {
        version: Version {
            commit: version.as_deref().and_then(commit_of),
            name: version,
            ..Version::default()
        },
        environment: config,
        ..RunDraft::default()
    })?;
    let mut blocks: BTreeMap<String, u32> = BTreeMap::new();
    for raw in benchmarks {
        let read = document.element::<OlderBenchmark<'_>>(raw);
        let Some(OlderBenchmark { name, trials }) = intake.good(read) else {
            continue;
        };
        let trials = trials.unwrap_or_else(|| vec![raw]);
        if trials.is_empty() {
            let spot = document.spot_of(raw.get());
            intake
                .found()
                .without_result(&name, spot, "it has no trials");
        }
        for raw in trials {
            let mut draft = draft(&document, &name, raw);
            if let Ok(draft) = &mut draft {
                let block = blocks.entry(name.clone()).or_default();
                draft.block = *block;
                *block += 1;
                let kept = "attributes of the instance";
                intake.notes().kept_all(draft.attributes.keys(), kept);
            }
            intake.read_instance(document.spot_of(raw.get()), run, draft)?;
        }
    }
    intake.finish()
}

fn draft(document: &Document, name: &str, raw: &RawValue) -> Result<InstanceDraft, BadLine> {
    // Combined files may hold lists of times alone.
    let trial = match raw.get().starts_with('[') {
        true => OlderTrial {
            failed: false,
            timed_out: false,
            times: document
                .element::<Vec<Number>>(raw)?
                .into_iter()
                .map(|time| time.0)
                .collect(),
        },
        false => document.element(raw)?,
    };
    let mut draft = InstanceDraft::of(name);
    if raw.get().starts_with('{') {
        draft.attributes = others(document, raw, &KEYS)?;
    }
    draft.iterations = iterations_of(METRICS[0], trial.times);
    draft
        .metrics
        .insert(METRICS[0].to_owned(), Metric::lower("s"));
    if trial.timed_out {
        draft.outcome = InstanceOutcome::TimedOut;
        // The time is the limit.
        let last = draft.iterations.count.checked_sub(1);
        if let Some(last) = last.and_then(|last| u32::try_from(last).ok()) {
            let mark = Mark {
                outcome: Outcome::TimedOut,
                message: None,
                attributes: Object::new(),
            };
            draft.iterations.marks.insert(last, mark);
        }
    } else if trial.failed {
        draft.outcome = InstanceOutcome::Failed;
    }
    Ok(draft)
}
