//! Advice about stacks that cannot be chosen, read or built.

use lapwing_measure::stack::StackError;

/// Returns what to do about an error.
pub fn stack_hint(error: &StackError) -> Option<String> {
    let hint = match error {
        StackError::NotARequirement { .. } => "write it like `numpy>=1.24,<2.3`",
        StackError::ForeignSource { .. } => {
            "`--allow-build` permits it, if you trust the file and whatever it names"
        }
        StackError::NotAPython { .. } => "write a version such as `3.12`",
        StackError::NoPython { version, .. } => {
            return Some(format!("`uv python install {version}` downloads it"));
        }
        StackError::NoUv => "`pip install uv` installs it (https://docs.astral.sh/uv)",
        StackError::ManyCombinations { .. } => {
            "use fewer versions of each package (--latest) or narrower requirements"
        }
        StackError::File { .. } => "`lapwing stack resolve REQUIREMENT…` writes one",
        StackError::Specification { .. } => "docs/stacks.md lists the keys of a specification",
        StackError::UvFailed { .. }
        | StackError::Panicked
        | StackError::Io(_)
        | StackError::Executor(_)
        | StackError::Session(_) => return None,
    };
    Some(hint.to_owned())
}
