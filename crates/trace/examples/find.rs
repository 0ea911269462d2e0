use lapwing_trace::*;
use std::io::BufReader;
fn main() {
    for path in std::env::args().skip(1) {
        let t0 = std::time::Instant::now();
        let text = std::fs::read(&path).unwrap();
        let mut trace = if path.contains("record") {
            let mut reader = SpanReader::default();
            for line in text.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
                if let lapwing_model::Record::Span(span) = lapwing_model::parse_line(line).unwrap()
                {
                    reader.add(&span);
                }
            }
            reader.finish()
        } else {
            let mut reader = TraceReader::default();
            reader.add(BufReader::new(&text[..])).unwrap();
            reader.finish().unwrap()
        };
        let graph = path.replace(".jsonl", ".graph.json");
        if graph != path
            && let Ok(text) = std::fs::read_to_string(&graph)
        {
            let inputs = serde_json::from_str(&text).unwrap();
            trace.set_inputs(&inputs);
        }
        let t1 = std::time::Instant::now();
        let found = find(&trace).unwrap();
        println!(
            "{path}: {:.3}s read {:.3} find {:.3}",
            trace.makespan() as f64 / 1e9,
            (t1 - t0).as_secs_f64(),
            t1.elapsed().as_secs_f64()
        );
        let c = &found.causes;
        println!(
            "   replayed {:.3} error {:.3} adaptive {} {:?} {:?}",
            c.replayed as f64 / 1e9,
            c.error as f64 / 1e9,
            c.is_adaptive,
            c.graph,
            c.debug
        );
        for f in &c.findings {
            let text = format!("{:?}", f.cause);
            println!(
                "   gain {:.3} -> {:.3}  {}",
                f.gain as f64 / 1e9,
                f.without as f64 / 1e9,
                &text[..text.len().min(150)]
            );
        }
    }
}
