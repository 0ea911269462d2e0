#![no_main]

use std::path::Path;

use lapwing_core::suite::{PlanDocument, PlanFlavour};

// Text is refused, or it is a plan that is the same again once it was written and read.
libfuzzer_sys::fuzz_target!(|text: &str| {
    let read = |text: &str| PlanDocument::parse(Path::new("fuzzed"), text);
    if let Ok(plan) = read(text) {
        for flavour in [PlanFlavour::HailBatch, PlanFlavour::HailNotebook] {
            let written = plan.document.text(flavour);
            let again = read(&written).expect("what was written can be read");
            assert_eq!(again.document, plan.document);
            assert_eq!(again.repeated, []);
        }
    }
});
