//! The formats of tokens, keys and passwords, as their issuers publish them.

use regex::{Captures, Match};

/// One format of secrets.
pub(super) struct SecretRule {
    pub(super) kind: &'static str,
    /// One of these is in every match, in any case.
    pub(super) letters: &'static [&'static str],
    /// The named group that took part is the secret, or else the whole match.
    pub(super) pattern: &'static str,
    pub(super) accepts: fn(&Captures<'_>) -> bool,
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
         |(?:api|access|secret|private|auth|account|encryption|signing|ssh|deploy)[_-]?key|[_-](?:pwd|pat|pass)|sshpass|(?:session|auth)[_-]?cookie))"
    };
}

pub(super) use secret_name;

/// Letters that are in each name of a secret.
const NAME_LETTERS: &[&str] = &[
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
    "_pass",
    "-pass",
    "sshpass",
    "cookie",
];

/// A value between quotes, or up to the next sign that ends a word.
macro_rules! value {
    () => {
        r#"(?:\\?"(?<quoted>[^"\\]+)\\?"|\\?'(?<single>[^'\\]+)\\?'|(?<bare>[^\s"'\\&;|,()\]}]+))"#
    };
}

/// Where two match at one place, the first in this list names it.
pub(super) static RULES: [SecretRule; 20] = [
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
        r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    rule(
        "GitLab token",
        &["gl", "gr1348941"],
        r"(?-u:\b)(?:gl(?:pat|ptt|dt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas|feat|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
    ),
    rule(
        "Hugging Face token",
        &["hf_", "api_org_"],
        r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    ),
    rule(
        "AWS access key",
        &["akia", "asia", "abia", "acca"],
        r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    ),
    rule(
        "Slack token",
        &["xox", "xapp-"],
        r"(?:xox[abeoprs][.-][A-Za-z0-9.-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
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
        r"(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_.-]{20,})",
    ),
    rule(
        "PyPI token",
        &["pypi-"],
        r"(?-u:\b)pypi-(?:AgE[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]{64,})",
    ),
    rule("npm token", &["npm_"], r"npm_[A-Za-z0-9]{30,}"),
    rule(
        "JSON web token",
        &["eyj"],
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
    ),
    SecretRule {
        kind: "authorization",
        letters: &["authorization"],
        pattern: r#"(?i-u:\bauthorization)\\?["']?\s*[:=]\s*\\?["']?(?:(?i-u:basic|bearer|digest|token|negotiate|apikey)\s+)?(?<secret>[^\s"'\\,;]+)"#,
        accepts: |it| {
            let before = it.get_match().as_str().strip_suffix(secret_of(it).as_str());
            let before = before.unwrap_or_default().trim_end();
            // As in `Authorization: denied`.
            let is_sentence = before.len() == "authorization:".len();
            is_value(it) && (!is_sentence || is_long_or_mixed(secret_of(it).as_str()))
        },
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
        accepts: |it| is_value(it) && secret_of(it).len() >= 16,
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
        accepts: |it| {
            let is_any_key = it.get_match().as_str()[1..].starts_with("key=");
            is_value(it) && (!is_any_key || is_long_or_mixed(secret_of(it).as_str()))
        },
    },
    SecretRule {
        kind: "secret",
        letters: NAME_LETTERS,
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
        letters: NAME_LETTERS,
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
pub(super) fn secret_of<'t>(captures: &Captures<'t>) -> Match<'t> {
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
    // The second `=` of a comparison is no value.
    let is_place = value.starts_with(['=', '$', '{', '<', '*', '%', '[', '@', '`', '…'])
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
    // As a parser says what it read, and a program what it computes.
    let is_prose = sign.contains(':') || sign.starts_with(char::is_whitespace);
    is_given(name, value)
        && (is_key
            || is_header
            || (has_digit(value)
                && value.len()
                    >= if is_prose && !is_password(name) {
                        16
                    } else {
                        6
                    })
            || (sign.contains('=') && (is_password(name) || !is_prose && value.len() >= 8)))
}

/// Returns whether a value of a secret's name is one: tokens are also counted.
pub(super) fn is_given(name: &str, value: &str) -> bool {
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

fn is_long_or_mixed(value: &str) -> bool {
    value.len() >= 16 || has_digit(value)
}

fn has_digit(value: &str) -> bool {
    value.contains(|it: char| it.is_ascii_digit()) && value.contains(|it: char| it.is_alphabetic())
}
