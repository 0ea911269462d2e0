//! Long attributes, compressed: zlib, in hexadecimal digits.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use lapwing_model::text::hexadecimal;
use serde_json::Value;

/// The key of a compressed value.
pub const PACKED: &str = "zlib";

/// The longest that may be unpacked.
const LONGEST_UNPACKED: u64 = 1 << 30;

/// Returns bytes compressed, as hexadecimal digits.
///
/// # Errors
/// None that memory gives.
pub fn pack(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(7));
    encoder.write_all(bytes)?;
    Ok(hexadecimal(&encoder.finish()?))
}

/// Returns the value that digits stand for; `None` if they are none of a value.
pub fn unpack(digits: &str) -> Option<Value> {
    let digits = digits.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let mut text = Vec::new();
    ZlibDecoder::new(&bytes?[..])
        .take(LONGEST_UNPACKED)
        .read_to_end(&mut text)
        .ok()?;
    serde_json::from_slice(&text).ok()
}
