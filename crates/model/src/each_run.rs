//! What a program that starts a command again and again has measured each time.

use super::named::named;

/// What each measured run of a command is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EachRun {
    /// An iteration of one instance.
    #[default]
    Iteration,
    /// An instance of its own.
    Instance,
}

// As the option has them, and the attributes of a session.
named!(EachRun: Iteration "iteration", Instance "instance");
