use super::{bytes, duration_of};
use crate::shared::testing::{brief, imported, lanes, read_text, refusal};

#[test]
fn tasks_have_the_first_lane_that_is_free_and_cached_ones_are_left_out() {
    let imported = imported("nextflow/trace.txt");
    let expected = [
        "FLOW:ALIGN (a) on lane 2",
        "FLOW:ALIGN (b) on lane 1",
        "FLOW:ALIGN (b) on lane 1",
        "FLOW:INDEX on lane 2",
        "FLOW:MERGE (all) on lane 1",
    ];
    assert_eq!(lanes(&imported), expected);
    let notes = imported.notes.iter();
    let left: Vec<_> = notes.map(|note| (note.what.join(" "), note.why)).collect();
    let expected = [
        ("line 2", "the results are of an earlier run (`CACHED`)"),
        (
            "peak_vmem rchar wchar",
            "these columns of tasks have no place in a trace",
        ),
    ];
    assert_eq!(left, expected.map(|(what, why)| (what.to_owned(), why)));
}

#[test]
fn tasks_have_durations_and_attempts() {
    insta::assert_snapshot!(brief(&imported("nextflow/trace.txt")), @r#"
    nextflow 
      FLOW:ALIGN (a) [] {"completed": 1795773604500000000, "computed": 1795773604500000000, "planned": 1795773600000000000, "started": 1795773600500000000}
      FLOW:ALIGN (b) [] {"completed": 1795773602250000000, "planned": 1795773600050000000, "started": 1795773600250000000}
      FLOW:ALIGN (b) [] {"completed": 1795773607500000000, "computed": 1795773607500000000, "planned": 1795773602400000000, "started": 1795773602700000000}
      FLOW:INDEX [] {"completed": 1795773605450000000, "computed": 1795773605450000000, "planned": 1795773604600000000, "started": 1795773604850000000}
      FLOW:MERGE (all) [] {"completed": 1795773669600000000, "computed": 1795773669600000000, "planned": 1795773607600000000, "started": 1795773608600000000}
      Ok {"trace.compute": 70.4, "trace.compute.FLOW:ALIGN": 4.4, "trace.compute.FLOW:INDEX": 0.6, "trace.compute.FLOW:MERGE": 61.0, "trace.makespan": 69.6, "trace.off_cpu": 0.3432, "trace.on_cpu": 70.0568, "trace.parallelism": 1.0114942528735633, "trace.utilisation": 0.5057471264367817}
    left, as the results are of an earlier run (`CACHED`): line 2
    left, as these columns of tasks have no place in a trace: peak_vmem, rchar, wchar
    "#);
}

#[test]
fn raw_values_with_a_start_have_the_same_meaning() {
    let raw = "task_id\tprocess\tname\tstatus\tattempt\tcpus\tsubmit\tstart\tcomplete\trealtime\t%cpu\tpeak_rss\n\
        7\tNF:SORT\tNF:SORT (a)\tCOMPLETED\t2\t4\t1000\t1500\t4000\t2000\t150.0\t1048576\n\
        8\tNF:SORT\tNF:SORT (b)\tABORTED\t1\t4\t1000\t-\t-\t-\t-\t-\n\
        9\tNF:SORT\tNF:SORT (c)\tCOMPLETED\t1\t4\t1000\t1500\t2000\t500\t-\t-\n\
        10\tNF:SORT\tNF:SORT (c)\tCOMPLETED\t1\t4\t1000\t2000\t2500\t500\t-\t-\n";
    insta::assert_snapshot!(brief(&read_text("nextflow", raw)), @r#"
    nextflow 
      NF:SORT (b) [] {"planned": 1000000000}
      NF:SORT (a) [] {"completed": 4000000000, "computed": 3500000000, "planned": 1000000000, "started": 1500000000}
      NF:SORT (c) #9 [] {"completed": 2000000000, "computed": 2000000000, "planned": 1000000000, "started": 1500000000}
      NF:SORT (c) #10 [] {"completed": 2500000000, "computed": 2500000000, "planned": 1000000000, "started": 2000000000}
      Ok {"trace.compute": 3.0, "trace.compute.NF:SORT": 1.0, "trace.makespan": 3.0, "trace.off_cpu": 0.0, "trace.on_cpu": 2.0, "trace.parallelism": 1.0, "trace.utilisation": 0.5}
    "#);
}

#[test]
fn durations_and_sizes_have_units() {
    let read = ["1d 2h 3m 4.5s", "250ms", "1500"].map(duration_of);
    assert_eq!(
        read,
        [
            Some(93_784_500_000_000),
            Some(250_000_000),
            Some(1_500_000_000)
        ]
    );
    assert_eq!(["3x", "s", "soon"].map(duration_of), [None; 3]);
    let read = ["540 B", "4.5 KB", "1 GB", "77"].map(bytes);
    assert_eq!(read, [540, 4_608, 1 << 30, 77].map(Some));
    assert_eq!(["4 XB", "-1 B", "many"].map(bytes), [None; 3]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("nextflow/truncated.txt"), @"truncated.txt:7: 8 columns, but the first line names 14");
    insta::assert_snapshot!(refusal("nextflow/wrong.txt"), @"wrong.txt:6: `duration` cannot be read: `soon`");
}
