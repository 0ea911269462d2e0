//! A place in memory that can go wrong.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use lapwing_record::sharing::{ObjectCreation, Remote, RemoteError};

/// How a place behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Manner {
    /// As it should.
    #[default]
    Sound,
    /// Overwrites whatever is there.
    Overwrites,
    /// Creates a segment, and then says that there was one: the first answer was lost.
    LosesAnswers,
    /// Accepts no segment.
    Full,
}

/// A place in memory.
pub struct Place {
    pub address: String,
    pub objects: RefCell<BTreeMap<String, Vec<u8>>>,
    pub manner: Cell<Manner>,
    /// How often a segment will come cut off.
    pub cuts: Cell<u32>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            address: "memory:".to_owned(),
            objects: RefCell::default(),
            manner: Cell::default(),
            cuts: Cell::default(),
        }
    }
}

impl Place {
    /// Returns the names of the segments.
    pub fn segments(&self) -> Vec<String> {
        let objects = self.objects.borrow();
        let names = objects.keys().filter(|name| name.starts_with("segments/"));
        names.cloned().collect()
    }
}

impl Remote for Place {
    fn address(&self) -> &str {
        &self.address
    }

    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let mut object = self.objects.borrow().get(name).cloned();
        if name.starts_with("segments/")
            && let (Some(content), Some(left)) = (&mut object, self.cuts.get().checked_sub(1))
        {
            self.cuts.set(left);
            content.truncate(content.len() / 2);
        }
        assert!(object.iter().all(|it| it.len() as u64 <= limit), "{name}");
        Ok(object)
    }

    fn create(&self, name: &str, content: &[u8]) -> Result<ObjectCreation, RemoteError> {
        if self.manner.get() == Manner::Full && name.starts_with("segments/") {
            return Err("no room".into());
        }
        let mut objects = self.objects.borrow_mut();
        if self.manner.get() != Manner::Overwrites && objects.contains_key(name) {
            return Ok(ObjectCreation::Refused);
        }
        objects.insert(name.to_owned(), content.to_vec());
        let lost = self.manner.get() == Manner::LosesAnswers && name.starts_with("segments/");
        Ok(if lost {
            ObjectCreation::Refused
        } else {
            ObjectCreation::New
        })
    }
}

/// A place where somebody else's objects appear just before ours.
pub struct Late {
    pub before: Place,
    after: BTreeMap<String, Vec<u8>>,
    happened: Cell<bool>,
}

impl Late {
    pub fn new(before: Place, after: BTreeMap<String, Vec<u8>>) -> Self {
        Self {
            before,
            after,
            happened: Cell::new(false),
        }
    }

    /// Lets the objects appear.
    pub fn happen(&self) {
        if !self.happened.replace(true) {
            let mut objects = self.before.objects.borrow_mut();
            for (name, content) in &self.after {
                objects
                    .entry(name.clone())
                    .or_insert_with(|| content.clone());
            }
        }
    }
}

impl Remote for Late {
    fn address(&self) -> &str {
        self.before.address()
    }

    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        self.before.get(name, limit)
    }

    fn create(&self, name: &str, content: &[u8]) -> Result<ObjectCreation, RemoteError> {
        if name.starts_with("segments/") {
            self.happen();
        }
        self.before.create(name, content)
    }
}
