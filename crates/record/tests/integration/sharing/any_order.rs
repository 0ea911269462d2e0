//! Whatever is added, pushed and pulled in whatever order: in the end all have everything.

use std::cell::RefCell;

use proptest::prelude::*;

use super::place::{Late, Manner, Place};
use super::*;

/// What one of the stores does.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Add {
        session: u64,
        instance: u64,
    },
    Annotate(u64),
    Push {
        segment_bytes: u64,
    },
    Pull,
    /// While somebody else does the same.
    PushTogether,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..3_u64, 0..4_u64).prop_map(|(session, instance)| Deed::Add { session, instance }),
        1 => (0..3_u64).prop_map(Deed::Annotate),
        3 => prop_oneof![Just(300_u64), Just(2_000), Just(1 << 20)]
            .prop_map(|segment_bytes| Deed::Push { segment_bytes }),
        2 => Just(Deed::Pull),
        2 => Just(Deed::PushTogether),
    ]
}

fn do_it(stores: &[RefCell<Store>], who: usize, deed: Deed, place: &Place) {
    let mut store = stores[who].borrow_mut();
    match deed {
        Deed::Add {
            session: number,
            instance: of,
        } => {
            store.append(&session(number)).unwrap();
            store.append(&instance(number, of)).unwrap();
        }
        Deed::Annotate(number) => {
            store.append(&[annotation(number)]).unwrap();
        }
        Deed::Push { segment_bytes } => {
            let options = PushOptions {
                segment_bytes,
                ..options()
            };
            sharing::push(&mut store, place, &options, &mut |_step| ()).unwrap();
        }
        Deed::Pull => {
            let pulled = sharing::pull(&mut store, place, &PullOptions::default(), &mut |_step| ());
            assert!(
                matches!(pulled, Ok(_) | Err(SharingError::Nothing { .. })),
                "{pulled:?}"
            );
        }
        Deed::PushTogether => {
            let other = (who + 1) % stores.len();
            // What the other creates appears just before our first segment.
            let (late, theirs) = (Place::default(), Place::default());
            late.objects.replace(place.objects.borrow().clone());
            theirs.objects.replace(place.objects.borrow().clone());
            push(&mut stores[other].borrow_mut(), &theirs);
            let late = Late::new(late, theirs.objects.take());
            push(&mut store, &late);
            late.happen();
            place.objects.replace(late.before.objects.borrow().clone());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_the_end_all_have_everything_and_nothing_is_sent_again(
        deeds in prop::collection::vec((0..3_usize, deed()), 1..14),
        loses_answers in any::<bool>(),
    ) {
        let folder = Stores::new();
        let stores: Vec<RefCell<Store>> = ["a", "b", "c"]
            .iter()
            .map(|name| RefCell::new(folder.open(name)))
            .collect();
        let place = Place::default();
        if loses_answers {
            place.manner.set(Manner::LosesAnswers);
        }
        let mut union: Vec<Record> = Vec::new();
        for &(who, deed) in &deeds {
            match deed {
                Deed::Add { session: number, instance: of } => {
                    union.extend(session(number));
                    union.extend(instance(number, of));
                }
                Deed::Annotate(number) => union.push(annotation(number)),
                Deed::Push { .. } | Deed::Pull | Deed::PushTogether => {}
            }
            do_it(&stores, who, deed, &place);
        }
        for store in stores.iter().chain(&stores) {
            push(&mut store.borrow_mut(), &place);
        }
        let mut all = folder.open("all");
        all.append(&union).unwrap();
        let segments = place.segments().len();
        for store in &stores {
            let mut store = store.borrow_mut();
            pull(&mut store, &place);
            prop_assert_eq!(lines(&store), lines(&all));
            prop_assert_eq!(counts(&push(&mut store, &place)), [0, 0, 0, 0]);
        }
        prop_assert_eq!(place.segments().len(), segments);
    }
}
