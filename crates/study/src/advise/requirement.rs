//! Requirements and pins of packages, as files of requirements write them.

use std::cmp::Ordering;

use super::package_version::version_order;

/// A package with conditions on its version: `numpy>=1.24,<2.3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRequirement {
    /// The package, in lower case with hyphens.
    pub package: String,
    conditions: Vec<(VersionOperator, String)>,
}

/// A package with one version: `numpy==1.26.4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackagePin {
    /// The package, in lower case with hyphens.
    pub package: String,
    /// The version.
    pub version: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VersionOperator {
    Equal,
    NotEqual,
    Compatible,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// The longer operators come first.
const OPERATORS: [(&str, VersionOperator); 8] = [
    ("===", VersionOperator::Equal),
    ("==", VersionOperator::Equal),
    ("!=", VersionOperator::NotEqual),
    ("~=", VersionOperator::Compatible),
    (">=", VersionOperator::AtLeast),
    ("<=", VersionOperator::AtMost),
    (">", VersionOperator::Above),
    ("<", VersionOperator::Below),
];

/// A text that is no requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a requirement like `numpy>=1.24,<2.3`")]
pub struct RequirementError {
    /// The text.
    pub text: String,
}

impl PackageRequirement {
    /// Returns the requirement that a text states; extras in brackets and markers after a semicolon are ignored.
    ///
    /// # Errors
    /// When it has no name of a package, or a condition without a known operator.
    ///
    /// ```
    /// use lapwing_study::PackageRequirement;
    /// let requirement = PackageRequirement::parse("NumPy>=1.24,<2")?;
    /// assert_eq!((requirement.package.as_str(), requirement.allows("1.26.4"), requirement.allows("2.0")), ("numpy", true, false));
    /// # Ok::<(), lapwing_study::RequirementError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, RequirementError> {
        let wrong = || RequirementError {
            text: text.to_owned(),
        };
        let plain = text.split(';').next().unwrap_or_default().trim();
        let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
        let end = plain.find(|it| !is_name(it)).unwrap_or(plain.len());
        let (name, mut rest) = plain.split_at(end);
        if name.is_empty() {
            return Err(wrong());
        }
        if let Some((_, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            rest = after;
        }
        let conditions = rest.split(',').map(str::trim).filter(|it| !it.is_empty());
        let conditions = conditions.map(|condition| {
            let mut operators = OPERATORS.iter();
            let (operator, version) = operators
                .find_map(|(sign, operator)| Some((*operator, condition.strip_prefix(sign)?)))?;
            let version = version.trim();
            let is_version = !version.is_empty() && !version.contains(char::is_whitespace);
            is_version.then(|| (operator, version.to_owned()))
        });
        Ok(Self {
            package: package_name(name),
            conditions: conditions.collect::<Option<_>>().ok_or_else(wrong)?,
        })
    }

    /// Returns whether a version fulfils all conditions.
    pub fn allows(&self, version: &str) -> bool {
        (self.conditions.iter()).all(|(operator, wanted)| operator.holds(version, wanted))
    }

    /// Returns the only version that is allowed, if the requirement names one.
    pub fn pin(&self) -> Option<PackagePin> {
        match self.conditions.as_slice() {
            [(VersionOperator::Equal, version)] if !version.contains('*') => Some(PackagePin {
                package: self.package.clone(),
                version: version.clone(),
            }),
            _ => None,
        }
    }
}

impl VersionOperator {
    fn holds(self, version: &str, wanted: &str) -> bool {
        let order = version_order(version, wanted);
        match self {
            Self::Equal => match wanted.strip_suffix(".*") {
                Some(prefix) => begins_with(version, prefix),
                None => order == Ordering::Equal,
            },
            Self::NotEqual => !Self::Equal.holds(version, wanted),
            Self::Compatible => {
                let prefix = wanted.rsplit_once('.').map_or(wanted, |(prefix, _)| prefix);
                order.is_ge() && begins_with(version, prefix)
            }
            Self::AtLeast => order.is_ge(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::Below => order.is_lt(),
        }
    }
}

fn begins_with(version: &str, prefix: &str) -> bool {
    let rest = version.strip_prefix(prefix);
    rest.is_some_and(|rest| !rest.starts_with(|it: char| it.is_ascii_digit()))
}

/// Returns the name of a package as it is compared: lower case, with hyphens.
pub(super) fn package_name(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

/// Returns requirements that are separated by spaces: `numpy>=2 scipy<1.13`.
///
/// # Errors
/// When one of them is none.
pub fn requirements(text: &str) -> Result<Vec<PackageRequirement>, RequirementError> {
    text.split_whitespace()
        .map(PackageRequirement::parse)
        .collect()
}

/// Returns the pins of each line with any: a stack per line (`numpy==1.26.4 scipy==1.11.4 python==3.12`), or a lock
/// file with a package per line.
///
/// Comments, options such as `--hash` and lines that continue others are skipped.
///
/// # Errors
/// When a word is no requirement.
pub fn pinned_stacks(text: &str) -> Result<Vec<Vec<PackagePin>>, RequirementError> {
    let lines = text.lines().map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let line = line.split(';').next().unwrap_or_default();
        // `numpy == 1.26` is the same as `numpy==1.26`.
        line.replace(" ==", "==").replace("== ", "==")
    });
    let mut stacks = Vec::new();
    for line in lines {
        let words = line
            .split_whitespace()
            .map(|word| word.trim_end_matches(','));
        let words = words.take_while(|word| !word.starts_with('-') && *word != "\\");
        let all: Vec<PackageRequirement> = words
            .map(PackageRequirement::parse)
            .collect::<Result<_, _>>()?;
        let pins: Vec<PackagePin> = all.iter().filter_map(PackageRequirement::pin).collect();
        if !pins.is_empty() {
            stacks.push(pins);
        }
    }
    Ok(stacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_pep_440() {
        // packaging 25.0: SpecifierSet(…).contains(…).
        for (requirement, version, allowed) in [
            ("a==1.2.*", "1.2.9", true),
            ("a==1.2.*", "1.20", false),
            ("a~=1.4.2", "1.4.9", true),
            ("a~=1.4.2", "1.5", false),
            ("a~=2.2", "2.9", true),
            ("a!=1.5,>1", "1.5", false),
            ("a[fast]>=1.10,<2", "1.9", false),
            ("a", "0.1", true),
            ("a==1.0", "1", true),
        ] {
            let own = PackageRequirement::parse(requirement).expect("a requirement");
            assert_eq!(own.allows(version), allowed, "{requirement} {version}");
        }
        assert!(
            PackageRequirement::parse("a=1").is_err() && PackageRequirement::parse(">=1").is_err()
        );
    }

    #[test]
    fn stacks_are_lines_and_locks_have_a_package_per_line() {
        let text =
            "# resolved\nnumpy==1.26.4 SciPy==1.11.4 python==3.12\n\nnumpy==2.0  # the next\n";
        let stacks = pinned_stacks(text).expect("pins");
        assert_eq!(stacks.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(stacks[0][1].package, "scipy");
        let lock = "numpy==1.26.4 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\nscipy==1.11.4 ; python_version >= \"3.9\"\n-r more.txt\n";
        assert_eq!(pinned_stacks(lock).expect("pins").concat().len(), 2);
    }
}
