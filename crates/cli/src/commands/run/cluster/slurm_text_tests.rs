use super::*;

fn states(found: &BTreeMap<String, JobReport>) -> Vec<String> {
    let one = |(job, it): (&String, &JobReport)| {
        let node = it.node.as_deref().unwrap_or("-");
        let exit = it.exit.as_deref().unwrap_or("-");
        format!("{job} {:?} {} {node} {exit}", it.state, it.word)
    };
    found.iter().map(one).collect()
}
