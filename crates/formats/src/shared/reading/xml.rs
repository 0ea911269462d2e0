//! XML documents, which are read as a whole.

use std::io::Read;

use memchr::memmem;
use roxmltree::{Document, Node};
use sha2::{Digest, Sha256};

use crate::shared::reading::spot::Spot;
use crate::{BadLine, ImportError, Source};

/// The longest document that is read: its tree takes several times as much memory.
const LONGEST_MIB: u64 = 512;

/// Elements within elements that are read.
const DEEPEST: usize = 200;

/// The text of a source.
pub(crate) struct XmlText {
    name: String,
    text: String,
    pub(crate) digest: [u8; 32],
}

impl XmlText {
    /// Reads all of a source.
    pub(crate) fn of(source: &Source) -> Result<Self, ImportError> {
        let mut bytes = Vec::with_capacity(source.length_hint());
        let text = source.text()?.take((LONGEST_MIB << 20) + 1);
        let read = { text }.read_to_end(&mut bytes);
        read.map_err(|error| source.failed(error))?;
        let name = source.name().to_owned();
        if bytes.len() as u64 > LONGEST_MIB << 20 {
            let limit = LONGEST_MIB;
            return Err(ImportError::TooLong { name, limit });
        }
        let digest = Sha256::digest(&bytes).into();
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text, digest }),
            Err(error) => {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = before.split(|&byte| byte == b'\n').count() as u64;
                let reason = "not UTF-8 text".to_owned();
                Err(ImportError::Document { name, line, reason })
            }
        }
    }

    /// Returns the tree of its elements.
    pub(crate) fn parse(&self) -> Result<Document<'_>, ImportError> {
        // The parser calls itself for each level.
        if let Some(at) = too_deep(&self.text) {
            return Err(ImportError::Document {
                name: self.name.clone(),
                line: self.text[..at].split('\n').count() as u64,
                reason: format!("elements are nested deeper than {DEEPEST} levels"),
            });
        }
        Document::parse(&self.text).map_err(|error| ImportError::Document {
            name: self.name.clone(),
            line: error.pos().row.into(),
            reason: match error {
                roxmltree::Error::UnexpectedEndOfStream
                | roxmltree::Error::UnclosedRootNode
                | roxmltree::Error::NoRootNode => "the XML is cut off".to_owned(),
                other => format!("not valid XML: {other}"),
            },
        })
    }
}

/// Returns where elements are nested too deep.
fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(begin) = text[at..].find('<').map(|found| at + found) {
        let tag = &text[begin..];
        let length = match tag {
            _ if tag.starts_with("<!--") => tag.find("-->"),
            _ if tag.starts_with("<![CDATA[") => tag.find("]]>"),
            _ => end_of_tag(tag),
        };
        let length = length?;
        match tag.as_bytes().get(1) {
            Some(b'!' | b'?') => {}
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(_) | None if tag[..length].ends_with('/') => {}
            Some(_) | None => depth += 1,
        }
        if depth > DEEPEST {
            return Some(begin);
        }
        at = begin + length;
    }
    None
}

/// Returns the place of the `>` that ends a tag.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.bytes().position(|byte| {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None => return byte == b'>',
        }
        false
    })
}

/// Returns where an element begins.
pub(crate) fn spot_of(node: Node<'_, '_>) -> Spot {
    let at = node.document().text_pos_at(node.range().start);
    Spot::from(u64::from(at.row))
}

/// Returns the elements of that name among the children.
pub(crate) fn children<'n, 'i: 'n>(
    node: Node<'n, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'n, 'i>> {
    node.children().filter(move |it| it.has_tag_name(name))
}

/// Returns the number in an attribute, NaN where it is a word for none.
pub(crate) fn number(node: Node<'_, '_>, name: &str) -> Result<Option<f64>, BadLine> {
    let Some(text) = node
        .attribute(name)
        .map(str::trim)
        .filter(|it| !it.is_empty())
    else {
        return Ok(None);
    };
    let number = match text.contains('.') {
        // Some programs separate thousands.
        true => text.replace(',', ""),
        false => text.to_owned(),
    };
    let number = number.parse().map(Some);
    number.map_err(|_error| spot_of(node).bad(format!("`{name}` is not a number: {text:?}")))
}

/// Returns whether an element of that name begins in a text.
pub(crate) fn has_element(head: &[u8], name: &str) -> bool {
    memmem::find(head, format!("<{name}").as_bytes()).is_some()
}

/// Returns whether a text begins as an XML document whose first element has one of these names.
pub(crate) fn begins_with(head: &[u8], names: &[&str]) -> bool {
    let head = String::from_utf8_lossy(head);
    let mut rest = head.trim_start();
    // The declaration and remarks stand before it.
    for (begin, end) in [("<?", "?>"), ("<!--", "-->"), ("<!--", "-->")] {
        if rest.starts_with(begin) {
            rest = rest
                .split_once(end)
                .map_or("", |(_, rest)| rest.trim_start());
        }
    }
    let Some(rest) = rest.strip_prefix('<') else {
        return false;
    };
    let name = rest
        .split(|it: char| it.is_whitespace() || it == '>' || it == '/')
        .next();
    name.is_some_and(|name| names.contains(&name))
}
