//! zstd-compressed data, frame after frame.

use std::error::Error;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The number of bytes to decode at once.
const PIECE: usize = 1 << 18;

/// Decodes zstd frames that stand one behind the other, as `zstd` itself does.
pub(crate) struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.in_frame && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBytes(PIECE);
                self.decoder
                    .decode_blocks(&mut self.source, strategy)
                    .map_err(broken)?;
                continue;
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder.reset(&mut self.source).map_err(broken)?;
            self.in_frame = true;
        }
    }
}

/// Returns the error in words: those of the decoder show its inner structures, and only
/// the deepest cause is a sentence.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
fn broken(error: FrameDecoderError) -> io::Error {
    let mut deepest: &(dyn Error + 'static) = &error;
    while let Some(cause) = deepest.source() {
        deepest = cause;
    }
    let cut_off = deepest
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
    if cut_off {
        io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "it ends in the middle of a frame",
        )
    } else {
        io::Error::new(io::ErrorKind::InvalidData, deepest.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_behind_each_other_are_one_text() {
        // `printf 'hello ' | zstd` and `printf 'world' | zstd`, zstd 1.5.4.
        const FRAMES: [&[u8]; 2] = [HELLO, WORLD];
        let mut text = String::new();
        let packed = FRAMES.concat();
        ZstdFrames::new(packed.as_slice())
            .read_to_string(&mut text)
            .expect("two frames");
        assert_eq!(text, "hello world");
        let cut = &packed[..packed.len() - 3];
        let mut text = Vec::new();
        assert!(ZstdFrames::new(cut).read_to_end(&mut text).is_err());
    }

    const HELLO: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x31, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20,
    ];
    const WORLD: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x29, 0x00, 0x00, 0x77, 0x6f, 0x72, 0x6c, 0x64,
    ];
}
