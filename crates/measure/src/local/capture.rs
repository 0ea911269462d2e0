//! Takes in what a child prints: a pipe, and the end of what came through it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::protocol::TailSize;
use super::tail::TailBuffer;

/// How many full buffers are read before the other descriptors are looked at again.
const READS_IN_A_ROW: u32 = 16;
/// As much as a pipe holds unless told otherwise.
const BUFFER_SIZE: usize = 64 << 10;

/// One output stream of one child after another.
///
/// The pipe outlives an execution, which saves making one each time, and saves
/// waking up when the child closes its end. It is replaced when somebody may
/// still hold that end.
#[derive(Debug)]
pub(super) struct OutputCapture {
    pipe: Option<OutputPipe>,
    wanted: bool,
    tail: TailBuffer,
    buffer: Box<[u8]>,
}

#[derive(Debug)]
struct OutputPipe {
    /// Non-blocking.
    read: OwnedFd,
    write: OwnedFd,
}

impl OutputPipe {
    fn new() -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        // The two ends have flags of their own: the child's end stays blocking.
        rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK)?;
        Ok(Self { read, write })
    }
}

impl OutputCapture {
    /// Returns a capture that has no pipe yet.
    pub(super) fn new() -> Self {
        Self {
            pipe: None,
            wanted: false,
            tail: TailBuffer::default(),
            buffer: vec![0; BUFFER_SIZE].into_boxed_slice(),
        }
    }

    /// Gets ready for an execution of which up to `keep` bytes are kept; returns
    /// what the child is to write to, which is `null` when nothing is kept.
    pub(super) fn prepare(&mut self, keep: usize, null: &File) -> io::Result<Stdio> {
        self.tail.reset(keep);
        self.wanted = keep > 0;
        if !self.wanted {
            return Ok(Stdio::from(null.try_clone()?));
        }
        let pipe = match self.pipe.take() {
            Some(pipe) => pipe,
            None => OutputPipe::new()?,
        };
        let write = pipe.write.try_clone()?;
        self.pipe = Some(pipe);
        Ok(Stdio::from(write))
    }

    /// Returns what becomes readable when the child prints.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let pipe = self.pipe.as_ref().filter(|_| self.wanted)?;
        Some(pipe.read.as_fd())
    }

    /// Takes in what is there, up to some amount; returns whether there may be more.
    pub(super) fn take_in(&mut self) -> io::Result<bool> {
        let Some(pipe) = self.pipe.as_ref().filter(|_| self.wanted) else {
            return Ok(false);
        };
        for _ in 0..READS_IN_A_ROW {
            match rustix::io::read(&pipe.read, &mut *self.buffer) {
                Ok(length) => {
                    self.tail.push(&self.buffer[..length]);
                    if length < self.buffer.len() {
                        return Ok(false);
                    }
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Takes in the rest, once nobody writes any more.
    pub(super) fn take_rest(&mut self) -> io::Result<()> {
        while self.take_in()? {}
        Ok(())
    }

    /// Gives the pipe up, because somebody may still write to it.
    pub(super) fn give_up_pipe(&mut self) {
        self.pipe = None;
    }

    /// Returns how much was kept, and of how much.
    pub(super) fn size(&self) -> TailSize {
        TailSize {
            kept: self.tail.len(),
            total: self.tail.total(),
        }
    }

    /// Appends what was kept to a buffer.
    pub(super) fn append_to(&self, buffer: &mut Vec<u8>) {
        let (older, newer) = self.tail.halves();
        buffer.extend_from_slice(older);
        buffer.extend_from_slice(newer);
    }
}
