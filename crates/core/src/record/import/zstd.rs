//! zstd-compressed data, frame after frame.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// How much to decode at once.
const PIECE: usize = 1 << 18;

/// Decodes zstd frames that stand one behind the other, as `zstd` itself does.
pub(super) struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let broken = |error: ruzstd::decoding::errors::FrameDecoderError| {
            io::Error::new(io::ErrorKind::InvalidData, error.to_string())
        };
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
