//! Keys that stand twice in a JSON object, which readers do not tell.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Returns the paths of the keys that stand more than once in the same object, in the order of their repetition.
pub(super) fn repeated_keys(text: &str) -> Vec<String> {
    let mut repeated = Vec::new();
    let walk = KeyWalk {
        path: "",
        repeated: &mut repeated,
    };
    // What cannot be read has been found before.
    let _read = walk.deserialize(&mut serde_json::Deserializer::from_str(text));
    repeated
}

/// Walks over a JSON value at a path.
struct KeyWalk<'a> {
    path: &'a str,
    repeated: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for KeyWalk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyWalk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut known = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = match self.path {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            if !known.insert(key) {
                self.repeated.push(path.clone());
            }
            map.next_value_seed(KeyWalk {
                path: &path,
                repeated: self.repeated,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        loop {
            let item = KeyWalk {
                path: self.path,
                repeated: &mut *self.repeated,
            };
            if items.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}
