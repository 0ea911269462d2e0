//! A plan as its session keeps it.

use std::borrow::Cow;
use std::io;

use lapwing_record::packed::{PACKED, pack, unpack};
use serde_json::{Value, json};

use super::{BurnIn, Plan};
use lapwing_model::{LONGEST_LINE, Object};

/// The longest plan that is kept as it is, for people to read.
const LONGEST_PLAIN: usize = 1 << 20;

impl Plan {
    /// Returns the plan as an attribute of its session. A large one, which repeats itself for every
    /// benchmark, is compressed: a session is one line.
    ///
    /// # Errors
    /// When even that is too long for a line.
    pub fn to_attribute(&self) -> io::Result<Value> {
        let text = serde_json::to_vec(self)?;
        if text.len() <= LONGEST_PLAIN {
            return Ok(serde_json::to_value(self)?);
        }
        let digits = pack(&text)?;
        // What analysis asks of a plan stays as it is.
        let auto = self.cases.iter().filter(|it| it.burn_in == BurnIn::Auto);
        let auto: Vec<Value> = auto
            .map(|it| json!({"benchmark": {"id": it.benchmark.id}, "burn_in": it.burn_in}))
            .collect();
        let attribute = json!({ PACKED: digits, "cases": auto });
        if attribute.to_string().len() > LONGEST_LINE / 2 {
            return Err(io::Error::other(format!(
                "a plan of {} benchmarks is too large to be kept with its session",
                self.cases.len()
            )));
        }
        Ok(attribute)
    }
}

/// Returns the plan among the attributes of a session, in its JSON form, if it has one.
pub fn stored_plan(attributes: &Object) -> Option<Cow<'_, Value>> {
    let plan = attributes.get("plan")?;
    match plan.get(PACKED) {
        Some(packed) => unpack(packed.as_str()?).map(Cow::Owned),
        None => Some(Cow::Borrowed(plan)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::suite::{Settings, Suite};

    #[test]
    fn a_plan_of_a_large_sweep_is_a_short_line_and_comes_back() {
        for benchmarks in [1, 5_000] {
            let levels: Vec<String> = (0..benchmarks).map(|it: u32| it.to_string()).collect();
            let text = format!(
                "[benchmark.x]\ncommand = 'x {{n}}'\nparams.n = [{}]\n",
                levels.join(",")
            );
            let suite = Suite::parse(Path::new("x"), &text, Path::new("/")).unwrap();
            let plan = suite.plan(&Settings::default(), 1);
            let attribute = plan.to_attribute().unwrap();
            assert!(attribute.to_string().len() < 1 << 20);
            assert_eq!(attribute.get(PACKED).is_some(), benchmarks > 1);
            let attributes = Object::from_iter([("plan".to_owned(), attribute)]);
            let back = stored_plan(&attributes).unwrap().into_owned();
            assert_eq!(serde_json::from_value::<Plan>(back).unwrap(), plan);
        }
    }
}
