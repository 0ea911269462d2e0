//! Measurements for the tests of this crate.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_model::{Benchmark, Id, Instance, Object, Outcome, Run, Session, Version};
use lapwing_record::{InstanceData, Iterations};

/// Returns an instance of these iterations: burn-in, outcome, wall time.
pub fn instance(iterations: &[(bool, Outcome, f64)]) -> InstanceData {
    let id = Id::derived(&[b"test"]);
    let count = u32::try_from(iterations.len()).expect("few");
    let mut columns = Iterations::default();
    columns.offset = iterations.iter().map(|_| f64::NAN).collect();
    columns.burn_in = iterations.iter().map(|it| it.0).collect();
    columns.loops = iterations.iter().map(|_| 1).collect();
    columns.outcome = iterations.iter().map(|it| it.1).collect();
    let values = iterations.iter().map(|it| it.2).collect();
    columns.values.insert("wall_time".to_owned(), values);
    columns.push_indices(0..count);
    InstanceData {
        session: Arc::new(Session {
            id,
            suite: "test".to_owned(),
            started: jiff::Timestamp::UNIX_EPOCH,
            seed: None,
            tool: "test".to_owned(),
            name: None,
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        }),
        run: Arc::new(Run {
            id,
            session: id,
            variant: Run::DEFAULT_VARIANT.to_owned(),
            factors: BTreeMap::new(),
            definitions: BTreeMap::new(),
            version: Version::default(),
            metrics: BTreeMap::new(),
            environment: Object::new(),
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        }),
        recorded_fingerprint: None,
        instance: Instance {
            id,
            run: id,
            benchmark: Benchmark::default(),
            block: 0,
            position: 0,
            attempt: 0,
            host: None,
            started: None,
            environment: Object::new(),
            job: Object::new(),
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        },
        end: None,
        iterations: columns,
        summaries: Vec::new(),
    }
}
