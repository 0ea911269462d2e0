//! Spans as columns: the bytes of a row of `span_chunk`.
//!
//! A byte that names the layout, then a zlib stream of whole numbers (LEB128; signed ones zigzag) and texts: the
//! number of spans; the different texts; the different sets of event names; and a column for each of index,
//! iteration, category, name, lane, clock, inputs, event names, times and the rest (attributes and unknown keys, as
//! JSON). Indices and times are differences from the one before. Texts go by their number; 0 is none.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use lapwing_model::{Id, Object, Span};

/// Stands for the number of inputs of a span that is known to have none; 0 is that of one whose inputs are unknown.
const NO_INPUTS: u64 = u64::MAX;

/// The first byte of this layout.
const LAYOUT: u8 = 1;
/// The first byte of zlib-compressed JSON, which stores had before; `db rescue` may find it.
const JSON: u8 = 0x78;

/// Returns spans as bytes, without their instance.
pub(crate) fn encode(spans: &[Span]) -> io::Result<Vec<u8>> {
    let mut texts = Texts::default();
    let mut shapes: HashMap<Vec<u64>, u64> = HashMap::new();
    let mut shape_list: Vec<Vec<u64>> = Vec::new();
    let mut columns: [Vec<u8>; 10] = Default::default();
    let [
        index,
        iteration,
        category,
        name,
        lane,
        clock,
        inputs,
        shape,
        times,
        rest,
    ] = &mut columns;
    let (mut last_index, mut last_time) = (0, 0);
    for span in spans {
        put_signed(index, i64::from(span.index) - last_index);
        last_index = i64::from(span.index);
        put(iteration, span.iteration.map_or(0, |it| u64::from(it) + 1));
        put(category, texts.number(&span.category));
        put(name, texts.number(&span.name));
        put(lane, texts.optional(span.lane.as_deref()));
        put(clock, texts.optional(span.clock.as_deref()));
        let number = match &span.inputs {
            None => 0,
            Some(none) if none.is_empty() => NO_INPUTS,
            Some(some) => some.len() as u64,
        };
        put(inputs, number);
        for input in span.inputs.iter().flatten() {
            put(inputs, texts.number(input));
        }
        let names: Vec<u64> = span.events.keys().map(|it| texts.number(it)).collect();
        let number = *shapes.entry(names).or_insert_with_key(|names| {
            shape_list.push(names.clone());
            shape_list.len() as u64 - 1
        });
        put(shape, number);
        for time in span.events.values() {
            put_signed(times, time.wrapping_sub(last_time));
            last_time = *time;
        }
        let others = (!span.attributes.is_empty() || !span.extra.is_empty())
            .then(|| serde_json::to_string(&(&span.attributes, &span.extra)));
        put(rest, texts.optional(others.transpose()?.as_deref()));
    }
    let mut head = Vec::new();
    put(&mut head, spans.len() as u64);
    put(&mut head, texts.all.len() as u64);
    for text in &texts.all {
        put(&mut head, text.len() as u64);
        head.extend_from_slice(text.as_bytes());
    }
    put(&mut head, shape_list.len() as u64);
    for names in &shape_list {
        put(&mut head, names.len() as u64);
        for name in names {
            put(&mut head, *name);
        }
    }
    let mut encoder = ZlibEncoder::new(vec![LAYOUT], Compression::fast());
    encoder.write_all(&head)?;
    for column in &columns {
        encoder.write_all(&(column.len() as u64).to_le_bytes())?;
        encoder.write_all(column)?;
    }
    encoder.finish()
}

/// Returns the spans of an instance from their bytes, or what is wrong with them.
pub(crate) fn decode(data: &[u8], instance: Id) -> Result<Vec<Span>, String> {
    let is_json = data.first() == Some(&JSON);
    let stream = match data.split_first() {
        Some((&LAYOUT, stream)) => stream,
        _ if is_json => data,
        _ => return Err("their layout is unknown".to_owned()),
    };
    let mut bytes = Vec::new();
    ZlibDecoder::new(stream)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if is_json {
        return of_json(&bytes, instance);
    }
    read(&bytes, instance).ok_or_else(|| "they cannot be read".to_owned())
}

fn read(bytes: &[u8], instance: Id) -> Option<Vec<Span>> {
    let mut head = Numbers(bytes);
    let count = head.size()?;
    let texts = (0..head.size()?).map(|_| {
        let length = head.size()?;
        let (text, rest) = head.0.split_at_checked(length)?;
        head.0 = rest;
        str::from_utf8(text).ok()
    });
    let texts = texts.collect::<Option<Vec<&str>>>()?;
    let text = |number: u64| {
        texts
            .get(usize::try_from(number.checked_sub(1)?).ok()?)
            .copied()
    };
    let owned = |number: u64| text(number).map(str::to_owned);
    let mut shapes: Vec<Vec<&str>> = Vec::new();
    for _ in 0..head.size()? {
        let names = (0..head.size()?).map(|_| text(head.next()?));
        shapes.push(names.collect::<Option<_>>()?);
    }
    let mut columns = [Numbers(&[]); 10];
    let mut rest = head.0;
    for column in &mut columns {
        let (length, after) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (own, after) = after.split_at_checked(length)?;
        *column = Numbers(own);
        rest = after;
    }
    let [
        index,
        iteration,
        category,
        name,
        lane,
        clock,
        inputs,
        shape,
        times,
        others,
    ] = &mut columns;
    let mut parsed: HashMap<u64, (Object, Object)> = HashMap::new();
    let (mut last_index, mut last_time) = (0_i64, 0_i64);
    let mut spans = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        last_index = last_index.checked_add(index.next_signed()?)?;
        let iteration = match iteration.next()? {
            0 => None,
            number => Some(u32::try_from(number - 1).ok()?),
        };
        let (category, name) = (owned(category.next()?)?, owned(name.next()?)?);
        let (lane, clock) = (owned(lane.next()?), owned(clock.next()?));
        let inputs = match inputs.next()? {
            0 => None,
            NO_INPUTS => Some(Vec::new()),
            number => Some(
                (0..usize::try_from(number).ok()?)
                    .map(|_| owned(inputs.next()?))
                    .collect::<Option<Vec<String>>>()?,
            ),
        };
        let names = shapes.get(shape.size()?)?;
        let mut events = BTreeMap::new();
        for name in names {
            last_time = last_time.wrapping_add(times.next_signed()?);
            events.insert((*name).to_owned(), last_time);
        }
        let (attributes, extra) = match others.next()? {
            0 => (Object::new(), Object::new()),
            number => match parsed.get(&number) {
                Some(known) => known.clone(),
                None => {
                    let new: (Object, Object) = serde_json::from_str(text(number)?).ok()?;
                    parsed.insert(number, new.clone());
                    new
                }
            },
        };
        spans.push(Span {
            instance,
            iteration,
            index: u32::try_from(last_index).ok()?,
            category,
            name,
            lane,
            inputs,
            clock,
            events,
            attributes,
            extra,
        });
    }
    Some(spans)
}

/// Returns spans as they were stored before: a list of spans of record v1 without `instance`.
fn of_json(text: &[u8], instance: Id) -> Result<Vec<Span>, String> {
    let mut values: Vec<serde_json::Value> =
        serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let instance = serde_json::Value::String(instance.to_string());
    let spans = values.iter_mut().map(|value| {
        if let Some(object) = value.as_object_mut() {
            object.insert("instance".to_owned(), instance.clone());
        }
        serde_json::from_value(value.take()).map_err(|error| error.to_string())
    });
    spans.collect()
}

/// Lends SQLite the function `lapwing_span_columns`: the bytes of spans in this layout; null if they cannot be read.
pub(crate) fn lend(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("lapwing_span_columns", 1, flags, |context| {
        let data = context.get_raw(0).as_blob();
        let spans = data
            .ok()
            .and_then(|data| decode(data, Id::derived(&[])).ok());
        Ok(spans.and_then(|spans| encode(&spans).ok()))
    })
}

/// The different texts, numbered from 1.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.all.push(text.to_owned());
        let number = self.all.len() as u64;
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn optional(&mut self, text: Option<&str>) -> u64 {
        text.map_or(0, |text| self.number(text))
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(low(number) | 0x80);
        number >>= 7;
    }
    bytes.push(low(number));
}

fn low(number: u64) -> u8 {
    (number & 0x7f) as u8
}

fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Whole numbers that follow each other.
#[derive(Clone, Copy)]
struct Numbers<'b>(&'b [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn next_signed(&mut self) -> Option<i64> {
        let number = self.next()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.next()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn span() -> impl Strategy<Value = Span> {
        let text = || prop_oneof![Just(String::new()), "[a-c]{1,2}", ".*"];
        let events = proptest::collection::btree_map("[a-d]", any::<i64>(), 0..4);
        let attributes = proptest::option::of(("[a-c]", any::<i32>()));
        let head = (
            proptest::option::of(any::<u32>()),
            any::<u32>(),
            text(),
            text(),
        );
        let places = (proptest::option::of(text()), proptest::option::of(text()));
        let inputs = proptest::option::of(proptest::collection::vec(text(), 0..3));
        (head, places, inputs, events, attributes).prop_map(
            |(head, places, inputs, events, attributes)| {
                let mut rest = Object::new();
                if let Some((key, value)) = attributes {
                    rest.insert(key, json!({"v": value}));
                }
                Span {
                    instance: Id::derived(&[]),
                    iteration: head.0.filter(|it| *it < u32::MAX),
                    index: head.1,
                    category: head.2,
                    name: head.3,
                    lane: places.0,
                    inputs,
                    clock: places.1,
                    events,
                    attributes: rest.clone(),
                    extra: if head.1 % 2 == 0 { rest } else { Object::new() },
                }
            },
        )
    }

    proptest! {
        #[test]
        fn spans_are_read_as_they_were_written(spans in proptest::collection::vec(span(), 0..20)) {
            let bytes = encode(&spans).expect("memory");
            prop_assert_eq!(decode(&bytes, Id::derived(&[])), Ok(spans));
        }

        #[test]
        fn damaged_bytes_are_no_spans_or_others(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            // Whatever comes out: neither a panic nor endless memory.
            let _spans = read(&bytes, Id::derived(&[]));
        }
    }

    #[test]
    fn json_is_read_too() {
        let json = json!([{"index": 3, "category": "task", "name": "a", "events": {"started": -5}, "attributes": {}, "new": 1}]);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder
            .write_all(json.to_string().as_bytes())
            .expect("memory");
        let bytes = encoder.finish().expect("memory");
        let spans = decode(&bytes, Id::derived(&[])).expect("spans");
        assert_eq!((spans[0].index, spans[0].events["started"]), (3, -5));
        assert_eq!(spans[0].extra["new"], 1);
        let again = encode(&spans).expect("memory");
        assert_eq!(decode(&again, Id::derived(&[])), Ok(spans));
        assert!(decode(b"no zlib", Id::derived(&[])).is_err());
        assert!(decode(b"\x78", Id::derived(&[])).is_err());
    }
}
