//! Lists of texts that resemble their neighbours, in a quarter of the room: dates, names of runs, links.
//!
//! Each text is written as what it does not share with the one before it: two digits to the
//! base of 36, which say how many characters the two have in common at the beginning and at
//! the end, and what stands between. An empty entry is the same text again. `unpacked` in
//! `assets/app.js` and `assets/chart.js` reads it.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const MOST: usize = DIGITS.len() - 1;

/// Returns the texts in this form: `{"packed": ["002026-01-01", "902", "…"]}`.
pub(super) fn packed<T: AsRef<str>>(texts: &[T]) -> Value {
    json!({ "packed": entries(texts) })
}

fn entries<T: AsRef<str>>(texts: &[T]) -> Vec<String> {
    let digit = |number: usize| DIGITS.get(number).map_or('0', |digit| char::from(*digit));
    let mut before = "";
    let mut entries = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let text = text.as_ref();
        if at > 0 && text == before {
            entries.push(String::new());
            continue;
        }
        let same = |(a, b): &(char, char)| a == b;
        let pairs = text.chars().zip(before.chars()).take(MOST);
        let (mut begin, mut bytes) = (0, 0);
        for (of_both, _) in pairs.take_while(same) {
            begin += 1;
            bytes += of_both.len_utf8();
        }
        let (rest, rest_before) = (&text[bytes..], &before[bytes..]);
        let pairs = rest.chars().rev().zip(rest_before.chars().rev());
        let (mut end, mut bytes) = (0, 0);
        for (of_both, _) in pairs.take(MOST).take_while(same) {
            end += 1;
            bytes += of_both.len_utf8();
        }
        let middle = &rest[..rest.len() - bytes];
        let mut entry = String::with_capacity(middle.len() + 2);
        entry.extend([digit(begin), digit(end)]);
        entry.push_str(middle);
        entries.push(entry);
        before = text;
    }
    entries
}

/// Returns a column of a table in the smallest of these forms: `{"all": …}` where every entry is
/// the same, `{"of": …, "at": […]}` (the different texts, and which of them each entry is),
/// packed texts, or the plain list.
pub(super) fn compact(column: Vec<Value>) -> Value {
    if let Some(first) = column.first()
        && column.len() > 1
        && column.iter().all(|it| it == first)
    {
        return json!({ "all": first, "count": column.len() });
    }
    let texts: Option<Vec<&str>> = column.iter().map(Value::as_str).collect();
    let Some(texts) = texts else {
        return Value::Array(column);
    };
    /// About how many characters these are in JSON: few have to be escaped.
    fn length(texts: &[impl AsRef<str>]) -> usize {
        let one = |text: &_| str::len(AsRef::as_ref(text)) + r#""","#.len();
        texts.iter().map(one).sum::<usize>()
    }
    let around_packed = r#"{"packed":}"#.len();
    let around_places = r#"{"at":[],"of":}"#.len();
    let in_turn = entries(&texts);
    let shortest = length(&texts).min(length(&in_turn) + around_packed);
    let mut different: Vec<&str> = texts.clone();
    different.sort_unstable();
    different.dedup();
    // A digit and a comma at least for each place.
    let is_worth_it = around_places + texts.len() * 2 < shortest;
    if is_worth_it {
        let places: Vec<usize> = texts
            .iter()
            .map(|text| different.binary_search(text).unwrap_or_default())
            .collect();
        let digits = |place: &usize| place.checked_ilog10().unwrap_or_default() as usize + 2;
        let of = entries(&different);
        let by_place = length(&of) + places.iter().map(digits).sum::<usize>();
        if by_place + around_places + around_packed < shortest {
            return json!({ "of": { "packed": of }, "at": places });
        }
    }
    match length(&in_turn) + around_packed < length(&texts) {
        true => json!({ "packed": in_turn }),
        false => Value::Array(column),
    }
}

/// Returns rows as a table of compact columns: `{"table": {NAME: COLUMN, …}, "count": …}`. What a row has not is null;
/// lists of rows, such as the instances of runs, are a table of all of them with the length of each list:
/// `{"rows": {"table": …}, "sizes": COLUMN}`.
pub(super) fn table(rows: &[impl Serialize]) -> Value {
    // Structs of numbers and texts always become objects.
    let rows = rows
        .iter()
        .filter_map(|row| match serde_json::to_value(row) {
            Ok(Value::Object(fields)) => Some(fields),
            Ok(_) | Err(_) => None,
        });
    table_of(rows.collect())
}

fn table_of(mut rows: Vec<Map<String, Value>>) -> Value {
    let names: BTreeSet<String> = rows.iter().flat_map(Map::keys).cloned().collect();
    let columns = names.into_iter().map(|name| {
        let values = rows.iter_mut().map(|row| row.remove(&name));
        let values = values.map(Option::unwrap_or_default).collect();
        (name, nested(values))
    });
    let columns: Map<String, Value> = columns.collect();
    json!({ "table": columns, "count": rows.len() })
}

/// Returns a column, that of lists of rows as a table.
fn nested(column: Vec<Value>) -> Value {
    let is_row_list = |it: &Value| match it {
        Value::Array(list) => list.iter().all(Value::is_object),
        Value::Null => true,
        _ => false,
    };
    let has_rows = column
        .iter()
        .any(|it| it.as_array().is_some_and(|it| !it.is_empty()));
    if !has_rows || !column.iter().all(is_row_list) {
        return compact(column);
    }
    let sizes = column
        .iter()
        .map(|it| it.as_array().map_or(Value::Null, |it| json!(it.len())));
    let sizes = compact(sizes.collect());
    let mut rows = Vec::new();
    for value in column {
        let Value::Array(list) = value else { continue };
        rows.extend(list.into_iter().filter_map(|it| match it {
            Value::Object(fields) => Some(fields),
            _ => None,
        }));
    }
    json!({ "rows": table_of(rows), "sizes": sizes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_it_does_not_share_with_the_one_before() {
        assert_eq!(
            packed(&["2026-01-01", "2026-01-02", "2026-01-02", "", "日本", "日木"]),
            json!({"packed": ["002026-01-01", "902", "", "00", "00日本", "10木"]})
        );
        // What is shared at the beginning is not shared again at the end.
        assert_eq!(
            packed(&["aa", "aaa", "a"]),
            json!({"packed": ["00aa", "20a", "10"]})
        );
        let long = "x".repeat(50);
        let other = format!("{long}y");
        assert_eq!(
            packed(&[&long, &other]),
            json!({"packed": [format!("00{long}"), format!("z0{}y", "x".repeat(15))]})
        );
    }

    #[test]
    fn a_table_has_what_its_rows_have() {
        let run = |id: &str, instances: Value| json!({ "id": id, "instances": instances });
        let rows = [
            run("a", json!([{"host": "x"}, {"host": "y"}])),
            run("b", json!([])),
            json!({ "id": "c", "lost": 2 }),
        ];
        let instances = json!({"table": {"host": ["x", "y"]}, "count": 2});
        assert_eq!(
            table(&rows),
            json!({
                "table": {
                    "id": ["a", "b", "c"],
                    "instances": {"rows": instances, "sizes": [2, 0, null]},
                    "lost": [null, null, 2],
                },
                "count": 3,
            })
        );
        let none: [Value; 0] = [];
        assert_eq!(table(&none), json!({"table": {}, "count": 0}));
    }

    #[test]
    fn a_column_takes_its_smallest_form() {
        let texts = |all: &[&str]| all.iter().map(|it| Value::from(*it)).collect::<Vec<_>>();
        assert_eq!(
            compact(texts(&["", "", ""])),
            json!({"all": "", "count": 3})
        );
        assert_eq!(compact(texts(&["a", "b"])), json!(["a", "b"]));
        let runs = ["9786af54-7032", "0c5d0435-9e53"];
        let turns: Vec<&str> = runs.iter().cycle().take(20).copied().collect();
        let at: Vec<usize> = [1, 0].into_iter().cycle().take(20).collect();
        assert_eq!(
            compact(texts(&turns)),
            json!({"of": packed(&["0c5d0435-9e53", "9786af54-7032"]), "at": at})
        );
        let numbers = vec![json!(1), Value::Null];
        assert_eq!(compact(numbers.clone()), Value::Array(numbers));
    }
}
