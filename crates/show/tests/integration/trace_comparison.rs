//! What is said of the ratios of traces side by side.

use lapwing_show::answers::trace::{ComparedPart, RelativeTo, RowOrder, TraceComparisonAnswer};
use lapwing_show::writing::{Answer, TextAnswer, View};
use lapwing_trace::{Task, TaskDuration, TaskEvent, Trace};

/// Returns a trace whose tasks only compute, one after the other: class and microseconds of each.
fn trace(tasks: &[(&str, i64)]) -> Trace {
    let mut trace = Trace::default();
    let mut begin = 0;
    for (at, (class, duration)) in tasks.iter().enumerate() {
        let names = &mut trace.names;
        let name = names.intern(&format!("{class}:{at}"));
        let mut task = Task::new(name, names.intern(class), names.intern("h:w"));
        task.events[TaskEvent::Started as usize] = begin;
        begin += 1_000 * duration;
        task.events[TaskEvent::Computed as usize] = begin;
        trace.tasks.push(task);
    }
    trace
}

fn compared(sides: [&Trace; 2], part: ComparedPart) -> TextAnswer {
    let names = ["before", "after"].map(str::to_owned).to_vec();
    let sides = sides.map(|side| vec![side]).to_vec();
    let total = TaskDuration::Total;
    TraceComparisonAnswer::new(sides, names, part, total, RelativeTo::Baseline)
        .ordered(RowOrder::Difference, Some(15))
        .for_people(View::default())
}

fn codes(answer: &TextAnswer) -> Vec<&'static str> {
    let told = ["geometric_means", "many_classes"];
    let codes = answer.notes.iter().map(|note| note.code);
    codes.filter(|code| told.contains(code)).collect()
}

/// Ten tasks of a class, with a pattern of small differences.
fn ten(class: &str, duration: i64, shift: i64) -> Vec<(&str, i64)> {
    let time = |at: i64| duration + (7 * at + shift) % 10;
    (0..10).map(|at| (class, time(at))).collect()
}

#[test]
fn a_ratio_that_the_means_beside_it_do_not_have_is_explained() {
    let before = ten("map", 1_000, 0);
    let mut after = ten("map", 1_000, 3);
    let usual = compared([&trace(&before), &trace(&after)], ComparedPart::Classes);
    assert_eq!(codes(&usual), [""; 0]);
    // One long task moves the arithmetic mean by a fifth.
    after[9].1 = 3_000;
    let moved = compared([&trace(&before), &trace(&after)], ComparedPart::Classes);
    assert_eq!(codes(&moved), ["geometric_means"]);
}

#[test]
fn a_class_that_differs_alone_but_not_among_many_is_explained() {
    let sides = |classes: &[&'static str]| {
        let mut sides = [Vec::new(), Vec::new()];
        for class in classes {
            sides[0].extend(ten(class, 1_000, 0));
            sides[1].extend(ten(class, 1_000, 3));
        }
        // Pairs of the first class differ by 3.5 % on average, and by ±3.5 %.
        let [before, after] = &mut sides;
        for (at, (task, like)) in after.iter_mut().zip(before).take(10).enumerate() {
            task.1 = like.1 + if at % 2 == 0 { 70 } else { 0 };
        }
        let [before, after] = sides.map(|tasks| trace(&tasks));
        compared([&before, &after], ComparedPart::Classes)
    };
    let many = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let answer = sides(&many);
    let headline = &answer.headline;
    assert!(headline.contains("no class of tasks takes"), "{headline}");
    assert_eq!(codes(&answer), ["many_classes"]);
    let alike = trace(&ten("b", 1_000, 0));
    let answer = compared([&alike, &alike], ComparedPart::Classes);
    assert_eq!(codes(&answer), [""; 0]);
}

#[test]
fn classes_that_do_not_differ_are_told_by_their_intervals() {
    let [mut before, mut after] = [ten("map", 1_000, 0), ten("map", 2_000, 3)];
    before.extend([("rare", 100), ("rare", 300)]);
    after.extend([("rare", 300), ("rare", 100)]);
    let answer = compared([&trace(&before), &trace(&after)], ComparedPart::Classes);
    let headline = &answer.headline;
    assert!(
        headline.contains("; no other class differs beyond chance (intervals reach from "),
        "{headline}"
    );
}

#[test]
fn tasks_without_a_total_are_compared_by_what_they_have() {
    let one = trace(&ten("map", 1_000, 0));
    let answer = compared([&one, &one], ComparedPart::Tasks);
    let mut text = Vec::new();
    answer.table.text(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("compute") && !text.contains('–'), "{text}");
}
