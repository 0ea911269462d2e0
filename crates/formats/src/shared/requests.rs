//! Requests of services: the spans of each trace id.

use std::collections::{BTreeMap, BTreeSet};

use crate::shared::intake::InstanceDraft;
use crate::shared::spans::{SpanDraft, traced};

/// Returns an instance of each trace id, the first request first. Requests of different kinds are different benchmarks:
/// those whose spans without a parent have other names.
pub(crate) fn requests(
    service: Option<&str>,
    spans: Vec<(String, SpanDraft)>,
) -> Vec<(u64, InstanceDraft)> {
    let begin = |span: &SpanDraft| span.events.values().min().copied();
    let mut ids: BTreeMap<String, Vec<SpanDraft>> = BTreeMap::new();
    for (id, span) in spans {
        ids.entry(id).or_default().push(span);
    }
    let mut requests: Vec<(Option<String>, Vec<SpanDraft>)> = Vec::new();
    for mut spans in ids.into_values() {
        spans.sort_by_key(begin);
        let root = spans
            .iter()
            .find(|it| !it.attributes.contains_key("parent"));
        requests.push((root.map(|root| root.name.clone()), spans));
    }
    requests.sort_by_key(|(_, spans)| spans.first().and_then(begin));
    let roots: BTreeSet<&String> = requests.iter().filter_map(|it| it.0.as_ref()).collect();
    let are_alike = roots.len() < 2;
    let service = service.unwrap_or("trace");
    let traces = requests.into_iter().map(|(root, spans)| {
        let benchmark = match root.filter(|_| !are_alike) {
            Some(root) => format!("{service}/{root}"),
            None => service.to_owned(),
        };
        (1, traced(&benchmark, None, spans))
    });
    traces.collect()
}
