//! Looks at results while instances are still being added.

use serde::{Deserialize, Serialize};

use super::Object;

/// The look after which an instance was measured no more, as it stands in the instance's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Look {
    /// Its number, from 1.
    pub number: u32,
    /// The most instances per side that were planned; 0 if the number of looks was not planned.
    pub most: u32,
}

impl Look {
    /// The attribute of instances.
    pub const KEY: &'static str = "look";

    /// Returns the look of an instance with these attributes: the first one if they say nothing.
    pub fn of(attributes: &Object) -> Self {
        let stated = attributes.get(Self::KEY);
        let stated = stated.and_then(|it| serde_json::from_value(it.clone()).ok());
        stated.unwrap_or(Self { number: 1, most: 0 })
    }
}
