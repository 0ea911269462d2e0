//! Makes instances of asv's rows: one for each combination of parameters.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::asv::identity::content;
use crate::asv::values::{kind_of, put_measured};
use crate::asv::wire::{About, AsvMeasured, AsvRow, possible};
use crate::shared::intake::InstanceDraft;
use crate::shared::keys::{in_words, put_number};
use crate::shared::notes::Notes;
use lapwing_model::{Benchmark, Id};

/// More combinations of parameters than any benchmark has that failed as a whole: a few
/// bytes of a damaged file could stand for any number.
const MOST_WITHOUT_RESULT: usize = 4096;

/// Returns an instance for each combination of parameters, the last one varying fastest.
pub(super) fn drafts(
    session: Id,
    name: &str,
    mut row: AsvRow,
    about: Option<&About>,
    notes: &mut Notes,
) -> Result<Vec<InstanceDraft>, String> {
    let number = number_of(&row.params);
    let results = match row.results.take() {
        None if number <= MOST_WITHOUT_RESULT => vec![AsvMeasured::Failed; number],
        Some(results) if results.len() == number => results,
        None => {
            return Err(format!(
                "`params` has {number} combinations, and no result for any"
            ));
        }
        Some(results) => {
            return Err(format!(
                "`result` has {} values for {number} combinations of `params`",
                results.len(),
            ));
        }
    };
    let combinations = combinations(&row.params, number);
    if row.has_profile {
        notes.left("profile", "profiles are not measurements");
    }
    notes.kept_all(row.others.keys(), "attributes of the instance");
    note_impossible("started_at", row.started_at, notes);
    note_impossible("ended_at", row.ended_at, notes);
    // Names and units of a benchmark that has changed since may have changed too, but
    // nothing says how; its type follows from its name.
    let kind = kind_of(name, about);
    let alone = combinations.len() == 1;
    let mut samples = std::mem::take(&mut row.samples).into_iter();
    let drafts = results.iter().zip(combinations).enumerate();
    Ok(drafts
        .map(|(place, (measured, values))| {
            let samples = samples.next().flatten().unwrap_or_default();
            let content = content(name, &values, &row, alone, (*measured, &samples), place);
            let mut draft = InstanceDraft {
                id: Some(Id::derived(&[
                    b"asv instance",
                    session.as_bytes(),
                    &content,
                ])),
                benchmark: benchmark(name, &values, &row, about),
                started: row.started_at.and_then(possible),
                ended: ended(&row, alone),
                attributes: row.others.clone(),
                metrics: BTreeMap::from([(kind.metric.clone(), kind.unit.metric.clone())]),
                ..InstanceDraft::default()
            };
            if !alone || draft.ended.is_none() {
                put_number(&mut draft.attributes, "duration", row.duration);
            }
            put_measured(&mut draft, (*measured, samples), place, &row, &kind, notes);
            draft
        })
        .collect())
}

/// Notes a time that is none.
pub(super) fn note_impossible(what: &str, time: Option<f64>, notes: &mut Notes) {
    if time.is_some_and(|it| possible(it).is_none()) {
        notes.left(what, "there is no such time");
    }
}

fn number_of(params: &[Vec<Value>]) -> usize {
    params.iter().fold(1, |number: usize, values| {
        number.saturating_mul(values.len())
    })
}

fn combinations(params: &[Vec<Value>], number: usize) -> Vec<Vec<&Value>> {
    let mut combinations = vec![Vec::new(); number];
    let mut repeats = number;
    for values in params {
        repeats = repeats.checked_div(values.len()).unwrap_or(0);
        for (place, combination) in combinations.iter_mut().enumerate() {
            combination.push(&values[place / repeats % values.len()]);
        }
    }
    combinations
}

fn benchmark(name: &str, values: &[&Value], row: &AsvRow, about: Option<&About>) -> Benchmark {
    let texts: Vec<String> = values.iter().map(|value| in_words(value)).collect();
    let names = about
        .map(|about| about.param_names.as_slice())
        .unwrap_or_default();
    let params = values
        .iter()
        .enumerate()
        .map(|(place, value)| {
            let name = names.get(place).cloned();
            let name = name.unwrap_or_else(|| format!("param{}", place + 1));
            (name, plain(value))
        })
        .collect();
    Benchmark {
        id: match texts.as_slice() {
            [] => name.to_owned(),
            texts => format!("{name}({})", texts.join(", ")),
        },
        params,
        fingerprint: row.version.clone(),
        ..Benchmark::default()
    }
}

/// asv writes parameters as Python shows them: numbers and plain texts become values.
fn plain(value: &Value) -> Value {
    let Some(text) = value.as_str() else {
        return value.clone();
    };
    match text {
        "True" => return Value::Bool(true),
        "False" => return Value::Bool(false),
        "None" => return Value::Null,
        _other => {}
    }
    if let Ok(number @ Value::Number(_)) = serde_json::from_str(text) {
        return number;
    }
    let inner = ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    match inner {
        Some(inner) if !inner.contains(['\\', '\'', '"']) => Value::from(inner),
        Some(_) | None => value.clone(),
    }
}

/// The duration of a row is that of all its combinations.
fn ended(row: &AsvRow, alone: bool) -> Option<Timestamp> {
    if let Some(ended) = row.ended_at {
        return possible(ended);
    }
    if !alone {
        return None;
    }
    let duration = SignedDuration::try_from_secs_f64(row.duration?).ok()?;
    possible(row.started_at?)?.checked_add(duration).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_parameter_varies_fastest() {
        let params = vec![
            vec![json!(1), json!(2)],
            vec![json!("a"), json!("b"), json!("c")],
        ];
        let texts: Vec<String> = combinations(&params, number_of(&params))
            .iter()
            .map(|values| values.iter().map(|value| in_words(value)).collect())
            .collect();
        assert_eq!(texts, ["1a", "1b", "1c", "2a", "2b", "2c"]);
        assert_eq!(combinations(&[], number_of(&[])).len(), 1);
        assert_eq!(combinations(&[vec![]], number_of(&[vec![]])).len(), 0);
    }

    #[test]
    fn a_few_bytes_do_not_become_any_number_of_instances() {
        let row = AsvRow {
            params: vec![vec![Value::Null; 1000]; 30],
            ..AsvRow::default()
        };
        assert_eq!(
            drafts(
                Id::derived(&[]),
                "time_it",
                row,
                None,
                &mut Notes::default()
            )
            .expect_err("too many"),
            format!(
                "`params` has {} combinations, and no result for any",
                usize::MAX
            )
        );
    }

    #[test]
    fn python_s_numbers_and_texts_become_values() {
        let of = |text: &str| plain(&json!(text));
        assert_eq!(of("10"), json!(10));
        assert_eq!(of("'up'"), json!("up"));
        assert_eq!(of("True"), json!(true));
        assert_eq!(of("(1,)"), json!("(1,)"));
        assert_eq!(of(r"'it\'s'"), json!(r"'it\'s'"));
    }
}
