//! Parameter sweeps: every combination of values, and their places in texts.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::error::{SuiteProblem, nearest};
use lapwing_model::Object;
use lapwing_model::text::plain;

/// A parameter and its values, in the order of the file.
pub(super) struct SweepParameter {
    pub(super) name: String,
    pub(super) values: Vec<Json>,
    /// Whether it was written as a list, so that its value tells benchmarks apart.
    pub(super) swept: bool,
}

/// More benchmarks than this from one table are a slip of the pen.
pub(super) const MAX_COMBINATIONS: usize = 100_000;

/// One combination of parameter values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SweepCombination {
    pub(super) params: Object,
    /// `level=6,threads=2`: the swept ones, for the id.
    pub(super) label: String,
}

/// Returns every combination; the last parameter changes fastest.
pub(super) fn combinations(
    parameters: &[SweepParameter],
) -> Result<Vec<SweepCombination>, SuiteProblem> {
    let values: Vec<&[Json]> = parameters.iter().map(|it| it.values.as_slice()).collect();
    let Some(rows) = cross(&values, MAX_COMBINATIONS) else {
        return Err(SuiteProblem::Value {
            key: "params".to_owned(),
            reason: format!("span more than {MAX_COMBINATIONS} combinations"),
        });
    };
    let mut length = 0;
    rows.into_iter()
        .map(|row| {
            let combination = combination(parameters, &row)?;
            let values = combination.params.values();
            length += values.map(|it| plain(it).len()).sum::<usize>();
            if length > LONGEST_PARAMETERS {
                return Err(SuiteProblem::Value {
                    key: "params".to_owned(),
                    reason: format!(
                        "are longer than {} MiB, all combinations together",
                        LONGEST_PARAMETERS >> 20
                    ),
                });
            }
            Ok(combination)
        })
        .collect()
}

/// Returns every choice of one value from each list, the last list changing fastest; `None` of more than `most`.
pub(super) fn cross<'a, T>(lists: &[&'a [T]], most: usize) -> Option<Vec<Vec<&'a T>>> {
    lists
        .iter()
        .try_fold(1_usize, |count, list| count.checked_mul(list.len()))
        .filter(|count| *count <= most)?;
    let mut rows: Vec<Vec<&T>> = vec![Vec::new()];
    for list in lists {
        let longer = rows.iter().flat_map(|row| {
            list.iter()
                .map(move |value| [row.as_slice(), &[value]].concat())
        });
        rows = longer.collect();
    }
    Some(rows)
}

fn combination(
    parameters: &[SweepParameter],
    row: &[&Json],
) -> Result<SweepCombination, SuiteProblem> {
    let names = parameters.iter().map(|it| it.name.as_str());
    let raw: BTreeMap<&str, &Json> = names.zip(row.iter().copied()).collect();
    let mut params = Object::new();
    for name in raw.keys() {
        resolve(name, &raw, &mut Vec::new(), &mut params)?;
    }
    let label = parameters
        .iter()
        .filter(|parameter| parameter.swept)
        .map(|parameter| format!("{}={}", parameter.name, plain(&params[&parameter.name])))
        .collect::<Vec<_>>()
        .join(",");
    Ok(SweepCombination { params, label })
}

/// Bytes of a parameter, with others filled in: those that repeat each other could have any number.
const LONGEST_PARAMETER: usize = 1 << 16;

/// Bytes of the parameters of all combinations.
pub(super) const LONGEST_PARAMETERS: usize = 1 << 26;

/// Finds the value of a parameter with the parameters that it mentions filled in.
fn resolve(
    name: &str,
    raw: &BTreeMap<&str, &Json>,
    path: &mut Vec<String>,
    known: &mut Object,
) -> Result<(), SuiteProblem> {
    if known.contains_key(name) {
        return Ok(());
    }
    if let Some(start) = path.iter().position(|visited| visited == name) {
        let mut circle = path.split_off(start);
        circle.push(name.to_owned());
        return Err(SuiteProblem::Circle(circle));
    }
    let value = raw[name];
    let Json::String(text) = value else {
        known.insert(name.to_owned(), value.clone());
        return Ok(());
    };
    path.push(name.to_owned());
    let mentioned: Vec<&&str> = { raw.keys() }
        .filter(|it| text.contains(&format!("{{{it}}}")))
        .collect();
    for other in &mentioned {
        resolve(other, raw, path, known)?;
    }
    path.pop();
    if filled_length(text, known) > LONGEST_PARAMETER {
        return Err(SuiteProblem::Value {
            key: format!("params.{name}"),
            reason: format!(
                "is longer than {} KiB with other parameters filled in",
                LONGEST_PARAMETER >> 10
            ),
        });
    }
    known.insert(name.to_owned(), Json::String(fill(text, known)));
    Ok(())
}

/// Returns how long a text is at most with the parameters filled in.
pub(super) fn filled_length(text: &str, params: &Object) -> usize {
    let lengths = params.iter().map(|(name, value)| {
        let mentions = text.matches(&format!("{{{name}}}")).count();
        mentions.saturating_mul(plain(value).len())
    });
    lengths.fold(text.len(), usize::saturating_add)
}

/// Puts parameter values where a text says `{name}`.
///
/// Braces around anything else stay as they are: shells and awk need them.
pub(super) fn fill(text: &str, params: &Object) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let value = after
            .find('}')
            .and_then(|close| Some((close, params.get(&after[..close])?)));
        match value {
            Some((close, value)) => {
                filled.push_str(&plain(value));
                rest = &after[close + 1..];
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Returns the problem that a text mentions a name which is almost a parameter.
pub(super) fn misspelt(text: &str, params: &Object) -> Option<SuiteProblem> {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        // `${name}` is the shell's.
        let of_shell = rest[..open].ends_with('$');
        rest = &rest[open + 1..];
        let Some(close) = rest.find('}') else { break };
        let name = &rest[..close];
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && name.len() > 2;
        if of_shell || !is_name || params.contains_key(name) {
            continue;
        }
        if let Some(suggestion) = nearest(name, params.keys().map(String::as_str)) {
            return Some(SuiteProblem::Undefined {
                what: "parameter",
                name: name.to_owned(),
                place: None,
                suggestion: Some(suggestion),
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parameter(name: &str, values: &[Json]) -> SweepParameter {
        SweepParameter {
            name: name.to_owned(),
            values: values.to_vec(),
            swept: values.len() > 1,
        }
    }

    #[test]
    fn every_combination_comes_once_and_the_last_changes_fastest() {
        let parameters = [
            parameter("level", &[json!(1), json!(9)]),
            parameter("file", &[json!("x-{level}.txt")]),
            parameter("mode", &[json!("a"), json!("b")]),
        ];
        let rows = combinations(&parameters).expect("no circle");
        let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "level=1,mode=a",
                "level=1,mode=b",
                "level=9,mode=a",
                "level=9,mode=b"
            ]
        );
        assert_eq!(rows[3].params["file"], json!("x-9.txt"));
    }

    #[test]
    fn a_sweep_without_end_is_refused_before_it_fills_the_memory() {
        let ten: Vec<Json> = (0..10).map(|it| json!(it)).collect();
        let parameters: Vec<SweepParameter> = (0..9)
            .map(|index| parameter(&format!("p{index}"), &ten))
            .collect();
        let problem = combinations(&parameters).expect_err("a thousand million");
        assert_eq!(
            problem.to_string(),
            "`params` span more than 100000 combinations"
        );
    }

    #[test]
    fn parameters_in_a_circle_are_named() {
        let parameters = [
            parameter("a", &[json!("{b}")]),
            parameter("b", &[json!("{c}")]),
            parameter("c", &[json!("{b}")]),
        ];
        let problem = combinations(&parameters).expect_err("a circle");
        assert_eq!(
            problem.to_string(),
            "the parameters b → c → b refer to each other in a circle"
        );
    }

    #[test]
    fn parameters_that_repeat_each_other_are_bounded() {
        let mut parameters = vec![parameter("p0", &[json!("x".repeat(1_000))])];
        for number in 1..30 {
            let before = number - 1;
            let text = format!("{{p{before}}}{{p{before}}}");
            parameters.push(parameter(&format!("p{number}"), &[json!(text)]));
        }
        let problem = combinations(&parameters).expect_err("2^29 thousand");
        assert_eq!(
            problem.to_string(),
            "`params.p7` is longer than 64 KiB with other parameters filled in"
        );
        let many: Vec<Json> = (0..100_000).map(|it| json!(it)).collect();
        parameters.truncate(2);
        parameters.push(parameter("n", &many));
        let problem = combinations(&parameters).expect_err("300 MB");
        assert_eq!(
            problem.to_string(),
            "`params` are longer than 64 MiB, all combinations together"
        );
    }

    #[test]
    fn braces_of_the_shell_stay() {
        let params = json!({"n": 3}).as_object().expect("object").clone();
        let text = "awk '{print $1}' ${HOME}/{n}.txt {1..3} {";
        assert_eq!(
            fill(text, &params),
            "awk '{print $1}' ${HOME}/3.txt {1..3} {"
        );
    }

    #[test]
    fn a_misspelt_parameter_is_noticed_and_other_braces_are_not() {
        let params = json!({"level": 3}).as_object().expect("object").clone();
        assert!(misspelt("gzip -{levle}", &params).is_some());
        assert_eq!(misspelt("awk '{print}' ${leve} {level}", &params), None);
    }
}
