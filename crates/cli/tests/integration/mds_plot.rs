//! `lapwing mds --plot`: the real program, a real store.

use std::fs;

use crate::noise_fixture::filled;
use crate::program::run;
use insta::assert_snapshot;

#[test]
fn what_is_detected_is_drawn_beside_the_answer() {
    let folder = filled();
    let plot = |arguments: &[&str]| {
        let command = [&["mds", "--closed-form"], arguments].concat();
        run(folder.path(), &command)
    };
    let answer = plot(&["--plot", "all.svg"]);
    assert_eq!(answer, plot(&[]), "the answer is the same with it");
    let svg = fs::read_to_string(folder.path().join("all.svg")).unwrap();
    for text in [
        "2 of 3 benchmarks can detect 5 %",
        ">join, wall time<",
        ">sort, wall time<",
        ">25 × 25<",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    plot(&["-b", "join", "--slowdown", "50%", "--plot", "one.html"]);
    let page = fs::read_to_string(folder.path().join("one.html")).unwrap();
    assert!(page.contains("<h1>join detects 50 % from "), "{page}");
    plot(&["-b", "sort", "--plot", "one.png"]);
    assert!(
        fs::read(folder.path().join("one.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn a_picture_of_another_form_is_refused_before_anything_is_simulated() {
    let folder = filled();
    assert_snapshot!(run(folder.path(), &["mds", "--plot", "all.jpeg"]), @"
    error: `all.jpeg` does not end in .svg, .png or .html
    exit 2
    ");
}
