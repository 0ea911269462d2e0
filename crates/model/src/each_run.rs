//! What a program that starts a command again and again has measured each time.

/// What each measured run of a command is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EachRun {
    /// An iteration of one instance.
    #[default]
    Iteration,
    /// An instance of its own.
    Instance,
}

impl EachRun {
    /// Returns the name that the option has, and the session's attributes keep.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Instance => "instance",
        }
    }

    /// Returns the choice of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Iteration, Self::Instance]
            .into_iter()
            .find(|choice| choice.name() == name)
    }
}
