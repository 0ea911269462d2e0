//! Finds tokens, keys and passwords in texts, by their published formats.
//!
//! A text is read once for the letters that each format cannot do without; only the formats whose letters are there
//! are tried.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::secret_rules::{RULES, SecretRule, is_given, secret_name, secret_of};

/// How a hidden text begins; the kind of what was hidden and `]` follow.
pub const HIDDEN: &str = "[hidden: ";

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// What it is, such as `GitHub token`.
    pub kind: &'static str,
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
}

/// The length of the shortest text that has a secret: `?key=a`.
const SHORTEST: usize = 6;

/// All rules, ready to be tried.
struct SecretFinder {
    letters: AhoCorasick,
    /// The rule of each of the letters.
    rules: Vec<usize>,
    patterns: Vec<Regex>,
    name: Regex,
}

#[expect(clippy::unwrap_used, reason = "constants, which every test compiles")]
static FINDER: LazyLock<SecretFinder> = LazyLock::new(|| {
    let rules = RULES.iter().enumerate();
    let (rules, letters): (Vec<_>, Vec<_>) = rules
        .flat_map(|(rule, it)| it.letters.iter().map(move |letters| (rule, *letters)))
        .unzip();
    let mut automaton = AhoCorasick::builder();
    let patterns = RULES.iter().map(|it| Regex::new(it.pattern));
    SecretFinder {
        letters: automaton
            .ascii_case_insensitive(true)
            .build(letters)
            .unwrap(),
        rules,
        patterns: patterns.collect::<Result<_, _>>().unwrap(),
        name: Regex::new(concat!("^[A-Za-z0-9_.-]*", secret_name!(), "$")).unwrap(),
    }
});

/// Returns the secrets of a text, in their order; none overlaps another.
///
/// ```
/// # use lapwing_record::private::find_secrets;
/// let found = find_secrets("git clone https://me:hunter2@example.org/it");
/// assert_eq!((found[0].kind, found[0].range.clone()), ("password in a URL", 18..28));
/// assert_eq!(find_secrets("sha256:9f86d081884c7d659a2feaa0c55ad015"), []);
/// ```
pub fn find_secrets(text: &str) -> Vec<FoundSecret> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut tried = [false; RULES.len()];
    for found in FINDER.letters.find_overlapping_iter(text) {
        tried[FINDER.rules[found.pattern().as_usize()]] = true;
    }
    let mut secrets = Vec::new();
    let rules = RULES.iter().zip(&FINDER.patterns).zip(tried);
    for ((rule, pattern), _) in rules.filter(|(_, tried)| *tried) {
        find_of(rule, pattern, text, &mut secrets);
    }
    secrets
}

/// Adds the secrets of one format that are not part of others.
fn find_of(rule: &SecretRule, pattern: &Regex, text: &str, secrets: &mut Vec<FoundSecret>) {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(captures) = pattern.captures_at(text, from) {
        let range = secret_of(&captures).range();
        if !(rule.accepts)(&captures) {
            // What was taken for its value may be the name of another.
            from = range.start;
            continue;
        }
        from = captures.get_match().end();
        let next = secrets.partition_point(|it: &FoundSecret| it.range.end <= range.start);
        if secrets
            .get(next)
            .is_none_or(|it| range.end <= it.range.start)
        {
            let kind = rule.kind;
            found.push(FoundSecret { kind, range });
        }
    }
    if !found.is_empty() {
        secrets.append(&mut found);
        secrets.sort_by_key(|it| it.range.start);
    }
}

/// Returns a text with the kinds of its secrets in their place.
///
/// ```
/// # use lapwing_record::private::without_secrets;
/// assert_eq!(without_secrets("login --password hunter2"), "login --password [hidden: secret]");
/// ```
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let secrets = find_secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        clean.push_str(&text[done..secret.range.start]);
        clean.push_str(&hidden(secret.kind));
        done = secret.range.end;
    }
    clean.push_str(&text[done..]);
    Cow::Owned(clean)
}

/// Returns what stands for a text that was hidden.
pub(crate) fn hidden(kind: &str) -> String {
    format!("{HIDDEN}{kind}]")
}

/// Returns whether a value belongs to the name of a secret, as `HF_TOKEN` and `db-password` are.
pub(crate) fn is_secret_of(name: &str, value: &str) -> bool {
    FINDER.name.is_match(name) && is_given(name, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PrivateTexts with a secret between `«` and `»`, which must be hidden, and the kind.
    ///
    /// The tokens are put together here, so that no scanner takes this file for a leak.
    fn examples() -> Vec<(&'static str, String)> {
        let letters = |number: usize| "aB3dE5gH7j".repeat(8)[..number].to_owned();
        let capitals = "IOSFODNN7EXAMPLE";
        let mut all = vec![
            (
                "GitHub token",
                format!("push with «ghp_{}» now", letters(36)),
            ),
            (
                "GitHub token",
                format!("x=«github_pat_{}_{}»", letters(22), letters(59)),
            ),
            ("GitLab token", format!("«glpat-{}»", letters(20))),
            ("Hugging Face token", format!("login «hf_{}»,", letters(34))),
            ("AWS access key", format!("id «AKIA{capitals}»")),
            (
                "AWS access key",
                format!("AWS_ACCESS_KEY_ID=«ASIA{capitals}»"),
            ),
            (
                "Slack token",
                format!("«xoxb-123456789012-{}»", letters(24)),
            ),
            (
                "Slack webhook",
                format!("https://hooks.slack.com/services/«T0/B0/{}»", letters(24)),
            ),
            ("API key", format!("«sk-ant-api03-{}»", letters(40))),
            ("API key", format!("«sk-proj-{}»", letters(40))),
            ("API key", format!("«sk-{}»", letters(48))),
            ("Stripe key", format!("«sk_live_{}»", letters(24))),
            ("Google API key", format!("?x=«AIza{}»", letters(35))),
            (
                "PyPI token",
                format!("«pypi-AgEIcHlwaS5vcmc{}»", letters(60)),
            ),
            ("npm token", format!("//registry/:_x=«npm_{}»", letters(36))),
            (
                "JSON web token",
                format!("«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}»", letters(43)),
            ),
            (
                "private key",
                format!(
                    "a\n«-----BEGIN {0}-----\n{1}\n-----END {0}-----»\nb",
                    "RSA PRIVATE KEY",
                    letters(64)
                ),
            ),
            (
                "private key",
                format!(
                    "«{1}\n{1}\n-----END {0}-----»\nb",
                    "PRIVATE KEY",
                    letters(64)
                ),
            ),
            (
                "private key",
                format!(
                    "a «-----BEGIN {0}-----\n{1}»",
                    "OPENSSH PRIVATE KEY",
                    letters(64)
                ),
            ),
        ];
        let words = [
            ("authorization", "curl -H 'Authorization: Bearer «abc»' x"),
            ("authorization", "Authorization: Basic «dXNlcjpwYXNz»"),
            ("authorization", "\"authorization\": \"«abc»\""),
            ("authorization", "sent bearer «0123456789abcdef0123»"),
            (
                "password in a URL",
                "https://«me:hunter2»@example.org/a?b=c",
            ),
            ("password in a URL", "postgres://«app:p@ss»@db:5432/x"),
            (
                "token in a URL",
                "git+https://«0123456789abcdef»@example.org/a.git",
            ),
            ("token in a URL", "https://example.org/a?x=1&token=«abc»#b"),
            ("token in a URL", "https://s3/a?X-Amz-Signature=«0abc»&y=1"),
            ("token in a URL", "https://x.blob.core/a?sv=1&sig=«abc%3D»"),
            ("secret", "PASSWORD=«hunter2» ./bench"),
            ("secret", "env HF_TOKEN=«abc» ./bench"),
            ("secret", "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG»"),
            ("secret", "{\"api_key\": \"«a b c»\"}"),
            ("secret", "sh -c \"TOKEN=\\\"«abc»\\\" x\""),
            ("secret", "login --token «abc» --other"),
            ("secret", "login --password=«abc»"),
            ("secret", "the secret token=«abcdefgh»"),
            ("secret", "X-Api-Key: «abc»"),
            ("secret", "password: «hunter2»"),
            ("secret", "PGPASSWORD=«1234» psql"),
            ("secret", "MYSQL_PWD=«abc» mysql"),
        ];
        all.extend(words.map(|(kind, text)| (kind, text.to_owned())));
        all
    }

    #[test]
    fn every_kind_of_secret_is_found_and_nothing_beside_it() {
        for (kind, text) in examples() {
            let (before, rest) = text.split_once('«').unwrap();
            let (secret, after) = rest.split_once('»').unwrap();
            let clean = without_secrets(&format!("{before}{secret}{after}")).into_owned();
            assert_eq!(
                clean,
                format!("{before}{}{after}", hidden(kind)),
                "{secret}"
            );
        }
    }

    #[test]
    fn a_text_that_was_cleaned_is_clean() {
        for (_, text) in examples() {
            let clean = without_secrets(&text.replace(['«', '»'], "")).into_owned();
            assert_eq!(without_secrets(&clean), clean);
        }
    }

    #[test]
    fn ordinary_text_has_no_secrets() {
        let texts = [
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "3c59dc048e8850243be8079a5c74d079bdc37cd1",
            "01930f2e-7b3a-7c3e-9d5e-2f1a6b7c8d9e",
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "tests/test_tokens.py::test_tokenizer[max_tokens=4096-pad_token=eos]",
            "SyntaxError: unexpected token: identifier",
            "token=12 tokens_per_second=1e6 --max-token 5",
            "PASSWORD=$PASSWORD TOKEN=${{ secrets.TOKEN }} --token {token} --password \"$X\"",
            "ssh://git@example.org/a.git tcp://10.0.0.1:8786 https://example.org/a?page=2&q=key",
            "KeyError: 'token'",
            "Unexpected token: identifier123, Token: EndOfFile99",
            "assert secret_key == expected_value9; token = lexer.next()",
            "Authorization: denied for user12345",
            "https://ann@example.org/x?key=val",
            "def connect(user, password=None, secret=False): ...",
            "KEY=value key: value --key value PWD=/tmp keyboard=us",
            "disk-0123456789abcdef0123456789abcdef0123 sk-learn-benchmarks-with-a-long-name",
            "basic arithmetic of 1000000 numbers, bearer of bad news",
            "('rechunk-merge-0123456789abcdef', 0, 12)",
        ];
        for text in texts {
            assert_eq!(without_secrets(text), text);
        }
    }
}
