//! Environments as keys and values, so that two can be compared.

use serde_json::Value;

use lapwing_model::Object;

/// Keys that differ from run to run by themselves.
const VOLATILE: [&str; 6] = [
    "load",
    "uptime",
    "time",
    "pid",
    "free",
    "governor_frequency",
];

/// Keys that say in detail what others say in short: packages, processor, operating system.
const DETAILED: [&str; 4] = ["lock", "hwinfo", "os_release", "runtime_environment"];

/// Passes each observation of an environment to a function: its path, such as `packages.numpy`, and its value.
pub(crate) fn observations(environment: &Object, take: &mut impl FnMut(&str, String)) {
    below("", environment, take);
}

fn below(prefix: &str, object: &Object, take: &mut impl FnMut(&str, String)) {
    for (key, value) in object {
        if prefix.is_empty() && DETAILED.contains(&key.as_str()) {
            continue;
        }
        let path = match prefix {
            "" => key.clone(),
            _ => format!("{prefix}.{key}"),
        };
        match value {
            Value::Object(inner) => below(&path, inner, take),
            Value::String(text) => take(&path, text.clone()),
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => take(&path, value.to_string()),
        }
    }
}

/// Returns whether an observation differs from run to run by itself.
pub(crate) fn is_volatile(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    VOLATILE.contains(&last)
}
