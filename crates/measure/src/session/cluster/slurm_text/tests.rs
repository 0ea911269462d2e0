use super::*;

fn states(found: &BTreeMap<String, JobReport>) -> Vec<String> {
    let one = |(job, it): (&String, &JobReport)| {
        let node = it.node.as_deref().unwrap_or("-");
        let exit = it.exit.as_deref().unwrap_or("-");
        format!("{job} {:?} {} {node} {exit}", it.state, it.word)
    };
    found.iter().map(one).collect()
}

#[test]
fn squeue_tells_state_exit_and_node_of_each_task() {
    let text = include_str!("../../../../../../tests/fixtures/slurm-22.05.8/squeue.txt");
    let found = parse_squeue(text);
    insta::assert_snapshot!(states(&found)[..8].join("\n"), @r"
    1_0 TimedOut TIMEOUT n1 exit code 130
    1_1 Failed FAILED n1 signal 9
    1_2 Failed FAILED n1 signal 9
    1_3 Cancelled CANCELLED n1 signal 15
    1_4 Lost NODE_FAIL n2 -
    1_5 Completed COMPLETED n2 -
    1_6 Completed COMPLETED n2 -
    8_0 Queued PENDING - -
    ");
    let waiting = found.values().filter(|it| it.state == JobState::Queued);
    assert_eq!(waiting.count(), 10);
}

#[test]
fn sacct_tells_the_same() {
    let text = include_str!("../../../../../../tests/fixtures/slurm-22.05.8/sacct.txt");
    let found = parse_sacct(text);
    insta::assert_snapshot!(states(&found)[..8].join("\n"), @r"
    1_0 TimedOut TIMEOUT n1 -
    1_1 Failed FAILED n1 signal 9
    1_2 Failed FAILED n1 signal 9
    1_3 Cancelled CANCELLED n1 -
    1_4 Lost NODE_FAIL n2 -
    1_5 Completed COMPLETED n2 -
    1_6 Completed COMPLETED n2 -
    8_0 Queued PENDING - -
    ");
    let waiting = found.values().filter(|it| it.state == JobState::Queued);
    assert_eq!(waiting.count(), 10);
}

#[test]
fn nodes_that_are_down_are_not_used() {
    let text = include_str!("../../../../../../tests/fixtures/slurm-22.05.8/sinfo.txt");
    assert_eq!(usable_nodes(text), ["n1"]);
    assert_eq!(
        usable_nodes("n3|idle*|\nn2|mixed|\nn1|drained|\nn2|mixed|\n"),
        ["n2"]
    );
}

#[test]
fn the_largest_array_is_that_of_the_configuration() {
    let text = include_str!("../../../../../../tests/fixtures/slurm-22.05.8/config.txt");
    assert_eq!(largest_array(text), Some(10_001));
    assert_eq!(largest_array("nothing"), None);
}

#[test]
fn lines_that_make_no_sense_are_passed_over() {
    assert!(parse_squeue("a|b\n1|x|RUNNING|0|n1|None|\n1|2|UNHEARD|0|n1|None|\n").is_empty());
    assert!(parse_sacct("1_2|RUNNING\n\n1_[|RUNNING|0:0|n1\n").is_empty());
    assert_eq!(numbers("0-4:2,9%3"), [0, 2, 4, 9]);
}
