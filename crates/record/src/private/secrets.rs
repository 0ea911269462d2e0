//! Finds tokens, keys and passwords in texts, by their published formats.
//!
//! A text is read once for the letters that each format cannot do without; only the formats whose letters are there
//! are tried.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::{Captures, Match, Regex};

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

/// One format of secrets.
struct SecretRule {
    kind: &'static str,
    /// One of these is in every match, in any case.
    letters: &'static [&'static str],
    /// The named group that took part is the secret, or else the whole match.
    pattern: &'static str,
    accepts: fn(&Captures<'_>) -> bool,
}

/// Returns the rule of a format that is never anything else.
const fn rule(
    kind: &'static str,
    letters: &'static [&'static str],
    pattern: &'static str,
) -> SecretRule {
    SecretRule {
        kind,
        letters,
        pattern,
        accepts: |_| true,
    }
}

/// The names of secrets, in any case.
macro_rules! secret_name {
    () => {
        "(?i-u:(?:token|secret|passw(?:or)?d|passphrase|credentials?\
         |(?:api|access|secret|private|auth|account|encryption|signing|ssh|deploy)[_-]?key|[_-](?:pwd|pat)))"
    };
}

/// A value between quotes, or up to the next sign that ends a word.
macro_rules! value {
    () => {
        r#"(?:\\?"(?<quoted>[^"\\]+)\\?"|\\?'(?<single>[^'\\]+)\\?'|(?<bare>[^\s"'\\&;|,()\]}]+))"#
    };
}

/// Where two match at one place, the first in this list names it.
static RULES: [SecretRule; 20] = [
    rule(
        "private key",
        &["private key"],
        r"(?x)
        (?: -----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?----- (?s:.*?)
          | (?:[A-Za-z0-9+/=]{16,}\s+)* [A-Za-z0-9+/=]*\s* )
        -----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----
        | -----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?----- (?s:.*)",
    ),
    rule(
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    rule(
        "GitLab token",
        &["gl", "gr1348941"],
        r"(?-u:\b)(?:gl(?:pat|ptt|dt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas|feat|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
    ),
    rule(
        "Hugging Face token",
        &["hf_", "api_org_"],
        r"(?-u:\b)(?:hf|api_org)_[A-Za-z0-9]{30,}",
    ),
    rule(
        "AWS access key",
        &["akia", "asia", "abia", "acca"],
        r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    ),
    rule(
        "Slack token",
        &["xox", "xapp-"],
        r"(?-u:\b)(?:xox[abeoprs][.-][A-Za-z0-9.-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
    ),
    rule(
        "Slack webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?<secret>[A-Za-z0-9+/_-]{10,})",
    ),
    rule(
        "API key",
        &["sk-"],
        r"(?-u:\b)sk-(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{32,})",
    ),
    rule(
        "Stripe key",
        &["sk_", "rk_"],
        r"(?-u:\b)[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    ),
    rule(
        "Google API key",
        &["aiza", "gocspx-", "ya29."],
        r"(?-u:\b)(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_.-]{20,})",
    ),
    rule(
        "PyPI token",
        &["pypi-"],
        r"(?-u:\b)pypi-(?:AgE[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]{64,})",
    ),
    rule("npm token", &["npm_"], r"(?-u:\b)npm_[A-Za-z0-9]{30,}"),
    rule(
        "JSON web token",
        &["eyj"],
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
    ),
    SecretRule {
        kind: "authorization",
        letters: &["authorization"],
        pattern: r#"(?i-u:\bauthorization)\\?["']?\s*[:=]\s*\\?["']?(?:(?i-u:basic|bearer|digest|token|negotiate|apikey)\s+)?(?<secret>[^\s"'\\,;]+)"#,
        accepts: is_value,
    },
    SecretRule {
        kind: "authorization",
        letters: &["bearer ", "basic "],
        pattern: r"(?i-u:\b(?:bearer|basic))\s+(?<secret>[A-Za-z0-9._~+/=-]{16,})",
        accepts: |it| has_digit(secret_of(it).as_str()),
    },
    rule(
        "password in a URL",
        &["@"],
        r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]*://(?<secret>[^\s/?#"'<>@:]*:[^\s/?#"<>]+)@"#,
    ),
    // Elsewhere than on the web a user without a password is a user, as in `ssh://git@host`.
    SecretRule {
        kind: "token in a URL",
        letters: &["@"],
        pattern: r#"(?i-u:https?)://(?<secret>[^\s/?#"'<>@:]+)@"#,
        accepts: is_value,
    },
    SecretRule {
        kind: "token in a URL",
        letters: &[
            "token",
            "key",
            "sig",
            "secret",
            "passw",
            "credential",
            "auth",
        ],
        pattern: r#"[?&](?i-u:[a-z0-9_.-]*(?:token|key|signature|secret|password|credential|accesskeyid)|sig|auth|passwd)=(?<secret>[^\s&#"'<>;]+)"#,
        accepts: is_value,
    },
    SecretRule {
        kind: "secret",
        letters: &[
            "token",
            "key",
            "secret",
            "passw",
            "passphrase",
            "credential",
            "_pwd",
            "-pwd",
            "_pat",
            "-pat",
        ],
        pattern: concat!(
            "(?<name>[A-Za-z0-9_.-]*",
            secret_name!(),
            r#")(?<sign>\\?["']?\s?[=:]\s?)"#,
            value!()
        ),
        accepts: is_assigned,
    },
    SecretRule {
        kind: "secret",
        letters: &[
            "token",
            "key",
            "secret",
            "passw",
            "passphrase",
            "credential",
            "-pwd",
            "-pat",
        ],
        pattern: concat!(
            "(?:^|\\s)(?<name>--?[A-Za-z0-9_.-]*",
            secret_name!(),
            r")(?<sign>\s+)",
            value!()
        ),
        accepts: is_assigned,
    },
];

/// The part of a match that is hidden.
fn secret_of<'t>(captures: &Captures<'t>) -> Match<'t> {
    let groups = ["secret", "quoted", "single", "bare"];
    let named = groups.iter().find_map(|name| captures.name(name));
    named.unwrap_or_else(|| captures.get_match())
}

fn is_value(captures: &Captures<'_>) -> bool {
    may_be_secret(secret_of(captures).as_str())
}

/// Returns whether a text may be a secret: not one that is hidden already, nor a place where one is put in, as
/// `$TOKEN` and `{token}`, nor a word that says that there is none.
fn may_be_secret(value: &str) -> bool {
    let is_place = value.starts_with(['$', '{', '<', '*', '%', '[', '@', '`', '…'])
        || value.starts_with("...");
    let says_nothing = [
        "none",
        "null",
        "true",
        "false",
        "nil",
        "undefined",
        "str",
        "bytes",
    ];
    !value.is_empty() && !is_place && !says_nothing.iter().any(|it| value.eq_ignore_ascii_case(it))
}

/// Returns whether what follows a name such as `token` is given to it. In a sentence a word follows, as in
/// `unexpected token: name`, and where tokens are counted a number.
fn is_assigned(captures: &Captures<'_>) -> bool {
    let value = secret_of(captures).as_str();
    let (name, sign) = (&captures["name"], &captures["sign"]);
    let is_flag = name.starts_with('-');
    if sign.trim().is_empty() && value.starts_with('-') {
        return false;
    }
    let is_variable = !name.contains(|it: char| it.is_ascii_lowercase());
    let is_key = is_flag || is_variable || sign.contains(['"', '\'']);
    let is_header = name.contains('-') && sign.contains(':');
    is_given(name, value)
        && (is_key
            || is_header
            || (has_digit(value) && value.len() >= 6)
            || (sign.contains('=') && (is_password(name) || value.len() >= 8)))
}

/// Returns whether a value of a secret's name is one: tokens are also counted.
fn is_given(name: &str, value: &str) -> bool {
    let is_number = value.parse::<f64>().is_ok();
    may_be_secret(value)
        && !value.eq_ignore_ascii_case(name)
        && (!is_number || is_password(name) || value.len() >= 16)
}

fn is_password(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["passw", "passphrase", "secret", "pwd"]
        .iter()
        .any(|it| name.contains(it))
}

fn has_digit(value: &str) -> bool {
    value.contains(|it: char| it.is_ascii_digit()) && value.contains(|it: char| it.is_alphabetic())
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

    /// Texts with a secret between `«` and `»`, which must be hidden, and the kind.
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
