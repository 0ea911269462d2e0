//! Words and numbers of messages, tables and pages: thousands, plurals and lists.

use std::fmt::Display;

use serde_json::Value;

/// Returns a whole number with its thousands apart.
///
/// ```
/// # use lapwing_model::text::grouped;
/// assert_eq!(grouped(11_873), "11,873");
/// assert_eq!(grouped(format_args!("{:.0}", -1234.4)), "-1,234");
/// ```
pub fn grouped(number: impl Display) -> String {
    let number = number.to_string();
    let digits = number.trim_start_matches('-');
    let mut text = number[..number.len() - digits.len()].to_owned();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number and its noun, whose plural is regular.
///
/// ```
/// # use lapwing_model::text::counted;
/// assert_eq!(counted(1, "summary"), "1 summary");
/// assert_eq!(counted(1_200, "summary"), "1,200 summaries");
/// assert_eq!(counted(0, "instance"), "0 instances");
/// ```
pub fn counted(number: impl TryInto<u64> + Display + Copy, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if is_one(number) => (noun, ""),
        Some(stem) => (stem, "ies"),
        None => (noun, "s"),
    };
    format!("{} {stem}{ending}", grouped(number))
}

/// Returns the word for one or the word for several.
///
/// ```
/// # use lapwing_model::text::plural;
/// assert_eq!(plural(1, "is", "are"), "is");
/// assert_eq!(plural(0, "is", "are"), "are");
/// ```
pub fn plural<'a>(number: impl TryInto<u64>, one: &'a str, several: &'a str) -> &'a str {
    if is_one(number) { one } else { several }
}

fn is_one(number: impl TryInto<u64>) -> bool {
    number.try_into().is_ok_and(|number| number == 1)
}

/// Returns names with commas between them.
///
/// ```
/// # use lapwing_model::text::joined;
/// assert_eq!(joined(["a", "b", "c"]), "a, b, c");
/// ```
pub fn joined(names: impl IntoIterator<Item: AsRef<str>>) -> String {
    let mut text = String::new();
    for (position, name) in names.into_iter().enumerate() {
        if position > 0 {
            text.push_str(", ");
        }
        text.push_str(name.as_ref());
    }
    text
}

/// Returns names with commas, and `and` before the last one.
///
/// ```
/// # use lapwing_model::text::joined_with_and;
/// assert_eq!(joined_with_and(&["a"]), "a");
/// assert_eq!(joined_with_and(&["a", "b", "c"]), "a, b and c");
/// ```
pub fn joined_with_and<N: AsRef<str>>(names: &[N]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => {
            format!("{} and {}", joined(others), last.as_ref())
        }
        _ => joined(names),
    }
}

/// Returns the first names, and how many more there are.
///
/// ```
/// # use lapwing_model::text::first_names;
/// assert_eq!(first_names(["a", "b", "c", "d"], 3), "a, b, c and 1 more");
/// assert_eq!(first_names(["a", "b"], 3), "a, b");
/// ```
pub fn first_names(names: impl IntoIterator<Item: AsRef<str>>, shown: usize) -> String {
    let mut names = names.into_iter();
    let first = joined(names.by_ref().take(shown));
    match names.count() {
        0 => first,
        more => format!("{first} and {} more", grouped(more)),
    }
}

/// Returns bytes as hexadecimal digits.
///
/// ```
/// # use lapwing_model::text::hexadecimal;
/// assert_eq!(hexadecimal(&[1, 255]), "01ff");
/// ```
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a JSON value as people write it: texts without quotes.
///
/// ```
/// # use lapwing_model::text::plain;
/// assert_eq!([plain(&"a".into()), plain(&1.into())], ["a", "1"]);
/// ```
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a text with a capital first letter.
///
/// ```
/// # use lapwing_model::text::capitalised;
/// assert_eq!(capitalised("need 3 instances"), "Need 3 instances");
/// ```
pub fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// Returns a text as a word of the shell, whatever is in it: suggested commands are pasted.
pub fn shell_word(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./=:,+@%^".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
