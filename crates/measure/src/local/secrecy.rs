//! Hides memory and environment from the commands that are executed.
//!
//! A command runs as the same user as the program, so that `/proc` would show it the variables that it was not given.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use super::sys;

/// Keeps other processes of this user from reading this one's memory, descriptors and environment.
pub(super) fn hide_memory() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Hides the environment of this process and its memory from the commands that it executes. For root, whose commands
/// may read all memory, only the environment is hidden.
///
/// A program calls this before it starts a thread or another process, with its environment variables.
pub fn hide_from_children<N: AsRef<OsStr>, V: AsRef<OsStr>>(variables: &[(N, V)]) {
    // Everything works without it.
    let _unsupported = hide_memory();
    let Some((start, end)) = first_environment() else {
        return;
    };
    // The first of equal names counts, and is set last.
    for (name, value) in variables.iter().rev() {
        let name = name.as_ref();
        if !name.as_bytes().contains(&b'=') {
            sys::set_variable(name, value.as_ref());
        }
    }
    sys::overwrite_memory(start, end);
}

/// Returns where in memory the kernel put the environment of this process when it started.
fn first_environment() -> Option<(usize, usize)> {
    // Fields 50 and 51 of proc_pid_stat(5); the one after the name, which may hold anything, is the third.
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_name, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(47);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Returns variables as one text: `NAME=VALUE` and a zero byte each.
pub(super) fn variables_text(variables: &[(OsString, OsString)]) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in variables {
        text.extend_from_slice(name.as_bytes());
        text.push(b'=');
        text.extend_from_slice(value.as_bytes());
        text.push(0);
    }
    text
}

/// Sets the variables of such a text, and returns those that are text.
pub(super) fn set_variables(text: &[u8]) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for line in text.split(|byte| *byte == 0) {
        let equals = line.iter().position(|byte| *byte == b'=');
        if let Some((name, value)) = equals.and_then(|at| line.split_at_checked(at))
            && !name.is_empty()
        {
            let [name, value] = [name, &value[1..]].map(OsStr::from_bytes);
            sys::set_variable(name, value);
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
    }
    variables
}
