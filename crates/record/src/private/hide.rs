//! What the suite file asks to hide: `[record] hide`.

use lapwing_model::matches_pattern;

/// The texts that are hidden beside secrets and home folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HideRules {
    /// Patterns of environment variables whose values are hidden.
    pub variables: Vec<String>,
    /// Whether hosts are known by a hash.
    pub host: bool,
    /// Whether user names are hidden.
    pub user: bool,
    /// Whether what programs print is hidden.
    pub stderr: bool,
    /// Whether absolute paths are hidden.
    pub paths: bool,
}

impl HideRules {
    /// Adds one entry of `hide`; returns whether there is such a one.
    ///
    /// ```
    /// # use lapwing_record::private::HideRules;
    /// let mut hide = HideRules::default();
    /// assert!(hide.add("env.AWS_*") && hide.add("host") && !hide.add("hosts"));
    /// assert!(hide.hides_variable("AWS_REGION") && !hide.hides_variable("PATH"));
    /// ```
    pub fn add(&mut self, entry: &str) -> bool {
        match entry {
            "host" => self.host = true,
            "user" => self.user = true,
            "stderr" => self.stderr = true,
            "paths" => self.paths = true,
            other => match other.strip_prefix("env.") {
                Some(pattern) if !pattern.is_empty() => self.variables.push(pattern.to_owned()),
                Some(_) | None => return false,
            },
        }
        true
    }

    /// Adds all that others hide.
    pub fn extend(&mut self, others: &Self) {
        self.variables.extend(others.variables.iter().cloned());
        self.host |= others.host;
        self.user |= others.user;
        self.stderr |= others.stderr;
        self.paths |= others.paths;
    }

    /// Returns whether the value of an environment variable is hidden.
    pub fn hides_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|it| matches_pattern(it, name))
    }
}
