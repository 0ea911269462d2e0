//! The digest of the packages of a Python environment.

use sha2::{Digest, Sha256};

/// Returns the digest of the packages of a Python environment, whatever their order and the spelling of their names.
pub fn lock_digest<'a>(packages: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<String> = packages
        .map(|(name, version)| format!("{}=={version}\n", normal_name(name)))
        .collect();
    lines.sort();
    let digest = Sha256::digest(lines.concat());
    let digits = digest.iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}

/// Returns the name of a Python package in its normal spelling.
pub fn normal_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}
