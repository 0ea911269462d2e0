//! Records that a test writes down, to be imported.

use serde_json::{Value, json};

/// Records of version 1 as JSON lines, one after another.
///
/// Every method that adds a record takes `more`: keys to add, or to replace what would be
/// written otherwise. Ids count up, so that output that shows them is the same every time.
#[derive(Debug, Clone, Default)]
pub struct RecordLines {
    /// The lines so far.
    pub text: String,
    ids: u32,
}

impl RecordLines {
    /// Returns no lines yet; the ids that follow are greater than `ids`, so that those of several
    /// files differ.
    pub fn after(ids: u32) -> Self {
        Self {
            text: String::new(),
            ids,
        }
    }

    /// Returns an id that no other record has.
    pub fn id(&mut self) -> String {
        self.ids += 1;
        record_id(0, self.ids)
    }

    /// Adds a record as it is.
    ///
    /// # Panics
    /// When `content` is not an object, here and in all other methods.
    pub fn line(&mut self, kind: &str, mut content: Value) {
        content["v"] = json!(1);
        content["kind"] = json!(kind);
        self.text.push_str(&content.to_string());
        self.text.push('\n');
    }

    /// Adds a session of the suite `s`, unless `more` has another, and returns its id.
    pub fn session(&mut self, started: &str, more: Value) -> String {
        let content = json!({"suite": "s", "started": started, "tool": "t"});
        self.with_id("session", content, more)
    }

    /// Adds a run, which measures `wall_time` unless `more` has other metrics, and returns its id.
    pub fn run(&mut self, session: &str, more: Value) -> String {
        let metrics = json!({"wall_time": {"unit": "s", "better": "lower"}});
        self.with_id("run", json!({"session": session, "metrics": metrics}), more)
    }

    /// Adds an instance of the benchmark of that id, and returns the instance's own.
    pub fn instance(&mut self, run: &str, benchmark: &str, more: Value) -> String {
        let content = json!({"run": run, "benchmark": {"id": benchmark}});
        self.with_id("instance", content, more)
    }

    /// Adds an iteration.
    pub fn iteration(&mut self, instance: &str, index: usize, more: Value) {
        let content = json!({"instance": instance, "index": index});
        self.line("iteration", joined(content, more));
    }

    /// Adds the end of an instance.
    pub fn instance_end(&mut self, instance: &str) {
        self.line("instance_end", json!({"instance": instance}));
    }

    fn with_id(&mut self, kind: &str, content: Value, more: Value) -> String {
        let mut content = joined(content, more);
        if content.get("id").is_none() {
            content["id"] = json!(self.id());
        }
        let id = content["id"].as_str().expect("an id is text").to_owned();
        self.line(kind, content);
        id
    }
}

/// Returns an id by two numbers, for a test that names what it wrote.
pub fn record_id(kind: u32, number: u32) -> String {
    format!("01930000-0000-7000-800{kind}-{number:012}")
}

/// Returns an object with the keys of both; `more` decides where they have the same.
fn joined(mut content: Value, more: Value) -> Value {
    let Value::Object(more) = more else {
        return content;
    };
    let keys = content.as_object_mut().expect("an object");
    keys.extend(more);
    content
}
