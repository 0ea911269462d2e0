//! What goes wrong is said clearly, and loses nothing.

use std::fs;

use super::place::{Late, Manner};
use super::*;

const FIRST: &str = "segments/00000001.jsonl.gz";

/// A history with one session, in a place.
fn shared(stores: &Stores) -> Place {
    let remote = Place::default();
    let mut store = stores.open("first");
    store.append(&whole(1, 1)).unwrap();
    push(&mut store, &remote);
    remote
}

fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Some libraries repeat their cause in their own text.
        if !text.ends_with(&error.to_string()) {
            text.push_str(&format!(": {error}"));
        }
        cause = error.source();
    }
    text
}

#[test]
fn a_place_that_overwrites_is_refused_and_holds_no_segment() {
    let stores = Stores::new();
    let remote = Place::default();
    remote.manner.set(Manner::Overwrites);
    let mut store = stores.open("a");
    store.append(&whole(1, 1)).unwrap();
    for _ in 0..2 {
        let error = sharing::push(&mut store, &remote, &options(), &mut |_step| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "memory: ignores conditional creation: two writers would overwrite each other's \
             measurements"
        );
        assert_eq!(remote.segments(), Vec::<String>::new());
    }
    // What others have put there can be read all the same.
    remote.manner.set(Manner::Sound);
    push(&mut store, &remote);
    remote.manner.set(Manner::Overwrites);
    let mut other = stores.open("b");
    assert_eq!(pull(&mut other, &remote).segments, 1);
}

/// A segment of that text.
fn plain(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_segment_that_is_damaged_is_named_and_nothing_of_it_is_taken_in() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let good = remote.objects.borrow()[FIRST].clone();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 0x10;
    let says = |content: Vec<u8>| {
        let mut store = stores.open("victim");
        store.append(&session(7)).unwrap();
        remote
            .objects
            .borrow_mut()
            .insert(FIRST.to_owned(), content);
        let error = sentence(&refused(&mut store, &remote));
        assert_eq!(lines(&store).len(), 2, "{error}");
        error
    };
    let cut = says(good[..good.len() - 9].to_vec());
    assert!(
        cut.starts_with("memory:/segments/00000001.jsonl.gz is cut off or damaged: "),
        "{cut}"
    );
    for damaged in [flipped, b"<html>".to_vec(), Vec::from(&good[..20])] {
        let error = says(damaged);
        assert!(
            error.starts_with("memory:/segments/00000001.jsonl.gz is cut off or damaged: "),
            "{error}"
        );
    }
    assert_eq!(
        says(plain("{\"v\":2,\"kind\":\"session\"}\n")),
        "memory:/segments/00000001.jsonl.gz:1: record version 2 is newer than version 1, which \
         this program reads"
    );
}

#[test]
fn what_no_reader_takes_is_left_out_and_named_and_the_rest_is_pulled() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let text = |session: u64| -> String {
        let lines = whole(session, 1).into_iter().map(|record| {
            let mut line = Vec::new();
            write_line(&mut line, &record).unwrap();
            String::from_utf8(line).unwrap()
        });
        lines.collect()
    };
    let mut store = stores.open("first");
    let mut take = |text: String| {
        let mut objects = remote.objects.borrow_mut();
        let next = format!("segments/{:08}.jsonl.gz", objects.len());
        objects.insert(next, plain(&text));
        drop(objects);
        let pulled = pull(&mut store, &remote);
        (pulled.refused.count, pulled.refused.first, lines(&store))
    };
    let (count, first, known) = take(format!("{{\"v\":1,\"kind\":\"run\"\n{}", text(2)));
    assert_eq!((count, known.len()), (1, 18), "{first:?}");
    assert_eq!(
        first,
        ["memory:/segments/00000002.jsonl.gz:1: EOF while parsing an object at line 1 column 19"]
    );
    // An instance without a name, with the six records that belong to it.
    let (count, _, known) = take(text(3).replace("\"b0\"", "\"\""));
    assert_eq!((count, known.len()), (7, 20));
    // What older programs wrote is a failure; and nothing comes a second time.
    let (count, first, known) = take(text(4).replace("1.5", "-1.5"));
    assert_eq!((count, known.len()), (0, 29), "{first:?}");
    assert!(
        known
            .iter()
            .any(|it| it.contains("metric `wall_time` is negative: -1.5"))
    );
}

#[test]
fn stores_that_disagree_are_told_and_nothing_of_that_segment_is_added() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let mut text = Vec::new();
    for record in whole(1, 1).into_iter().chain(whole(2, 1)) {
        write_line(&mut text, &record).unwrap();
    }
    let text = String::from_utf8(text).unwrap().replacen("1.5", "2.5", 1);
    let second = "segments/00000002.jsonl.gz".to_owned();
    remote.objects.borrow_mut().insert(second, plain(&text));
    let mut store = stores.open("first");
    let error = refused(&mut store, &remote);
    assert!(
        matches!(error, SharingError::Store(StoreError::Conflict { .. })),
        "{error}"
    );
    assert_eq!(lines(&store).len(), 9);
}

#[test]
fn a_segment_that_comes_cut_off_is_asked_for_again() {
    let stores = Stores::new();
    let remote = shared(&stores);
    for times in [1, 2] {
        remote.cuts.set(times);
        let mut store = stores.open(&format!("cut {times}"));
        assert_eq!(pull(&mut store, &remote).segments, 1);
        assert_eq!(remote.cuts.get(), 0);
    }
    remote.cuts.set(3);
    let error = refused(&mut stores.open("cut 3"), &remote);
    assert!(matches!(error, SharingError::Damaged { .. }), "{error}");
}

#[test]
fn a_segment_that_would_fill_the_memory_or_take_for_ever_is_refused() {
    let stores = Stores::new();
    let remote = shared(&stores);
    // Members one after another are one text.
    let lines = "\n".repeat(1 << 20);
    let bomb = plain(&lines).repeat(513);
    remote.objects.borrow_mut().insert(FIRST.to_owned(), bomb);
    assert_eq!(
        sentence(&refused(&mut stores.open("victim"), &remote)),
        "memory:/segments/00000001.jsonl.gz is cut off or damaged: it holds more than 512 MiB"
    );
}

#[test]
fn segments_that_changed_or_went_are_noticed() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let mut store = stores.open("first");
    store.append(&whole(2, 1)).unwrap();
    push(&mut store, &remote);
    let first = remote.objects.borrow()[FIRST].clone();
    let second = "segments/00000002.jsonl.gz";
    let last = remote
        .objects
        .borrow_mut()
        .insert(second.to_owned(), first.clone());
    assert_eq!(
        refused(&mut store, &remote).to_string(),
        "memory:/segments/00000002.jsonl.gz has changed since this store pulled it; segments \
         never change"
    );
    remote.objects.borrow_mut().remove(second);
    assert_eq!(
        refused(&mut store, &remote).to_string(),
        "memory:/segments/00000002.jsonl.gz is missing, but this store pulled it before"
    );
    remote
        .objects
        .borrow_mut()
        .insert(second.to_owned(), last.unwrap());
    // An older one is looked at when that is asked for.
    remote
        .objects
        .borrow_mut()
        .insert(FIRST.to_owned(), Vec::new());
    pull(&mut store, &remote);
    let all = PullOptions {
        verify: sharing::VerifiedSegments::All,
        ..PullOptions::default()
    };
    let error = sharing::pull(&mut store, &remote, &all, &mut |_step| ()).unwrap_err();
    assert!(matches!(error, SharingError::Changed { .. }), "{error}");
}

#[test]
fn a_history_that_is_new_gone_or_another_one_is_refused() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let mut store = stores.open("first");
    let is = |content: &str| {
        remote
            .objects
            .borrow_mut()
            .insert("lapwing.json".to_owned(), content.as_bytes().to_vec())
    };
    let ours = is(r#"{"format":"lapwing shared history","version":2,"id":5}"#);
    assert_eq!(
        refused(&mut store, &remote).to_string(),
        "the shared history at memory: is of version 2, newer than version 1, which this program \
         knows"
    );
    for foreign in ["{}", "[", "{\"format\":\"npm\",\"version\":1}"] {
        is(foreign);
        let error = refused(&mut store, &remote);
        assert_eq!(
            error.to_string(),
            "memory:/lapwing.json is not that of a shared history"
        );
    }
    is(&format!(
        "{{\"format\":\"lapwing shared history\",\"version\":1,\"id\":\"{}\"}}",
        uuid(9, 9)
    ));
    let error = refused(&mut store, &remote);
    assert!(matches!(error, SharingError::Replaced { .. }), "{error}");
    remote.objects.borrow_mut().clear();
    let error = refused(&mut store, &remote);
    assert!(matches!(error, SharingError::Vanished { .. }), "{error}");
    let error = sharing::push(&mut store, &remote, &options(), &mut |_step| ()).unwrap_err();
    assert!(matches!(error, SharingError::Vanished { .. }), "{error}");
    // Begun anew, it gets everything.
    let anew = PushOptions {
        pull: PullOptions {
            begin_anew: true,
            ..PullOptions::default()
        },
        new_history: Id::derived(&[b"another one"]),
        ..options()
    };
    let pushed = sharing::push(&mut store, &remote, &anew, &mut |_step| ()).unwrap();
    assert_eq!(counts(&pushed), [1, 0, 1, 0]);
    assert_ne!(remote.objects.borrow().get("lapwing.json"), ours.as_ref());
    assert_eq!(counts(&push(&mut store, &remote)), [0, 0, 0, 0]);
}

#[test]
fn what_could_not_be_pushed_is_pushed_the_next_time() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let mut store = stores.open("first");
    store.append(&whole(2, 1)).unwrap();
    remote.manner.set(Manner::Full);
    let error = sharing::push(&mut store, &remote, &options(), &mut |_step| ()).unwrap_err();
    assert_eq!(
        sentence(&error),
        "cannot use the shared history at memory:: no room"
    );
    remote.manner.set(Manner::Sound);
    assert_eq!(counts(&push(&mut store, &remote)), [1, 0, 1, 0]);
}

#[test]
fn a_session_that_is_just_being_measured_waits() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let mut store = stores.open("first");
    store.append(&whole(2, 1)).unwrap();
    let file =
        lapwing_record::RecordFile::create(&store.inbox(), &uuid(1, 2), store.cleaner().clone())
            .unwrap();
    let pushed = push(&mut store, &remote);
    assert_eq!((counts(&pushed), pushed.under_way), ([0, 0, 0, 0], 1));
    file.remove().unwrap();
    let pushed = push(&mut store, &remote);
    assert_eq!((counts(&pushed), pushed.under_way), ([1, 0, 1, 0], 0));
}

#[test]
fn who_was_quicker_is_taken_in_and_what_both_have_goes_once() {
    let stores = Stores::new();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 1)).unwrap();
    ours.append(&whole(2, 1)).unwrap();
    theirs.append(&whole(1, 1)).unwrap();
    theirs.append(&whole(3, 1)).unwrap();
    let after = Place::default();
    push(&mut ours, &after);
    let before = Place::default();
    let history = after.objects.borrow()["lapwing.json"].clone();
    before
        .objects
        .borrow_mut()
        .insert("lapwing.json".to_owned(), history);
    let late = Late::new(before, after.objects.take());
    assert_eq!(counts(&push(&mut theirs, &late)), [1, 0, 1, 1]);
    assert_eq!(lines(&theirs).len(), 3 * 9);
}

/// A history of eight sessions without the third segment, and what that was.
fn with_a_gap(remote: &dyn Remote, stores: &Stores) {
    let mut store = stores.open("writer");
    for number in 1..=8 {
        store.append(&whole(number, 1)).unwrap();
        push(&mut store, remote);
    }
}

#[test]
fn a_segment_that_is_missing_in_a_folder_is_never_filled() {
    let stores = Stores::new();
    let path = stores.0.path().join("shared");
    let remote = SharedFolder::new(&path).unwrap();
    with_a_gap(&remote, &stores);
    let third = path.join("segments/00000003.jsonl.gz");
    fs::remove_file(&third).unwrap();
    // Files of others do not count.
    fs::write(path.join("segments/00000012.jsonl.gz.part"), "").unwrap();
    let missing =
        "/segments/00000003.jsonl.gz is missing, though segments/00000008.jsonl.gz is there";
    let mut fresh = stores.open("fresh");
    fresh.append(&whole(9, 1)).unwrap();
    for _again in 0..2 {
        let error = sharing::push(&mut fresh, &remote, &options(), &mut |_step| ()).unwrap_err();
        assert!(error.to_string().ends_with(missing), "{error}");
    }
    assert!(!third.exists());
    // Nor does one that has them all say that there is nothing new.
    let mut writer = stores.open("writer");
    let error = refused(&mut writer, &remote).to_string();
    assert!(error.ends_with(missing), "{error}");
    let would = sharing::rehearse_push(&mut writer, &remote, &options()).unwrap_err();
    assert!(would.to_string().ends_with(missing), "{would}");
}

#[test]
fn a_segment_that_is_missing_where_nothing_can_be_listed_is_not_filled() {
    let stores = Stores::new();
    let remote = Place::default();
    with_a_gap(&remote, &stores);
    remote
        .objects
        .borrow_mut()
        .remove("segments/00000003.jsonl.gz");
    let mut fresh = stores.open("fresh");
    fresh.append(&whole(9, 1)).unwrap();
    let error = sharing::push(&mut fresh, &remote, &options(), &mut |_step| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "memory:/segments/00000003.jsonl.gz is missing, though segments/00000004.jsonl.gz is there"
    );
    assert_eq!(remote.segments().len(), 7);
}

#[test]
fn a_large_session_whose_push_is_interrupted_goes_on_where_it_was() {
    let stores = Stores::new();
    let remote = Place::default();
    let mut store = stores.open("a");
    store.append(&whole(1, 8)).unwrap();
    let small = PushOptions {
        segment_bytes: 700,
        ..options()
    };
    let mut segments = 0;
    for _interrupted in 0..3 {
        // After two more segments there is no more room.
        let mut left = 2;
        let ended = sharing::push(&mut store, &remote, &small, &mut |step| {
            if let sharing::SharingStep::Pushed { .. } = step {
                left -= 1;
                if left == 0 {
                    remote.manner.set(Manner::Full);
                }
            }
        });
        ended.unwrap_err();
        remote.manner.set(Manner::Sound);
        segments += 2;
        assert_eq!(remote.segments().len(), segments);
    }
    let pushed = sharing::push(&mut store, &remote, &small, &mut |_step| ()).unwrap();
    assert_eq!(pushed.sessions, 1);
    let contents: Vec<Vec<u8>> = remote.objects.borrow().values().cloned().collect();
    let different: std::collections::BTreeSet<&Vec<u8>> = contents.iter().collect();
    assert_eq!(different.len(), contents.len());
    let mut other = stores.open("b");
    pull(&mut other, &remote);
    assert_eq!(lines(&other), lines(&store));
}

#[test]
fn a_history_that_has_moved_is_missed_where_it_was() {
    let stores = Stores::new();
    let old = shared(&stores);
    let new = Place {
        address: "elsewhere:".to_owned(),
        ..Place::default()
    };
    *new.objects.borrow_mut() = std::mem::take(&mut *old.objects.borrow_mut());
    let mut store = stores.open("first");
    assert_eq!(counts(&push(&mut store, &new)), [0, 0, 0, 0]);
    for error in [
        refused(&mut store, &old),
        sharing::push(&mut store, &old, &options(), &mut |_step| ()).unwrap_err(),
    ] {
        assert!(matches!(error, SharingError::Vanished { .. }), "{error}");
    }
    assert!(old.objects.borrow().is_empty());
}

#[test]
fn a_segment_without_records_is_named() {
    let stores = Stores::new();
    let remote = shared(&stores);
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    };
    for nothing in [gzip(b""), gzip(b"\n \n\n"), gzip(&[b'\n'; 200_000])] {
        let mut store = stores.open("b");
        remote
            .objects
            .borrow_mut()
            .insert(FIRST.to_owned(), nothing);
        let error = refused(&mut store, &remote).to_string();
        assert_eq!(error, "memory:/segments/00000001.jsonl.gz holds no records");
    }
    // Lines keep their numbers behind empty ones.
    let mut text = vec![b'\n'; 200_000];
    text.extend(b"{}\n");
    remote
        .objects
        .borrow_mut()
        .insert(FIRST.to_owned(), gzip(&text));
    let refused = pull(&mut stores.open("b"), &remote).refused.first;
    assert_eq!(
        refused,
        ["memory:/segments/00000001.jsonl.gz:200001: no record: the key `v` is missing"]
    );
}
