//! Objects whose keys are not known before: all of them, or those that a reader does not
//! know.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::BadLine;
use crate::shared::reading::document::Document;
use lapwing_model::Object;

/// The keys of an object with their values, in order; one that stands there twice comes
/// twice.
pub(crate) struct Entries<'d>(pub(crate) Vec<(Cow<'d, str>, &'d RawValue)>);

impl<'de: 'd, 'd> Deserialize<'de> for Entries<'d> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some((Key(key), raw)) = map.next_entry()? {
                    entries.push((key, raw));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Any)
    }
}

/// A key, copied only where it has escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Key<'d>(#[serde(borrow)] Cow<'d, str>);

/// The names of the keys that a struct does not know; what they hold is skipped.
///
/// It stands flattened in elements that are too numerous to keep unknown
/// keys.
#[derive(Debug, Default)]
pub(crate) struct UnknownKeys(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for UnknownKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = UnknownKeys;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UnknownKeys, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry()? {
                    names.push(name);
                }
                Ok(UnknownKeys(names))
            }
        }
        deserializer.deserialize_map(Any)
    }
}

/// Returns the keys of an element that are none of these, with their values; `null` says
/// nothing.
///
/// `#[serde(flatten)]` does the same for small elements, but forgets where in the text an
/// error is, and holds everything twice.
pub(crate) fn others(
    document: &Document,
    raw: &RawValue,
    known: &[&str],
) -> Result<Object, BadLine> {
    let Entries(all) = document.element(raw)?;
    let mut others = Object::new();
    for (key, raw) in all {
        if !known.contains(&key.as_ref()) {
            let value: Value = document.element(raw)?;
            if value != Value::Null {
                others.insert(key.into_owned(), value);
            }
        }
    }
    Ok(others)
}
