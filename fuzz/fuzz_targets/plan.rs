#![no_main]

use std::path::Path;

use lapwing_measure::suite::{PlanDocument, PlanDocumentError, PlanFlavour, ReadPlan};

// A text is refused, or it is a plan that is the same again once it was written and read.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check(bytes));

fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(plan) = read(text) else { return };
    for flavour in [PlanFlavour::HailBatch, PlanFlavour::HailNotebook] {
        let again = read(&plan.document.text(flavour)).expect("what was written can be read");
        assert_eq!(again.document, plan.document);
        assert_eq!(again.repeated, []);
    }
}

fn read(text: &str) -> Result<ReadPlan, PlanDocumentError> {
    PlanDocument::parse(Path::new("fuzzed"), text)
}
