//! Keeps the last bytes of a stream of any length.

/// The last `limit` bytes of everything pushed, in memory that never exceeds the limit.
#[derive(Debug, Default)]
pub(super) struct TailBuffer {
    limit: usize,
    /// Grows up to `limit`, and is a ring from then on.
    bytes: Vec<u8>,
    /// Where the oldest byte of the full ring is.
    oldest: usize,
    total: u64,
}

impl TailBuffer {
    /// Forgets everything and keeps up to `limit` bytes from now on.
    pub(super) fn reset(&mut self, limit: usize) {
        // Room that one execution needed should not stay with the launcher for ever.
        if self.bytes.capacity() > 4 * limit.max(4096) {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.oldest = 0;
        self.total = 0;
        self.limit = limit;
    }

    /// Appends bytes; those that came `limit` bytes before the end are forgotten.
    pub(super) fn push(&mut self, new: &[u8]) {
        self.total += new.len() as u64;
        let new = &new[new.len().saturating_sub(self.limit)..];
        let room = self.limit - self.bytes.len();
        let (first, rest) = new.split_at(room.min(new.len()));
        self.bytes.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        let until_end = (self.limit - self.oldest).min(rest.len());
        let (first, rest) = rest.split_at(until_end);
        self.bytes[self.oldest..self.oldest + first.len()].copy_from_slice(first);
        self.bytes[..rest.len()].copy_from_slice(rest);
        self.oldest = (self.oldest + first.len() + rest.len()) % self.limit;
    }

    /// Returns the kept bytes, older half and newer half.
    pub(super) fn halves(&self) -> (&[u8], &[u8]) {
        let (newer, older) = self.bytes.split_at(self.oldest);
        (older, newer)
    }

    /// Returns how many bytes are kept.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns how many bytes were ever pushed.
    pub(super) fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(tail: &TailBuffer) -> Vec<u8> {
        let (older, newer) = tail.halves();
        [older, newer].concat()
    }

    proptest! {
        #[test]
        fn the_tail_is_the_end_of_everything_pushed(
            limit in 0_usize..20,
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..10),
        ) {
            let mut tail = TailBuffer::default();
            tail.reset(limit);
            for piece in &pieces {
                tail.push(piece);
            }
            let all = pieces.concat();
            prop_assert_eq!(tail.total(), all.len() as u64);
            prop_assert_eq!(kept(&tail), &all[all.len().saturating_sub(limit)..]);
        }
    }

    #[test]
    fn a_reset_tail_is_empty() {
        let mut tail = TailBuffer::default();
        tail.reset(3);
        tail.push(b"abcde");
        assert_eq!(kept(&tail), b"cde");
        tail.reset(2);
        assert_eq!((kept(&tail), tail.total()), (Vec::new(), 0));
    }
}
