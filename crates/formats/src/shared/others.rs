//! Objects whose keys are not known before: all of them, or those that a reader does not
//! know.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::BadLine;
use crate::shared::reading::document::Document;
use lapwing_model::Object;

/// The keys of an object with their values, in order; one that stands there twice comes
/// twice.
pub(crate) struct EntriesOf<K, V>(pub(crate) Vec<(K, V)>);

/// The keys of an object with their values as they stand there.
pub(crate) type Entries<'d> = EntriesOf<Key<'d>, &'d RawValue>;

/// The keys that a struct does not know; what they hold is skipped.
///
/// It stands flattened in elements that are too numerous to keep unknown
/// keys.
pub(crate) type UnknownKeys = EntriesOf<String, IgnoredAny>;

/// A key, copied only where it has escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Key<'d>(#[serde(borrow)] Cow<'d, str>);

impl Deref for Key<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for EntriesOf<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Any<K, V> {
            type Value = EntriesOf<K, V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(EntriesOf(entries))
            }
        }
        deserializer.deserialize_map(Any(PhantomData))
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
    let entries: Entries<'_> = document.element(raw)?;
    let mut others = Object::new();
    for (key, raw) in entries.0 {
        if !known.contains(&&*key) {
            let value: Value = document.element(raw)?;
            if value != Value::Null {
                others.insert(key.to_owned(), value);
            }
        }
    }
    Ok(others)
}
