//! What one member of a shared history can do to the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use lapwing_model::{Annotation, Object};
use lapwing_record::sharing::{AllowedSigners, SigningKey, WithdrawSummary, WithdrawalSummary};

/// An annotation that hides everything.
fn mute(number: u64, by: &str) -> Annotation {
    let id = uuid(6, number);
    let line = format!(
        r#"{{"v":1,"kind":"annotation","id":"{id}","at":"2026-11-21T10:00:00Z","by":"{by}","action":"triage","target":{{"benchmark":"*","state":"muted"}}}}"#
    );
    let Record::Annotation(annotation) = record(&line) else {
        unreachable!("{line}")
    };
    annotation
}

fn put_own(store: &mut Store, annotation: &Annotation) {
    store
        .write(|writer| writer.put_own(annotation))
        .map_err(|error: StoreError| error)
        .unwrap();
}

/// The authors that are left out when these are honoured.
fn left_out(store: &Store, authors: &[&str]) -> Vec<String> {
    let authors: Vec<String> = authors.iter().map(|it| (*it).to_owned()).collect();
    let left_out = store.honour(&authors).unwrap().into_iter();
    left_out.map(|it| it.annotation.by).collect()
}

#[test]
fn only_annotations_of_this_store_and_of_listed_authors_count() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    theirs.append(&whole(1, 1)).unwrap();
    // Whoever writes an annotation chooses its author.
    put_own(&mut theirs, &mute(1, "me"));
    push(&mut theirs, &remote);
    put_own(&mut ours, &mute(2, "me"));
    let pulled = pull(&mut ours, &remote);
    assert_eq!(pulled.annotations.text(), "1 mute by me");
    let all = |store: &Store| store.annotations().all().unwrap().len();
    assert_eq!(all(&ours), 2);
    assert_eq!(left_out(&ours, &[]), ["me"]);
    assert_eq!(all(&ours), 1);
    assert_eq!(left_out(&ours, &["you"]), ["me"]);
    for authors in [&["me"], &["m*"]] {
        assert_eq!(left_out(&ours, authors), [""; 0]);
        assert_eq!(all(&ours), 2);
    }
    assert_eq!(left_out(&theirs, &[]), [""; 0]);
    // What comes back is still ours.
    push(&mut ours, &remote);
    pull(&mut ours, &remote);
    assert_eq!(left_out(&ours, &[]), ["me"]);
    // A copy of the store is the store; what is merged into another one is not.
    let mut merged = stores.open("merged");
    merged.write(|writer| writer.merge(&ours)).unwrap();
    assert_eq!(left_out(&merged, &[]), ["me", "me"]);
}

/// Keys by name.
fn key(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    path
}

fn signed(store: &mut Store, remote: &dyn Remote, key: &Path) -> PushSummary {
    let options = PushOptions {
        signing_key: Some(SigningKey::new(key).unwrap()),
        ..options()
    };
    sharing::push(store, remote, &options, &mut |_step| ()).unwrap()
}

#[test]
fn signatures_are_checked_and_signed_annotations_count() {
    let stores = Stores::new();
    let folder = stores.0.path();
    let remote = SharedFolder::new(&folder.join("shared")).unwrap();
    let (ann, eve) = (key(folder, "ann"), key(folder, "eve"));
    let allowed = folder.join("allowed");
    let public = fs::read_to_string(folder.join("ann.pub")).unwrap();
    fs::write(
        &allowed,
        format!("ann@team namespaces=\"lapwing\" {public}"),
    )
    .unwrap();
    let pull_options = PullOptions {
        allowed_signers: Some(AllowedSigners::new(&allowed).unwrap()),
        ..PullOptions::default()
    };
    let pull_signed =
        |store: &mut Store| sharing::pull(store, &remote, &pull_options, &mut |_step| ());

    let [mut first, mut second, mut third] = ["a", "b", "c"].map(|name| stores.open(name));
    first.append(&whole(1, 1)).unwrap();
    put_own(&mut first, &mute(1, "ann"));
    // What came from others is not vouched for.
    first.append(&[annotation(7)]).unwrap();
    let pushed = signed(&mut first, &remote, &ann);
    assert_eq!((pushed.annotations, pushed.unvouched), (1, 1));
    put_own(&mut second, &mute(2, "ann"));
    assert_eq!(signed(&mut second, &remote, &eve).annotations, 1);
    put_own(&mut third, &mute(3, "ann"));
    push(&mut third, &remote);

    let mut reader = stores.open("reader");
    let pulled = pull_signed(&mut reader).unwrap();
    let signatures = pulled.signatures;
    assert_eq!(
        [
            signatures.allowed,
            signatures.by_others,
            signatures.unsigned
        ],
        [1, 1, 1]
    );
    assert_eq!(left_out(&reader, &[]), ["ann", "ann"]);

    // The signature of another segment is a wrong one.
    let at = |name: &str| folder.join("shared/segments").join(name);
    fs::copy(at("00000001.sig"), at("00000003.sig")).unwrap();
    let error = pull_signed(&mut stores.open("other")).unwrap_err();
    assert!(
        matches!(error, SharingError::WrongSignature { .. }),
        "{error}"
    );
    fs::write(at("00000003.sig"), "no signature").unwrap();
    let error = pull_signed(&mut stores.open("another")).unwrap_err();
    assert!(
        matches!(error, SharingError::WrongSignature { .. }),
        "{error}"
    );
    // A key that cannot sign leaves nothing behind.
    put_own(&mut third, &mute(4, "ann"));
    let options = PushOptions {
        signing_key: Some(SigningKey::new(&allowed).unwrap()),
        ..options()
    };
    let error = sharing::push(&mut third, &remote, &options, &mut |_step| ()).unwrap_err();
    assert!(matches!(error, SharingError::Sign { .. }), "{error}");
    assert!(!at("00000004.jsonl.gz").exists());
}

fn withdraw(store: &mut Store, remote: &dyn Remote, sessions: &[u64]) -> WithdrawSummary {
    let ids: BTreeSet<Id> = sessions
        .iter()
        .map(|it| uuid(1, *it).parse().unwrap())
        .collect();
    let annotate = |action: &str, target: Object| Annotation {
        id: Id::derived(&[
            action.as_bytes(),
            serde_json::to_string(&target).unwrap().as_bytes(),
        ]),
        action: action.to_owned(),
        target,
        ..mute(0, "eve")
    };
    let watch = &mut |_step| ();
    sharing::withdraw(store, remote, &ids, &annotate, &options(), watch).unwrap()
}

fn by_eve(sessions: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([("eve".to_owned(), sessions)])
}

fn accept(store: &mut Store, remote: &dyn Remote) -> WithdrawalSummary {
    let options = PullOptions {
        accept_withdrawals: true,
        ..PullOptions::default()
    };
    let pulled = sharing::pull(store, remote, &options, &mut |_step| ()).unwrap();
    pulled.withdrawals
}

#[test]
fn what_was_withdrawn_goes_from_the_folder_from_new_stores_and_from_old_ones_that_accept_it() {
    let stores = Stores::new();
    let remote = SharedFolder::new(&stores.0.path().join("shared")).unwrap();
    let [mut ours, mut theirs, mut third] = ["ours", "theirs", "third"].map(|it| stores.open(it));
    // The second segment has nothing else.
    ours.append(&whole(1, 2)).unwrap();
    push(&mut ours, &remote);
    ours.append(&whole(2, 1)).unwrap();
    push(&mut ours, &remote);
    theirs.append(&whole(3, 1)).unwrap();
    push(&mut theirs, &remote);
    pull(&mut third, &remote);

    let done = withdraw(&mut ours, &remote, &[2]);
    assert_eq!(done.rewritten, Some(1));
    assert_eq!(lines(&ours).len(), 16 + 9 + 2);
    let here = |number: u32| {
        let path = stores.0.path().join("shared/segments");
        let content = fs::read(path.join(format!("{number:08}.jsonl.gz"))).unwrap();
        let mut text = String::new();
        let mut decoder = flate2::read::GzDecoder::new(&content[..]);
        std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
        text
    };
    assert!(!here(2).contains("b0"), "{}", here(2));
    assert!(here(1).contains("b0"));
    assert!(here(3).contains("b0"));

    // What they had stays until they accept it, and is not pushed again.
    let pulled = pull(&mut theirs, &remote);
    assert_eq!(pulled.withdrawals.kept, by_eve(1));
    assert_eq!(lines(&theirs).len(), 16 + 9 + 9 + 2);
    assert_eq!(counts(&push(&mut theirs, &remote)), [0, 0, 0, 0]);
    assert_eq!(accept(&mut theirs, &remote).deleted, by_eve(1));
    assert_eq!(lines(&theirs), lines(&ours));
    let mut new = stores.open("new");
    pull(&mut new, &remote);
    assert_eq!(lines(&new), lines(&ours));

    // A store that knows the last segment by its old digest accepts the new one.
    push(&mut third, &remote);
    third.append(&whole(4, 1)).unwrap();
    push(&mut third, &remote);
    assert_eq!(pull(&mut theirs, &remote).segments, 1);
    let done = withdraw(&mut third, &remote, &[4]);
    assert_eq!(done.rewritten, Some(1));
    pull(&mut theirs, &remote);
    let all = PullOptions {
        verify: sharing::VerifiedSegments::All,
        ..PullOptions::default()
    };
    for store in [&mut ours, &mut theirs, &mut third, &mut new] {
        sharing::pull(store, &remote, &all, &mut |_step| ()).unwrap();
    }
    // Another change of it is still refused.
    let last = stores.0.path().join("shared/segments/00000005.jsonl.gz");
    fs::copy(
        stores.0.path().join("shared/segments/00000001.jsonl.gz"),
        last,
    )
    .unwrap();
    let error = sharing::pull(&mut theirs, &remote, &all, &mut |_step| ()).unwrap_err();
    assert!(matches!(error, SharingError::Changed(_)), "{error}");
}

#[test]
fn where_nothing_can_be_rewritten_new_stores_drop_what_was_withdrawn() {
    let stores = Stores::new();
    let remote = Place::default();
    let (mut ours, mut theirs) = (stores.open("ours"), stores.open("theirs"));
    ours.append(&whole(1, 1)).unwrap();
    ours.append(&whole(2, 1)).unwrap();
    push(&mut ours, &remote);
    assert_eq!(withdraw(&mut ours, &remote, &[2]).rewritten, None);
    let pulled = pull(&mut theirs, &remote);
    assert_eq!(pulled.withdrawals.deleted, by_eve(1));
    assert_eq!(lines(&theirs), lines(&ours));
    assert_eq!(lines(&theirs).len(), 9 + 1);
    let all = PullOptions {
        begin_anew: true,
        ..PullOptions::default()
    };
    sharing::pull(&mut theirs, &remote, &all, &mut |_step| ()).unwrap();
    assert_eq!(lines(&theirs).len(), 9 + 1);
}
