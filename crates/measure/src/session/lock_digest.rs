//! The digest of the packages of a Python environment.

use crate::suite::sha256;

/// Returns the digest of the packages of a Python environment, whatever their order and the spelling of their names.
pub fn lock_digest<'a>(packages: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<String> = packages
        .map(|(name, version)| format!("{}=={version}\n", normal_name(name)))
        .collect();
    lines.sort();
    sha256(&lines.concat())
}

/// Returns the name of a Python package in its normal spelling.
pub fn normal_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}
