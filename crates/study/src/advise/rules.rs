//! The user's rules on stacks: which to exclude or require, and what some are worth beyond their measurements.

use serde::Deserialize;

use super::data::StackData;
use super::requirement::{PackageRequirement, RequirementError, package_name, requirements};

/// Rules of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdviceRules {
    exclude: Vec<StackRule>,
    require: Vec<StackRule>,
    score: Vec<(StackRule, f64)>,
}

/// Stacks that fulfil all of these requirements.
#[derive(Debug, Clone, PartialEq)]
struct StackRule {
    requirements: Vec<PackageRequirement>,
    text: String,
    reason: Option<String>,
}

/// A file of rules that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It is not TOML with these keys.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A `stack` has no requirement, or one that is none.
    #[error("`stack = \"{text}\"` is not a list of requirements")]
    Stack {
        /// The text.
        text: String,
        /// Why.
        source: Option<RequirementError>,
    },
    /// A score is not above −100 %.
    #[error("`percent = {percent}` of `{text}` is not above -100")]
    Percent {
        /// The number.
        percent: f64,
        /// The stacks.
        text: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(default)]
    exclude: Vec<RuleEntry>,
    #[serde(default)]
    require: Vec<RuleEntry>,
    #[serde(default)]
    score: Vec<ScoreEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    stack: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScoreEntry {
    stack: String,
    percent: f64,
    reason: Option<String>,
}

impl StackRule {
    fn new(stack: String, reason: Option<String>) -> Result<Self, RuleError> {
        let source = match requirements(&stack) {
            Ok(requirements) if !requirements.is_empty() => {
                return Ok(Self {
                    requirements,
                    text: stack,
                    reason,
                });
            }
            empty_or_wrong => empty_or_wrong.err(),
        };
        let text = stack;
        Err(RuleError::Stack { text, source })
    }

    /// Returns whether a stack has all of these packages in such versions.
    fn holds(&self, data: &StackData, stack: &[usize]) -> bool {
        self.requirements.iter().all(|requirement| {
            let named = |(factor, _): &(&super::StackFactor, &usize)| {
                package_name(&factor.name) == requirement.package
            };
            let own = data.factors.iter().zip(stack).find(named);
            own.is_some_and(|(factor, level)| requirement.allows(&factor.versions[*level]))
        })
    }

    /// Returns the rule with its reason.
    fn words(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.text),
            None => self.text.clone(),
        }
    }
}

impl AdviceRules {
    /// Returns the rules of a TOML file with the tables `exclude`, `require` and `score`.
    ///
    /// # Errors
    /// When it has another form.
    ///
    /// ```
    /// use lapwing_study::AdviceRules;
    /// let rules = AdviceRules::parse("[[exclude]]\nstack = 'numpy>=2 scipy<1.13'\nreason = 'ABI'");
    /// assert!(rules.is_ok());
    /// ```
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let file: RulesFile = toml::from_str(text)?;
        let rules = |entries: Vec<RuleEntry>| -> Result<Vec<StackRule>, RuleError> {
            let rules = entries
                .into_iter()
                .map(|entry| StackRule::new(entry.stack, entry.reason));
            rules.collect()
        };
        let score = file.score.into_iter().map(|entry| {
            let (percent, text) = (entry.percent, entry.stack);
            if percent > -100.0 && percent.is_finite() {
                let worth = (percent / 100.0).ln_1p();
                Ok((StackRule::new(text, entry.reason)?, worth))
            } else {
                Err(RuleError::Percent { percent, text })
            }
        });
        Ok(Self {
            exclude: rules(file.exclude)?,
            require: rules(file.require)?,
            score: score.collect::<Result<_, RuleError>>()?,
        })
    }

    /// Returns the packages that the rules name and the stacks do not have.
    pub fn unknown(&self, data: &StackData) -> Vec<String> {
        let all = self.exclude.iter().chain(&self.require);
        let all = all.chain(self.score.iter().map(|(rule, _)| rule));
        let known = |package: &str| {
            let mut factors = data.factors.iter();
            factors.any(|own| package_name(&own.name) == package)
        };
        let mut unknown: Vec<String> = all
            .flat_map(|rule| &rule.requirements)
            .map(|own| own.package.clone())
            .filter(|package| !known(package))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// Returns why a stack is not allowed; `None` if it is.
    pub fn objection(&self, data: &StackData, stack: &[usize]) -> Option<String> {
        if let Some(rule) = self.exclude.iter().find(|rule| rule.holds(data, stack)) {
            return Some(format!("excluded: {}", rule.words()));
        }
        let required = self.require.iter().find(|rule| !rule.holds(data, stack));
        required.map(|rule| format!("required: {}", rule.words()))
    }

    /// Returns what the scores are worth for a stack, as a logarithm of its cost, and their reasons: each with what it
    /// is worth, as a share of the cost.
    pub fn score(&self, data: &StackData, stack: &[usize]) -> (f64, Vec<(String, f64)>) {
        let (mut sum, mut reasons) = (0.0, Vec::new());
        for (rule, worth) in self
            .score
            .iter()
            .filter(|(rule, _)| rule.holds(data, stack))
        {
            sum += worth;
            reasons.push((rule.words(), worth.exp_m1()));
        }
        (sum, reasons)
    }
}
