//! Records of version 1 as lines, one after another.

use serde_json::{Value, json};

/// Records that were written down, and how many ids they have.
#[derive(Default)]
pub struct Lines {
    pub text: String,
    pub ids: u32,
}

impl Lines {
    /// Returns an id that no other record has.
    pub fn id(&mut self) -> String {
        self.ids += 1;
        format!("01930000-0000-7000-8000-{:012}", self.ids)
    }

    /// Writes a record.
    pub fn line(&mut self, kind: &str, mut content: Value) {
        content["v"] = json!(1);
        content["kind"] = json!(kind);
        self.text.push_str(&content.to_string());
        self.text.push('\n');
    }
}
