//! The protocol between the program and its launcher.
//!
//! A message is the length of its header (four bytes, native order), the header in
//! JSON, and the bytes that the header announces.

use std::borrow::Cow;
use std::io::{self, Read};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Execution, ExecutionEnd, ResourceUsage};
use super::abilities::Abilities;

/// Headers are small; a longer one means that the two sides are out of step.
const LONGEST_HEADER: u32 = 64 << 20;

/// A request to the launcher.
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum LauncherRequest<'e> {
    /// Take these environment variables, which commands inherit. They follow the header, as `NAME=VALUE` and a zero
    /// byte each.
    Environment {
        /// The number of bytes.
        length: u64,
    },
    /// Run on these processors only, from now on.
    Pin(Vec<usize>),
    /// Say what can be counted.
    Abilities,
    /// End the processes that were kept.
    EndKept,
    /// Execute a command.
    Execute {
        /// The execution, without the bytes of its standard input.
        execution: Cow<'e, Execution>,
        /// How many bytes for its standard input follow the header.
        stdin: Option<u64>,
    },
}

/// A reply of the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum LauncherReply {
    /// It is done.
    Done,
    /// What can be counted.
    Abilities(Abilities),
    /// What came of an execution; the two tails follow the header.
    Executed {
        end: ExecutionEnd,
        wall: Duration,
        usage: Option<ResourceUsage>,
        left_behind: u32,
        stdout: TailSize,
        stderr: TailSize,
    },
    /// The surroundings are broken.
    Broken {
        /// What was being done.
        doing: String,
        /// Why that failed.
        reason: String,
    },
}

/// How long a tail is, and how long all that it is the end of.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct TailSize {
    pub(super) kept: usize,
    pub(super) total: u64,
}

/// Appends a message without its bytes to a buffer.
pub(super) fn append_header(buffer: &mut Vec<u8>, header: &impl Serialize) -> io::Result<()> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; 4]);
    serde_json::to_writer(&mut *buffer, header)?;
    let length = u32::try_from(buffer.len() - start - 4)
        .ok()
        .filter(|length| *length <= LONGEST_HEADER)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"))?;
    buffer[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    Ok(())
}

/// Receives a header; `None` if the other side has gone.
pub(super) fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_ne_bytes(length);
    if length > LONGEST_HEADER {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a message of impossible length",
        ));
    }
    let mut header = vec![0; length as usize];
    input.read_exact(&mut header)?;
    Ok(Some(serde_json::from_slice(&header)?))
}
