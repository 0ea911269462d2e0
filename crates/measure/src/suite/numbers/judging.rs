//! Reads what a suite says about judging: its `[judge]` table (`docs/suite-format.md`).

use std::path::Path;

use super::super::node::{Located, Node, Value};
use super::limits::read_metrics;
use lapwing_model::{JudgeSettings, JudgedFrom};

/// Returns what the `[judge]` table says; its paths start from `folder`.
pub(in crate::suite) fn read_judge(
    node: &Node,
    key: &str,
    folder: &Path,
) -> Result<JudgeSettings, Located> {
    let count = |node: &Node, key: &str| node.whole(key, 1..=u32::MAX);
    let path = |node: &Node, key: &str| Ok(folder.join(node.text(key)?));
    let mut keys = node.table("[judge]", key)?;
    let settings = JudgeSettings {
        burn_in: keys.read("burn_in", burn_in)?,
        burn_in_file: keys.read("burn_in_file", path)?,
        outlier_factor: keys.read("outlier_factor", factor)?,
        min_iterations: keys.read("min_iterations", count)?,
        min_instances: keys.read("min_instances", count)?,
        smallest_effect: keys.read("smallest_effect", share)?,
        confidence: keys.read("confidence", share)?,
        false_discovery_rate: keys.read("false_discovery_rate", share)?,
        triage_by: keys
            .read("triage_by", |node, key| node.texts(key))?
            .unwrap_or_default(),
        repository: None,
        metrics: keys
            .read("metric", |node, key| read_metrics(node, key, "[judge]"))?
            .unwrap_or_default(),
        benchmarks: Vec::new(),
    };
    keys.finish()?;
    Ok(settings)
}

fn burn_in(node: &Node, key: &str) -> Result<JudgedFrom, Located> {
    const EXPECTED: &str = "a whole number, \"auto\" or \"recorded\"";
    match &node.value {
        Value::Text(text) if text == "recorded" => Ok(JudgedFrom::Recorded),
        Value::Text(text) if text == "auto" => Ok(JudgedFrom::Auto),
        Value::Text(text) => {
            Err(node.senseless(key, format!("must be {EXPECTED}, not the text \"{text}\"")))
        }
        Value::Integer(_) => node.whole(key, 0..=u32::MAX).map(JudgedFrom::Index),
        _ => Err(node.wrong(key, EXPECTED)),
    }
}

fn factor(node: &Node, key: &str) -> Result<f64, Located> {
    let factor = node.number(key)?;
    if factor > 1.0 && factor.is_finite() {
        Ok(factor)
    } else {
        Err(node.senseless(key, "must be a number above 1, such as 10"))
    }
}

pub(in crate::suite) fn share(node: &Node, key: &str) -> Result<f64, Located> {
    const EXPECTED: &str = "a percentage such as \"3%\" or a share such as 0.03";
    let found = match &node.value {
        Value::Text(text) => parse_share(text),
        Value::Integer(_) | Value::Number(_) => Some(node.number(key)?),
        _ => return Err(node.wrong(key, EXPECTED)),
    };
    match found {
        Some(share) if share > 0.0 && share < 1.0 => Ok(share),
        Some(_) => Err(node.senseless(
            key,
            format!("must lie between 0 % and 100 %: write {EXPECTED}"),
        )),
        None => Err(node.senseless(key, format!("must be {EXPECTED}"))),
    }
}

/// Returns the share that a text names: `3%`, `3 %` or `0.03`; `None` when it is no number.
pub fn parse_share(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_suffix('%') {
        // Not divided by 100: 0.07 is nearer to what was meant than 7 / 100 need be.
        Some(percent) => format!("{}e-2", percent.trim()).parse().ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::suite::Suite;

    fn read(table: &str) -> Result<JudgeSettings, String> {
        let text = format!("[judge]\n{table}");
        Suite::parse_judging(Path::new("lapwing.toml"), &text, Path::new("/bench"))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn everything_may_be_said_and_nothing_must() {
        let all = r#"
            burn_in = "auto"
            burn_in_file = "burn-in.json"
            outlier_factor = 10
            min_iterations = 5
            min_instances = 3
            smallest_effect = "3%"
            confidence = "99 %"
            false_discovery_rate = 0.1
        "#;
        let expected = JudgeSettings {
            burn_in: Some(JudgedFrom::Auto),
            burn_in_file: Some(PathBuf::from("/bench/burn-in.json")),
            outlier_factor: Some(10.0),
            min_iterations: Some(5),
            min_instances: Some(3),
            smallest_effect: Some(0.03),
            confidence: Some(0.99),
            false_discovery_rate: Some(0.1),
            repository: Some(PathBuf::from("/bench")),
            ..JudgeSettings::default()
        };
        assert_eq!(read(all), Ok(expected));
        let empty = JudgeSettings {
            repository: Some(PathBuf::from("/bench")),
            ..JudgeSettings::default()
        };
        assert_eq!(read(""), Ok(empty));
        let burn_in = |text: &str| read(text).map(|it| it.burn_in);
        assert_eq!(
            burn_in("burn_in = \"recorded\""),
            Ok(Some(JudgedFrom::Recorded))
        );
        assert_eq!(burn_in("burn_in = 7"), Ok(Some(JudgedFrom::Index(7))));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = [
            "burn_in = \"often\"",
            "burn_in = 1.5",
            "burn_in = -1",
            "burn_in = 5000000000",
            "outlier_factor = 1",
            "min_iterations = 0",
            "smallest_effect = 3",
            "smallest_effect = \"much\"",
            "confidence = true",
            "false_discovery_rate = \"0%\"",
            "smalest_effect = \"3%\"",
        ];
        let errors: Vec<String> = wrong
            .iter()
            .map(|table| read(table).expect_err("wrong"))
            .collect();
        insta::assert_snapshot!(errors.join("\n"), @r#"
        lapwing.toml:2: `burn_in` must be a whole number, "auto" or "recorded", not the text "often"
        lapwing.toml:2: `burn_in` must be a whole number, "auto" or "recorded", not a number
        lapwing.toml:2: `burn_in` must be 0 or more, not -1
        lapwing.toml:2: `burn_in` must be at most 4294967295, not 5000000000
        lapwing.toml:2: `outlier_factor` must be a number above 1, such as 10
        lapwing.toml:2: `min_iterations` must be 1 or more
        lapwing.toml:2: `smallest_effect` must lie between 0 % and 100 %: write a percentage such as "3%" or a share such as 0.03
        lapwing.toml:2: `smallest_effect` must be a percentage such as "3%" or a share such as 0.03
        lapwing.toml:2: `confidence` must be a percentage such as "3%" or a share such as 0.03, not true or false
        lapwing.toml:2: `false_discovery_rate` must lie between 0 % and 100 %: write a percentage such as "3%" or a share such as 0.03
        lapwing.toml:2: unknown key `smalest_effect` in [judge]
        "#);
    }

    #[test]
    fn a_suite_without_benchmarks_may_judge_but_not_measure() {
        let text = "[judge]\nmin_instances = 3\n";
        let suite = Suite::parse(Path::new("lapwing.toml"), text, Path::new("/bench"));
        let error = suite.expect_err("nothing to measure").to_string();
        assert_eq!(
            error,
            "lapwing.toml:1: no benchmark is defined: add a table such as [benchmark.name] with a `command`"
        );
        assert_eq!(
            read("min_instances = 3").map(|it| it.min_instances),
            Ok(Some(3))
        );
    }
}
