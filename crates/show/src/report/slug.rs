//! Names of files for names of benchmarks.

use sha2::{Digest, Sha256};

const READABLE: usize = 60;

/// Returns a file name (without extension) for a benchmark: its id as far as that is safe,
/// and enough of a hash of suite and id to be unique. Only `a-z`, `0-9` and `-` are in it.
pub(super) fn slug(suite: &str, id: &str) -> String {
    let mut readable = String::new();
    for character in id.chars() {
        let character = character.to_ascii_lowercase();
        if character.is_ascii_alphanumeric() {
            readable.push(character);
        } else if !readable.is_empty() && !readable.ends_with('-') {
            readable.push('-');
        }
        if readable.len() >= READABLE {
            break;
        }
    }
    let readable = readable.trim_end_matches('-');
    let mut hash = Sha256::new();
    hash.update(suite.as_bytes());
    hash.update([0]);
    hash.update(id.as_bytes());
    let digest = hash.finalize();
    let hash: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if readable.is_empty() {
        hash
    } else {
        format!("{readable}-{hash}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_readable_safe_and_unique() {
        assert_eq!(slug("s", "gzip[level=6]"), "gzip-level-6-2864ba61cda4");
        assert_ne!(slug("s", "a/b"), slug("s", "a b"));
        assert_ne!(slug("s", "a"), slug("t", "a"));
        for odd in [
            "../../etc/passwd",
            "日本",
            "",
            &"x".repeat(300),
            "CON",
            "a\0b",
        ] {
            let slug = slug("s", odd);
            assert!(
                slug.len() <= 73
                    && slug.bytes().all(|byte| byte.is_ascii_lowercase()
                        || byte.is_ascii_digit()
                        || byte == b'-')
                    && !slug.starts_with('-'),
                "{slug}"
            );
        }
    }
}
