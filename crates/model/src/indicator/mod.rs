//! The contract of indicators: scripts whose standard output is one JSON object with `@parameters` and `@result`.

mod finding;
mod repeated;

use std::collections::BTreeMap;

use serde_json::Value as Json;

pub use self::finding::{ContractFinding, FindingWeight};
use crate::document::{document_values, last_object};
use crate::text::plain;
use crate::{Benchmark, Metric, MetricName, Object};

/// The key of the measured values.
pub const RESULT: &str = "@result";
/// The key of the parameters.
pub const PARAMETERS: &str = "@parameters";
/// The key of an optional score.
pub const SCORE: &str = "overall_score";
/// The optional key of the units and directions of the measured values.
pub const METRICS: &str = "@metrics";
/// The keys of the package that is measured: the documented one, and the one that many scripts use.
const FRAMEWORKS: [&str; 2] = ["framework", "component"];

/// The document that an indicator prints.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndicatorDocument {
    /// The name of the indicator.
    pub name: String,
    /// The package that it measures.
    pub framework: String,
    /// The parameters of the measured case.
    pub parameters: Object,
    /// Units and directions, where the document declares them.
    pub metrics: BTreeMap<MetricName, Metric>,
    /// The whole document.
    pub whole: Object,
}

/// The result of reading an indicator's output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadIndicator {
    /// The document, if the output has one that can be used.
    pub document: Option<IndicatorDocument>,
    /// Breaches and warnings.
    pub findings: Vec<ContractFinding>,
}

impl ReadIndicator {
    /// Reads the standard output of an indicator.
    pub fn of_output(text: &str) -> Self {
        let text = text.trim();
        let failed = |finding: ContractFinding| Self {
            document: None,
            findings: vec![finding],
        };
        let error = match serde_json::from_str::<Json>(text) {
            Ok(Json::Object(whole)) => {
                let mut read = Self::of_object(whole);
                let repeated = repeated::repeated_keys(text);
                if !repeated.is_empty() {
                    (read.findings).insert(0, ContractFinding::RepeatedKeys(repeated));
                    read.document = None;
                }
                return read;
            }
            Ok(_) => {
                let reason = "it is another JSON value".to_owned();
                return failed(ContractFinding::NotAnObject(reason));
            }
            Err(_) if text.is_empty() => return failed(ContractFinding::NoOutput),
            Err(error) => error,
        };
        let Ok(Some(whole)) = last_object(text) else {
            return failed(ContractFinding::NotAnObject(error.to_string()));
        };
        let mut read = failed(ContractFinding::OtherText);
        read.findings.extend(Self::of_object(whole).findings);
        read
    }

    /// Reads a document.
    pub fn of_object(whole: Object) -> Self {
        let mut findings = Vec::new();
        let name = required_text(&whole, &["name"], &mut findings);
        let framework = required_text(&whole, &FRAMEWORKS, &mut findings);
        if !whole.contains_key(FRAMEWORKS[0]) && whole.contains_key(FRAMEWORKS[1]) {
            findings.push(ContractFinding::ComponentKey);
        }
        if framework.chars().any(char::is_uppercase) {
            let framework = framework.clone();
            findings.push(ContractFinding::FrameworkCase(framework));
        }
        let parameters = required_object(&whole, PARAMETERS, &mut findings);
        let result = required_object(&whole, RESULT, &mut findings);
        let metrics = declared(&whole, &mut findings);
        let mut keys: Vec<String> = parameters.keys().cloned().collect();
        keys.retain(|key| result.contains_key(key));
        if !keys.is_empty() {
            findings.push(ContractFinding::SharedKeys(keys));
        }
        let (mut names, mut others) = (Vec::new(), Vec::new());
        collect_names("", &result, (&mut names, &mut others));
        if whole.contains_key(RESULT) && names.is_empty() {
            findings.push(ContractFinding::NoNumber);
        }
        match whole.get(SCORE) {
            Some(Json::Number(_)) => names.push(SCORE.to_owned()),
            Some(Json::Null) | None => findings.push(ContractFinding::NoScore),
            Some(_) => findings.push(wrong(SCORE, "a number")),
        }
        let repeated = repeated_names(&names, &others);
        if !repeated.is_empty() {
            findings.push(ContractFinding::RepeatedMetrics(repeated));
        }
        if !others.is_empty() {
            findings.push(ContractFinding::NotMetrics(others));
        }
        names.retain(|name| metrics.get(name).is_none_or(|it| it.better.is_none()));
        if !names.is_empty() {
            findings.push(ContractFinding::Undeclared(names));
        }
        let mut read = Self {
            document: None,
            findings,
        };
        if read.breach().is_none() {
            read.document = Some(IndicatorDocument {
                name,
                framework,
                parameters,
                metrics,
                whole,
            });
        }
        read
    }

    /// Returns the first breach of the contract.
    pub fn breach(&self) -> Option<&ContractFinding> {
        let mut findings = self.findings.iter();
        findings.find(|it| it.weight() == FindingWeight::Breach)
    }
}

impl IndicatorDocument {
    /// Returns the id of the benchmark: name and framework with all parameters.
    pub fn benchmark_id(&self) -> String {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(key, value)| format!("{key}={}", plain(value)));
        let mut parameters: Vec<String> = parameters.collect();
        parameters.sort();
        let label = format!("{}/{}", self.name, self.framework);
        match parameters.as_slice() {
            [] => label,
            some => format!("{label}[{}]", some.join(",")),
        }
    }

    /// Returns the benchmark that the document is a result of; `script` is the SHA-256 of the script.
    pub fn benchmark(&self, script: Option<&str>) -> Benchmark {
        Benchmark {
            id: self.benchmark_id(),
            params: self.parameters.clone(),
            tags: vec![
                Benchmark::INDICATOR.to_owned(),
                self.framework.clone(),
                self.name.clone(),
            ],
            fingerprint: script.map(|hash| format!("sha256:{hash}")),
            extra: Object::new(),
        }
    }

    /// Returns the values of the document: one map, or several if it has arrays.
    ///
    /// # Errors
    /// If arrays differ in length.
    pub fn values(&self) -> Result<Vec<BTreeMap<MetricName, f64>>, String> {
        document_values(&self.whole)
    }

    /// Returns what is wrong with the reported values of parameters that were given by environment variables.
    pub fn check_parameters(&self, given: &BTreeMap<String, String>) -> Vec<ContractFinding> {
        let mut findings = Vec::new();
        for (variable, value) in given {
            let Some(key) = self.parameter_of(variable) else {
                let variable = variable.clone();
                findings.push(ContractFinding::ParameterUnknown(variable));
                continue;
            };
            let echoed = &self.parameters[key];
            if !means_same(value, echoed) {
                findings.push(ContractFinding::ParameterIgnored {
                    variable: variable.clone(),
                    given: value.clone(),
                    key: key.clone(),
                    echoed: plain(echoed),
                });
            }
        }
        findings
    }

    /// Returns the parameter that an environment variable sets: `MATMUL_MATRIX_SIZE` sets `matrix_size`.
    pub fn parameter_of(&self, variable: &str) -> Option<&String> {
        let variable = variable.to_lowercase();
        let sets = |key: &&String| {
            let rest = variable.strip_suffix(&key.to_lowercase());
            rest.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('_'))
        };
        let keys = self.parameters.keys().filter(sets);
        keys.max_by_key(|key| key.len())
    }
}

/// Returns whether a text given for a parameter means the reported value.
fn means_same(given: &str, echoed: &Json) -> bool {
    if plain(echoed) == given {
        return true;
    }
    match echoed {
        Json::Number(number) => {
            let number = number.as_f64().map(f64::to_bits);
            given.trim().parse::<f64>().ok().map(f64::to_bits) == number && number.is_some()
        }
        Json::Bool(value) => {
            let given = given.to_lowercase();
            let words = [["false", "0", "no", "off"], ["true", "1", "yes", "on"]];
            words[usize::from(*value)].contains(&given.as_str())
        }
        Json::String(_) | Json::Null | Json::Array(_) | Json::Object(_) => false,
    }
}

/// Returns the type of a JSON value, for people.
pub fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

fn wrong(key: &str, expected: &'static str) -> ContractFinding {
    ContractFinding::WrongType {
        key: key.to_owned(),
        expected,
    }
}

fn required_text(
    whole: &Object,
    keys: &[&'static str],
    findings: &mut Vec<ContractFinding>,
) -> String {
    let found = keys.iter().find_map(|key| Some((*key, whole.get(*key)?)));
    findings.push(match found {
        Some((_, Json::String(text))) if !text.trim().is_empty() => return text.clone(),
        Some((key, _)) => wrong(key, "a text that is not empty"),
        None => ContractFinding::MissingKey(keys[0]),
    });
    String::new()
}

fn required_object(
    whole: &Object,
    key: &'static str,
    findings: &mut Vec<ContractFinding>,
) -> Object {
    findings.push(match whole.get(key) {
        Some(Json::Object(object)) => return object.clone(),
        Some(_) => wrong(key, "an object"),
        None => ContractFinding::MissingKey(key),
    });
    Object::new()
}

/// Returns the declared units and directions.
fn declared(whole: &Object, findings: &mut Vec<ContractFinding>) -> BTreeMap<MetricName, Metric> {
    let Some(declared) = whole.get(METRICS) else {
        return BTreeMap::new();
    };
    serde_json::from_value(declared.clone()).unwrap_or_else(|_other| {
        let expected = "an object such as {\"elapsed\": {\"unit\": \"s\", \"better\": \"lower\"}}";
        findings.push(wrong(METRICS, expected));
        BTreeMap::new()
    })
}

/// Collects the names of the numbers, and of what is none.
fn collect_names(
    prefix: &str,
    object: &Object,
    (names, others): (&mut Vec<String>, &mut Vec<String>),
) {
    for (key, value) in object {
        let name = match prefix {
            "" => key.clone(),
            prefix => format!("{prefix}.{key}"),
        };
        match value {
            Json::Number(_) => names.push(name),
            Json::Array(items) if !items.is_empty() && items.iter().all(Json::is_number) => {
                names.push(name);
            }
            Json::Object(inner) => collect_names(&name, inner, (&mut *names, &mut *others)),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) => others.push(name),
        }
    }
}

/// Returns the names that several values have, in order.
fn repeated_names(names: &[String], others: &[String]) -> Vec<String> {
    let mut all: Vec<&String> = names.iter().chain(others).collect();
    all.sort_unstable();
    let pairs = all.windows(2).filter(|pair| pair[0] == pair[1]);
    let mut repeated: Vec<String> = pairs.map(|pair| pair[0].clone()).collect();
    repeated.dedup();
    repeated
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let read = ReadIndicator::of_output(text);
        let texts = read.findings.iter().map(|it| {
            let weight = match it.weight() {
                FindingWeight::Breach => "breach",
                FindingWeight::Warning => "warning",
            };
            format!("{weight}: {it}")
        });
        let texts = texts.collect();
        assert_eq!(read.document.is_none(), read.breach().is_some());
        texts
    }

    #[test]
    fn a_document_that_declares_everything_has_no_findings() {
        let text = json!({
            "name": "PiMatmul", "framework": "numpy", "@parameters": {"size": 8},
            "@result": {"elapsed": 0.5, "memory": {"peak": 3}}, "overall_score": 2.0,
            "@metrics": {
                "elapsed": {"unit": "s", "better": "lower"}, "memory.peak": {"unit": "B", "better": "lower"},
                "overall_score": {"better": "higher"},
            },
        });
        assert_eq!(findings(&text.to_string()), [""; 0]);
        let document = ReadIndicator::of_output(&text.to_string())
            .document
            .unwrap();
        assert_eq!(document.benchmark_id(), "PiMatmul/numpy[size=8]");
        assert_eq!(document.metrics["elapsed"], Metric::lower("s"));
    }

    #[test]
    fn every_breach_is_found_in_one_reading() {
        let text = r#"ready
            {"name": "", "@parameters": {"reps": 3, "elapsed": 1}, "@result": {"elapsed": "fast"}, "overall_score": "good"}"#;
        assert_eq!(
            findings(text),
            [
                "breach: standard output must be exactly one JSON object, but has other text too",
                "breach: `name` must be a text that is not empty",
                "breach: `framework` is missing",
                "breach: in both `@parameters` and `@result`: elapsed",
                "breach: `@result` has no number",
                "breach: `overall_score` must be a number",
                "warning: not a number, and therefore not a metric: elapsed",
            ]
        );
        assert_eq!(findings(" \n"), ["breach: standard output is empty"]);
        assert_eq!(
            findings("[1]"),
            ["breach: standard output is not a JSON object: it is another JSON value"]
        );
        assert_eq!(
            findings(
                r#"{"name": "A", "framework": "b", "@parameters": {}, "@result": {"x": NaN}}"#
            ),
            ["breach: standard output is not a JSON object: expected value at line 1 column 69"]
        );
    }

    #[test]
    fn a_key_or_a_metric_that_stands_twice_is_a_breach() {
        let with = |result: &str| {
            let text = format!(
                r#"{{"name": "A", "framework": "b", "@parameters": {{}}, "@result": {{{result}}}, "overall_score": 1}}"#
            );
            let mut all = findings(&text);
            all.retain(|own| own.starts_with("breach"));
            all
        };
        assert_eq!(
            with(r#""x": 1, "y": {"z": 1, "z": 2}, "x": 2"#),
            ["breach: more than once in the same object: @result.y.z, @result.x"]
        );
        assert_eq!(
            with(r#""a.b": 1, "a": {"b": 2}, "overall_score": 3"#),
            ["breach: several values of the same metric: a.b, overall_score"]
        );
        assert_eq!(with(r#""a.b": 1, "a": {"c": 2}, "b": {"z": 1}"#), [""; 0]);
        assert_eq!(with(r#""a": [1, 2], "b": "b""#), [""; 0]);
    }

    #[test]
    fn drifts_of_published_scripts_are_warnings() {
        let text = r#"{"name": "PiConv2D", "component": "TensorFlow", "@parameters": {}, "@result": {"rate": 1}}"#;
        assert_eq!(
            findings(text),
            [
                "warning: the framework is given as `component`",
                "warning: `TensorFlow` is not in lower case",
                "warning: there is no `overall_score`",
                "warning: no unit and direction declared for rate",
            ]
        );
    }

    #[test]
    fn a_given_parameter_must_be_reported() {
        let text = json!({"name": "A", "framework": "b", "@result": {"x": 1},
            "@parameters": {"size": 1, "matrix_size": 512, "dtype": "float32", "warm": true}});
        let document = ReadIndicator::of_output(&text.to_string())
            .document
            .unwrap();
        let given = |entries: &[(&str, &str)]| -> Vec<String> {
            let given = entries
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
            let findings = document.check_parameters(&given.collect());
            findings.iter().map(ToString::to_string).collect()
        };
        let good = [
            ("MATMUL_MATRIX_SIZE", "512.0"),
            ("DTYPE", "float32"),
            ("WARM", "1"),
        ];
        assert_eq!(given(&good), [""; 0]);
        assert_eq!(
            given(&[("MATRIX_SIZE", "256"), ("RESIZE", "1")]),
            [
                "MATRIX_SIZE=256 was given, but `@parameters` reports `matrix_size` as 512",
                "RESIZE was given, but `@parameters` has no such key",
            ]
        );
    }
}
