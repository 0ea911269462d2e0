use crate::shared::testing::{imported, shown};

#[test]
fn a_log_has_tasks_transfers_and_phases() {
    let all = shown(&imported("earthkit-0.19/trace_2x1.log"));
    let is_first = |line: &&str| {
        ["retrieve:1", "threshold:3 to l0", "wait"]
            .iter()
            .any(|name| line.contains(&format!("\"name\":\"{name}")))
    };
    let mut some: Vec<&str> = all
        .lines()
        .take_while(|line| !line.contains("\"span\""))
        .collect();
    some.extend(all.lines().filter(is_first).take(4));
    insta::assert_snapshot!(some.join("\n"), @r##"
    earthkit because its lines are of loggers `tracing`
    {"v":1,"kind":"session","id":"#0","suite":"earthkit","started":"2026-11-24T02:28:08.43697634Z","tool":"earthkit-workflows","name":"trace_2x1","attributes":{"source":{"file":"trace_2x1.log","format":"earthkit","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"trace.compute":{"unit":"s","better":"lower"},"trace.compute.add":{"unit":"s","better":"lower"},"trace.compute.regrid":{"unit":"s","better":"lower"},"trace.compute.retrieve":{"unit":"s","better":"lower"},"trace.compute.threshold":{"unit":"s","better":"lower"},"trace.load":{"unit":"s","better":"lower"},"trace.makespan":{"unit":"s","better":"lower"},"trace.parallelism":{"unit":"1","better":"higher"},"trace.publish":{"unit":"s","better":"lower"},"trace.queue":{"unit":"s","better":"lower"},"trace.to_controller":{"unit":"s","better":"lower"},"trace.to_worker":{"unit":"s","better":"lower"},"trace.utilisation":{"unit":"1","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"trace_2x1"},"block":0,"position":0,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":15,"category":"task","name":"retrieve:1","lane":"l0.w0","clock":"wall","events":{"completed":1795487288512240133,"computed":1795487288508911586,"enqueued":1795487288440852234,"loaded":1795487288498874398,"planned":1795487288436976340,"published":1795487288510007331,"started":1795487288498740348},"attributes":{"class":"retrieve","pid":29915}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":23,"category":"controller","name":"wait","clock":"wall","events":{"begin":1795487288437621323,"end":1795487288471174623}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":27,"category":"controller","name":"wait","clock":"wall","events":{"begin":1795487288471232289,"end":1795487288512320013}}
    {"v":1,"kind":"span","instance":"#2","iteration":0,"index":31,"category":"controller","name":"wait","clock":"wall","events":{"begin":1795487288512371650,"end":1795487288570808483}}
    "##);
    let count = |category: &str| all.matches(&format!("\"category\":\"{category}\"")).count();
    let categories = ["task", "transfer", "controller", "micro"].map(count);
    assert_eq!(categories, [15, 1, 65, 14]);
}
