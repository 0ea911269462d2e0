use crate::shared::testing::{imported, lanes, refusal, refusal_of};

#[test]
fn each_build_of_a_log_has_its_commands_on_the_first_lane_that_is_free() {
    let imported = imported("ninja-1.13/.ninja_log");
    let expected = [
        "config.h on lane 1",
        "obj/a.o on lane 1",
        "obj/b.o on lane 2",
        "obj/c.o on lane 1",
        "obj/main.o on lane 2",
        "libabc.a on lane 1",
        "app on lane 1",
        "obj/b.o on lane 1",
        "libabc.a on lane 1",
        "app on lane 1",
    ];
    assert_eq!(lanes(&imported), expected);
    let instances = imported.appended.of(lapwing_model::RecordKind::Instance);
    assert_eq!(instances.new, 2);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let fields = "a step is a begin, an end, a time, an output and a hash, with tabs between them";
    for (file, line) in [("truncated", 12), ("wrong", 5)] {
        let refused = refusal(&format!("ninja-1.13/{file}.ninja_log"));
        assert_eq!(refused, format!("{file}.ninja_log:{line}: {fields}"));
    }
    let newer = refusal_of("ninja", "# ninja log v9\n0\t1\t2\ta.o\tff\n");
    assert_eq!(newer, "made-up:1: versions 5 to 7 of the log are read");
}
