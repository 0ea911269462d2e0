//! Outcomes that the surroundings of an iteration change: the end of an instance can declare all of its iterations
//! invalid, and a failure can be expected.

use lapwing_model::{InstanceEnd, InstanceOutcome, Outcome};
use lapwing_record::InstanceData;

/// The key of `observed` of an instance's end: why all of its iterations are excluded.
const VOID: &str = "void";

/// Marks the iterations of a void instance as failed; those that had failed already are unchanged.
///
/// They were recorded as successful: a test whose rounds all passed can detect at its end that they computed a wrong
/// result.
pub(crate) fn fail_void(instance: &mut InstanceData) {
    let Some(why) = instance.end.as_ref().and_then(reason) else {
        return;
    };
    let why = why.to_owned();
    let iterations = &mut instance.iterations;
    for at in 0..iterations.len() {
        if iterations.outcome[at] == Outcome::Ok {
            iterations.outcome.set(at, Outcome::Failed);
            let message = iterations.messages.entry(at);
            message.or_insert_with(|| why.clone());
        }
    }
}

/// The attribute of an iteration whose failure is expected, as the pytest plugin records it.
const EXPECTED: &str = "xfail";

/// Marks the iterations that failed as expected as skipped: they have no value, and nothing is wrong.
pub(crate) fn skip_expected(instance: &mut InstanceData) {
    let iterations = &mut instance.iterations;
    for (at, detail) in &iterations.details {
        if let Some(reason) = detail.attributes.get(EXPECTED)
            && let Some(outcome) = iterations.outcome.get(*at)
            && matches!(outcome, Outcome::Failed | Outcome::TimedOut)
        {
            iterations.outcome.set(*at, Outcome::Skipped);
            let reason = reason.as_str().unwrap_or(EXPECTED);
            let message = iterations.messages.entry(*at).or_default();
            *message = format!("expected to fail ({reason}): {message}");
        }
    }
    // Such an instance may have been abandoned after several of these failures.
    let is_skipped = !iterations.is_empty()
        && iterations
            .outcome
            .iter()
            .all(|outcome| *outcome == Outcome::Skipped);
    if let Some(end) = instance.end.as_mut()
        && is_skipped
        && matches!(
            end.outcome,
            InstanceOutcome::Failed | InstanceOutcome::TimedOut
        )
    {
        end.outcome = InstanceOutcome::Skipped;
        end.message = None;
    }
}

/// Returns whether the end of an instance declares all that it measured invalid.
pub(crate) fn is_void(end: &InstanceEnd) -> bool {
    reason(end).is_some()
}

fn reason(end: &InstanceEnd) -> Option<&str> {
    end.observed.get(VOID)?.as_str()
}

#[cfg(test)]
mod tests {
    use lapwing_record::Column;
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::clean::tests::instance;
    use lapwing_model::{Id, Object};
    use lapwing_record::IterationDetail;

    #[test]
    fn a_failure_that_is_expected_is_none() {
        let mut it = instance(&[
            (false, Outcome::Failed, 1.0),
            (false, Outcome::TimedOut, 2.0),
            (false, Outcome::Ok, 3.0),
            (false, Outcome::Failed, 4.0),
        ]);
        let known = IterationDetail {
            attributes: Object::from_iter([("xfail".to_owned(), json!("known"))]),
            ..IterationDetail::default()
        };
        let details = [0, 1, 2].map(|at| (at, known.clone()));
        it.iterations.details = BTreeMap::from(details);
        skip_expected(&mut it);
        assert_eq!(
            it.iterations.outcome,
            Column::from_iter([
                Outcome::Skipped,
                Outcome::Skipped,
                Outcome::Ok,
                Outcome::Failed
            ])
        );
    }

    #[test]
    fn what_seemed_fine_fails_with_the_reason_of_the_end() {
        let mut it = instance(&[
            (true, Outcome::Ok, 1.0),
            (false, Outcome::TimedOut, 2.0),
            (false, Outcome::Ok, 3.0),
        ]);
        it.iterations.messages = BTreeMap::from([(1, "too slow".to_owned())]);
        let before = it.iterations.outcome.clone();
        fail_void(&mut it);
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
        fail_void(&mut it);
        assert_eq!(
            it.iterations.outcome,
            Column::from_iter([Outcome::Failed, Outcome::TimedOut, Outcome::Failed])
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
