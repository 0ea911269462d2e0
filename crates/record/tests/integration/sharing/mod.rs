//! What one store pushes all others get, once, whoever else pushes at the same time.

mod any_order;
mod members;
mod place;
mod trouble;

use lapwing_model::{Id, Record};
use lapwing_record::sharing::{
    self, PullOptions, PullSummary, PushOptions, PushSummary, Remote, SharedFolder, SharingError,
};
use lapwing_record::{Filter, Store, StoreError, parse_line, write_line};
use place::Place;
use tempfile::TempDir;

/// A folder for stores.
struct Stores(TempDir);

impl Stores {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self, name: &str) -> Store {
        Store::open(&self.0.path().join(format!("{name}.db"))).unwrap()
    }
}

fn uuid(kind: u64, number: u64) -> String {
    format!("01930000-0000-7000-{kind:04x}-{number:012x}").replace("-7000-0", "-7000-8")
}

fn record(line: &str) -> Record {
    parse_line(line.as_bytes()).unwrap()
}

/// A session with its run.
fn session(number: u64) -> Vec<Record> {
    let (session, run) = (uuid(1, number), uuid(2, number));
    vec![
        record(&format!(
            r#"{{"v":1,"kind":"session","id":"{session}","suite":"s","started":"2026-11-20T10:00:00Z","tool":"t","name":"session {number}"}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"run","id":"{run}","session":"{session}","metrics":{{"wall_time":{{"unit":"s"}}}}}}"#
        )),
    ]
}

/// An instance of that session with all that an instance can have.
fn instance(session: u64, number: u64) -> Vec<Record> {
    let (run, instance) = (uuid(2, session), uuid(3, session * 1000 + number));
    vec![
        record(&format!(
            r#"{{"v":1,"kind":"instance","id":"{instance}","run":"{run}","benchmark":{{"id":"b{number}"}},"position":{number}}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"iteration","instance":"{instance}","index":0,"metrics":{{"wall_time":1.5}}}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"iteration","instance":"{instance}","index":1,"outcome":"failed","message":"no"}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"span","instance":"{instance}","index":0,"name":"a","events":{{"started":1}}}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"span","instance":"{instance}","index":1,"name":"b","events":{{"started":2}}}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"summary","instance":"{instance}","metric":"rows","statistic":"mean","centre":2}}"#
        )),
        record(&format!(
            r#"{{"v":1,"kind":"instance_end","instance":"{instance}","ended":"2026-11-20T10:00:05Z"}}"#
        )),
    ]
}

/// Retires everything that was measured of a benchmark.
fn annotation(number: u64) -> Record {
    let id = uuid(4, number);
    record(&format!(
        r#"{{"v":1,"kind":"annotation","id":"{id}","at":"2026-11-21T10:00:00Z","by":"me","action":"retire","target":{{"benchmark":"b{number}"}}}}"#
    ))
}

/// A session with so many instances.
fn whole(number: u64, instances: u64) -> Vec<Record> {
    let mut records = session(number);
    records.extend((0..instances).flat_map(|it| instance(number, it)));
    records
}

/// Everything that a store holds, in an order of its own.
fn lines(store: &Store) -> Vec<String> {
    let mut lines = Vec::new();
    store
        .scan(&Filter::default(), |record| {
            let mut line = Vec::new();
            write_line(&mut line, &record).unwrap();
            lines.push(String::from_utf8(line).unwrap());
            Ok::<(), StoreError>(())
        })
        .unwrap();
    lines.sort();
    lines
}

const NEW: &[u8] = b"a new history";

fn options() -> PushOptions {
    PushOptions {
        signing_key: None,
        pull: PullOptions::default(),
        new_history: Id::derived(&[NEW]),
        with_secrets: false,
        segment_bytes: PushOptions::SEGMENT_BYTES,
    }
}

fn push(store: &mut Store, remote: &dyn Remote) -> PushSummary {
    sharing::push(store, remote, &options(), &mut |_step| ()).unwrap()
}

fn pull(store: &mut Store, remote: &dyn Remote) -> PullSummary {
    sharing::pull(store, remote, &PullOptions::default(), &mut |_step| ()).unwrap()
}

fn refused(store: &mut Store, remote: &dyn Remote) -> SharingError {
    sharing::pull(store, remote, &PullOptions::default(), &mut |_step| ()).unwrap_err()
}

/// Sessions, annotations and segments that were pushed, segments that were taken in.
fn counts(pushed: &PushSummary) -> [u64; 4] {
    [
        pushed.sessions,
        pushed.annotations,
        pushed.segments,
        pushed.pulled.segments,
    ]
}

#[test]
fn what_one_pushes_the_other_gets_and_pushing_again_sends_nothing() {
    let stores = Stores::new();
    let remote = SharedFolder::new(&stores.0.path().join("shared")).unwrap();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 2)).unwrap();
    ours.append(&[annotation(1)]).unwrap();
    theirs.append(&whole(2, 1)).unwrap();

    assert_eq!(counts(&push(&mut ours, &remote)), [1, 1, 1, 0]);
    assert_eq!(counts(&push(&mut ours, &remote)), [0, 0, 0, 0]);
    let pushed = push(&mut theirs, &remote);
    assert_eq!(counts(&pushed), [1, 0, 1, 1]);
    assert_eq!(pushed.pulled.appended.total().new, 17);
    assert_eq!(pull(&mut ours, &remote).appended.total().new, 9);
    assert_eq!(pull(&mut ours, &remote), PullSummary::default());
    assert_eq!(lines(&ours), lines(&theirs));
    assert_eq!(lines(&ours).len(), 17 + 9);
    assert_eq!(counts(&push(&mut ours, &remote)), [0, 0, 0, 0]);
}

/// What people said of measurements, one a day; the first has that number.
fn said(first: u64, targets: &[(&str, &str)]) -> Vec<Record> {
    let line = |(number, (action, target)): (u64, &(&str, &str))| {
        let id = uuid(5, number);
        record(&format!(
            r#"{{"v":1,"kind":"annotation","id":"{id}","at":"2026-12-{number:02}T10:00:00Z","by":"me","action":"{action}","target":{target}}}"#
        ))
    };
    (first..).zip(targets).map(line).collect()
}

#[test]
fn sessions_go_whole_whatever_was_said_of_them() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 4)).unwrap();
    let opinions = said(
        1,
        &[
            ("retire", r#"{"benchmark":"b0"}"#),
            ("retire", r#"{"benchmark":"*","metric":"rows"}"#),
            ("rename", r#"{"benchmark":"b1","new":"b2"}"#),
            (
                "rename",
                r#"{"benchmark":"*","metric":"wall_time","new":"time"}"#,
            ),
            (
                "retire",
                r#"{"benchmark":"*","before":"2030-01-01T00:00:00Z"}"#,
            ),
        ],
    );
    ours.append(&opinions).unwrap();
    assert!(
        ours.catalogue()
            .benchmarks(&Filter::default())
            .unwrap()
            .is_empty()
    );
    assert_eq!(counts(&push(&mut ours, &remote)), [1, 5, 1, 0]);
    pull(&mut theirs, &remote);
    assert_eq!(lines(&theirs), lines(&ours));
    assert_eq!(lines(&theirs).len(), 2 + 4 * 7 + 5);
    // Taken back by one, it is there for the other.
    let targets: Vec<String> = (1..=5)
        .map(|number| format!(r#"{{"annotation":"{}"}}"#, uuid(5, number)))
        .collect();
    let undo: Vec<(&str, &str)> = targets.iter().map(|it| ("restore", it.as_str())).collect();
    ours.append(&said(6, &undo)).unwrap();
    assert_eq!(counts(&push(&mut ours, &remote)), [0, 5, 1, 0]);
    pull(&mut theirs, &remote);
    let seen = |store: &Store| store.catalogue().benchmarks(&Filter::default()).unwrap();
    assert_eq!(seen(&theirs).len(), 4);
    assert_eq!(seen(&theirs), seen(&ours));
}

#[test]
fn a_session_that_has_grown_is_sent_again() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 1)).unwrap();
    push(&mut ours, &remote);
    pull(&mut theirs, &remote);
    // Each resumes it in its own way; a run learns of metrics with its instances, too.
    ours.append(&instance(1, 5)).unwrap();
    theirs.append(&instance(1, 6)).unwrap();
    assert_eq!(counts(&push(&mut ours, &remote)), [1, 0, 1, 0]);
    assert_eq!(counts(&push(&mut theirs, &remote)), [1, 0, 1, 1]);
    assert_eq!(pull(&mut ours, &remote).appended.total().new, 7);
    assert_eq!(lines(&ours), lines(&theirs));
    assert_eq!(counts(&push(&mut ours, &remote)), [0, 0, 0, 0]);
    assert_eq!(counts(&push(&mut theirs, &remote)), [0, 0, 0, 0]);
}

#[test]
fn a_run_that_has_got_more_metrics_is_no_disagreement() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 1)).unwrap();
    push(&mut ours, &remote);
    let mut more = session(1);
    let Some(Record::Run(run)) = more.last_mut() else {
        unreachable!("it ends with a run");
    };
    let unit = run.metrics["wall_time"].clone();
    run.metrics.insert("user_time".to_owned(), unit);
    theirs.append(&more).unwrap();
    assert_eq!(counts(&push(&mut theirs, &remote)), [1, 0, 1, 1]);
    pull(&mut ours, &remote);
    assert_eq!(lines(&ours), lines(&theirs));
    assert_eq!(counts(&push(&mut ours, &remote)), [0, 0, 0, 0]);
}

#[test]
fn what_both_had_before_is_sent_once() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 3)).unwrap();
    theirs.append(&whole(1, 3)).unwrap();
    theirs.append(&[annotation(1)]).unwrap();
    assert_eq!(counts(&push(&mut ours, &remote)), [1, 0, 1, 0]);
    assert_eq!(counts(&push(&mut theirs, &remote)), [0, 1, 1, 1]);
    // Someone who has more of it than the history still sends it.
    let mut third = stores.open("third");
    third.append(&whole(1, 4)).unwrap();
    assert_eq!(counts(&push(&mut third, &remote)), [1, 0, 1, 2]);
}

#[test]
fn a_large_session_is_split_and_each_segment_can_be_read_alone() {
    let stores = Stores::new();
    let remote = Place::default();
    let mut ours = stores.open("ours");
    ours.append(&whole(1, 4)).unwrap();
    ours.append(&whole(2, 1)).unwrap();
    let small = PushOptions {
        segment_bytes: 700,
        ..options()
    };
    let pushed = sharing::push(&mut ours, &remote, &small, &mut |_step| ()).unwrap();
    assert_eq!(pushed.sessions, 2);
    assert!(pushed.segments > 4, "{pushed:?}");
    assert_eq!(pushed.segments, remote.segments().len() as u64);
    // Each by itself: what it holds belongs to what it holds.
    let all = std::mem::take(&mut *remote.objects.borrow_mut());
    let history = all["lapwing.json"].clone();
    let mut found = Vec::new();
    for (k, name) in all
        .keys()
        .filter(|it| it.starts_with("segments/"))
        .enumerate()
    {
        let alone = Place::default();
        let mut objects = alone.objects.borrow_mut();
        objects.insert("lapwing.json".to_owned(), history.clone());
        objects.insert("segments/00000001.jsonl.gz".to_owned(), all[name].clone());
        drop(objects);
        let mut store = stores.open(&format!("alone {k}"));
        pull(&mut store, &alone);
        found.extend(lines(&store));
    }
    found.sort();
    found.dedup();
    assert_eq!(found, lines(&ours));
    // And all of them together.
    *remote.objects.borrow_mut() = all;
    let mut theirs = stores.open("theirs");
    pull(&mut theirs, &remote);
    assert_eq!(lines(&ours), lines(&theirs));
    assert_eq!(counts(&push(&mut theirs, &remote)), [0, 0, 0, 0]);
}

#[test]
fn a_rehearsal_says_what_would_happen_and_changes_nothing() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 1)).unwrap();
    theirs.append(&whole(2, 1)).unwrap();
    theirs.append(&[annotation(1)]).unwrap();
    let would = sharing::rehearse_push(&mut ours, &remote, &options()).unwrap();
    assert_eq!(
        (would.sessions, would.records, would.annotations),
        (1, 9, 0)
    );
    assert!(remote.objects.borrow().is_empty());
    assert!(matches!(
        sharing::rehearse_pull(&mut ours, &remote, &PullOptions::default()),
        Err(SharingError::Nothing { .. })
    ));

    push(&mut theirs, &remote);
    let before = remote.objects.borrow().clone();
    for _ in 0..2 {
        let would = sharing::rehearse_push(&mut ours, &remote, &options()).unwrap();
        assert_eq!(
            (would.sessions, would.records, would.annotations),
            (1, 9, 0)
        );
        assert_eq!(would.pulled.segments, 1);
        assert_eq!(would.pulled.appended.total().new, 10);
        let would = sharing::rehearse_pull(&mut ours, &remote, &PullOptions::default()).unwrap();
        assert_eq!(would.pulled.appended.total().new, 10);
        assert_eq!((would.sessions, would.records), (0, 0));
    }
    assert_eq!(*remote.objects.borrow(), before);
    assert_eq!(lines(&ours).len(), 9);
}

#[test]
fn what_was_purged_stays_in_the_history_and_does_not_come_back_by_itself() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 2)).unwrap();
    push(&mut ours, &remote);
    let filter = Filter {
        benchmarks: vec!["b1".to_owned()],
        ..Filter::default()
    };
    ours.write(|writer| writer.purge(&filter)).unwrap();
    // As much as before, and something else.
    ours.append(&instance(1, 7)).unwrap();
    assert_eq!(counts(&push(&mut ours, &remote)), [1, 0, 1, 0]);
    pull(&mut theirs, &remote);
    assert_eq!(lines(&ours).len(), 2 + 2 * 7);
    assert_eq!(lines(&theirs).len(), 2 + 3 * 7);
}

#[test]
fn begun_anew_a_history_gets_what_it_lacks_and_the_store_what_it_has() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    // Of the first session somebody has pushed a part only.
    theirs.append(&whole(1, 1)).unwrap();
    push(&mut theirs, &remote);
    ours.append(&whole(1, 3)).unwrap();
    ours.append(&whole(2, 1)).unwrap();
    ours.append(&[annotation(1)]).unwrap();
    let all = push(&mut ours, &remote);
    assert_eq!(counts(&all), [2, 1, 1, 1]);
    // As an older copy of the history: what was pushed last is not there any more.
    let second = "segments/00000002.jsonl.gz";
    let lost = remote.objects.borrow_mut().remove(second).unwrap();
    let error = sharing::push(&mut ours, &remote, &options(), &mut |_step| ()).unwrap_err();
    assert!(matches!(error, SharingError::Gone { .. }), "{error}");
    let anew = PushOptions {
        pull: PullOptions {
            begin_anew: true,
            ..PullOptions::default()
        },
        ..options()
    };
    let would = sharing::rehearse_push(&mut ours, &remote, &anew).unwrap();
    assert_eq!((would.sessions, would.annotations), (2, 1));
    let pushed = sharing::push(&mut ours, &remote, &anew, &mut |_step| ()).unwrap();
    assert_eq!(counts(&pushed), [2, 1, 1, 1]);
    assert_eq!(pushed.pulled.appended.total().new, 0);
    assert_eq!(remote.objects.borrow()[second], lost);
    // Nothing is lacking: nothing goes.
    let pushed = sharing::push(&mut ours, &remote, &anew, &mut |_step| ()).unwrap();
    assert_eq!(counts(&pushed), [0, 0, 0, 2]);
    // What was purged comes back.
    pull(&mut theirs, &remote);
    theirs
        .write(|writer| writer.purge(&Filter::default()))
        .unwrap();
    assert_eq!(pull(&mut theirs, &remote), PullSummary::default());
    sharing::pull(&mut theirs, &remote, &anew.pull, &mut |_step| ()).unwrap();
    assert_eq!(lines(&theirs), lines(&ours));
    assert_eq!(counts(&push(&mut theirs, &remote)), [0, 0, 0, 0]);
}
