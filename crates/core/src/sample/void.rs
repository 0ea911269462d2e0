//! Void instances: the end of an instance can declare all of its iterations invalid.

use crate::model::{InstanceEnd, Outcome};
use crate::record::InstanceData;

/// The key of `observed` of an instance's end: why all of its iterations are excluded.
const VOID: &str = "void";

/// Marks the iterations of a void instance as failed; those that had failed already are unchanged.
///
/// They were recorded as successful: a test whose rounds all passed can detect at its end that they computed a wrong result.
pub(crate) fn settle_void(it: &mut InstanceData) {
    let Some(why) = it.end.as_ref().and_then(reason) else {
        return;
    };
    let why = why.to_owned();
    let iterations = &mut it.iterations;
    for (at, outcome) in iterations.outcome.iter_mut().enumerate() {
        if *outcome == Outcome::Ok {
            *outcome = Outcome::Failed;
            let message = iterations.messages.entry(at);
            message.or_insert_with(|| why.clone());
        }
    }
}

fn reason(end: &InstanceEnd) -> Option<&str> {
    end.observed.get(VOID)?.as_str()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::clean::tests::instance;
    use crate::model::{Id, InstanceOutcome, Object};

    #[test]
    fn what_seemed_fine_fails_with_the_reason_of_the_end() {
        let mut it = instance(&[
            (true, Outcome::Ok, 1.0),
            (false, Outcome::TimedOut, 2.0),
            (false, Outcome::Ok, 3.0),
        ]);
        it.iterations.messages = BTreeMap::from([(1, "too slow".to_owned())]);
        let before = it.iterations.outcome.clone();
        settle_void(&mut it);
        assert_eq!(it.iterations.outcome, before);
        let mut end = InstanceEnd {
            instance: Id::derived(&[b"end"]),
            ended: None,
            outcome: InstanceOutcome::Failed,
            message: None,
            observed: Object::new(),
            extra: Object::new(),
        };
        end.observed.insert("void".to_owned(), json!("0 is not 5"));
        it.end = Some(end);
        settle_void(&mut it);
        assert_eq!(
            it.iterations.outcome,
            [Outcome::Failed, Outcome::TimedOut, Outcome::Failed]
        );
        let said: Vec<&str> = it
            .iterations
            .messages
            .values()
            .map(String::as_str)
            .collect();
        assert_eq!(said, ["0 is not 5", "too slow", "0 is not 5"]);
    }
}
