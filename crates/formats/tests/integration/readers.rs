//! Whatever an importer writes, every reader reads: the inbox, the importer of record v1, a store, a shared
//! history. What the runner and the plugin write is read in `tests/reliability/test_writers.py`.

use std::collections::BTreeSet;
use std::path::Path;

use lapwing_formats::BadLines;
use lapwing_model::{Id, MetricName, Record};
use lapwing_record::inbox::{self, InboxArrival};
use lapwing_record::private::RecordCleaner;
use lapwing_record::sharing::{self, PullOptions, PushOptions, SharedFolder};
use lapwing_record::{Filter, RecordFile, Store, StoreError, write_line};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::mutations::{FIXTURES, cases, damage, read_as};

/// Returns the line of a record, without the metrics that a store takes from the trace of an instance.
fn line(record: &Record) -> String {
    let mut line = Vec::new();
    let mut record = record.clone();
    match &mut record {
        Record::Run(run) => run.metrics.retain(|name, _| !is_of_trace(name)),
        Record::Iteration(iteration) => iteration.metrics.retain(|name, _| !is_of_trace(name)),
        _ => {}
    }
    write_line(&mut line, &record).unwrap();
    String::from_utf8(line).unwrap()
}

fn is_of_trace(metric: &MetricName) -> bool {
    metric.as_str().starts_with("trace.")
}

fn stored(store: &Store) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    store
        .scan(&Filter::default(), |record| {
            lines.insert(line(&record));
            Ok::<(), StoreError>(())
        })
        .unwrap();
    lines
}

/// Passes records through every reader, each of which has to have all of them.
fn check_readers(records: &[Record], folder: &Path) {
    // What is private in them is hidden before anything is written.
    let cleaner = RecordCleaner::default();
    let records = records.iter().map(|it| cleaner.clean(it).into_owned());
    let records = &records.collect::<Vec<Record>>()[..];
    let written: BTreeSet<String> = records.iter().map(line).collect();
    let open = |name: &str| Store::open(&folder.join(name)).unwrap();

    let mut store = open("inbox.db");
    let mut file =
        RecordFile::create(&folder.join("inbox"), "x", RecordCleaner::default()).unwrap();
    for record in records {
        file.append(record).unwrap();
    }
    file.keep().unwrap();
    let arrivals = inbox::take_in(&mut store, &folder.join("inbox")).unwrap();
    assert!(
        matches!(&arrivals[..], [InboxArrival::TakenIn { refused: None, .. }]),
        "{arrivals:?}"
    );
    assert_eq!(stored(&store), written);

    let text: String = records.iter().map(line).collect();
    let read = read_as("x.jsonl", text.as_bytes(), Some("record"), BadLines::Refuse).unwrap();
    assert_eq!(
        read.records.iter().map(line).collect::<BTreeSet<_>>(),
        written
    );

    let remote = SharedFolder::new(&folder.join("shared")).unwrap();
    let options = PushOptions {
        signing_key: None,
        pull: PullOptions::default(),
        new_history: Id::derived(&[b"history"]),
        with_secrets: false,
        segment_bytes: 5_000,
    };
    let pushed = sharing::push(&mut store, &remote, &options, &mut |_step| ()).unwrap();
    assert_eq!(pushed.left_out.count, 0, "{pushed:?}");
    let mut store = open("pulled.db");
    let pulled = sharing::pull(&mut store, &remote, &options.pull, &mut |_step| ()).unwrap();
    assert_eq!(pulled.refused.count, 0, "{pulled:?}");
    assert_eq!(stored(&store), written);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 30, ..ProptestConfig::default() })]

    #[test]
    fn whatever_an_importer_writes_every_reader_reads(
        which in any::<Index>(),
        damages in vec(damage(), 0..4),
    ) {
        let (name, bytes) = &FIXTURES[which.index(FIXTURES.len())];
        let damaged = damages.iter().fold(bytes.clone(), |bytes, damage| damage.to(bytes));
        if let Some(imported) = read_as(name, &damaged, None, BadLines::Skip)
            && !imported.records.is_empty()
        {
            check_readers(&imported.records, tempfile::tempdir().unwrap().path());
        }
    }
}
