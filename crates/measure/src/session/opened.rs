//! Which sessions may be continued: those that this user opened in this store on this host.
//!
//! A session record carries a plan, and records come from everywhere. What is executed when a session is continued is
//! therefore never read from the record, but from a mark that the store got when the session was opened here. The file
//! of a store can come from elsewhere too: the mark has a seal, made with a key that is kept outside of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use lapwing_model::text::hexadecimal;
use lapwing_model::{Object, Session};
use lapwing_record::files::{create_new, open_no_link};
use lapwing_record::private::restore_home;
use lapwing_record::{OpenedSession, SessionState, Store};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::cluster::EXECUTOR;
use super::{SessionError, SessionPlaces, SessionSurroundings};

/// Length of the key, in bytes.
const KEY: usize = 32;

/// Marks sessions that are opened, and knows its own marks again.
pub struct SessionMarks {
    host: String,
    user: u32,
    store: String,
    /// The key of the seals; `None` if this user has no folder for it.
    key: Option<[u8; KEY]>,
}

impl SessionMarks {
    /// Returns the marks of a store, as this user makes them on this host.
    pub fn of(store: &Path, places: &SessionPlaces) -> Self {
        let store = store
            .canonicalize()
            .unwrap_or_else(|_gone| store.to_owned());
        // Not beside the store: a store that comes from elsewhere could bring a key with it.
        let around = store.parent().unwrap_or(Path::new("/"));
        let top = around.ancestors().find(|it| it.join(".git").exists());
        let folder = top.unwrap_or(around);
        Self {
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            user: rustix::process::geteuid().as_raw(),
            key: places
                .state_folder("opened", folder)
                .and_then(|it| key(&it))
                .ok(),
            store: hexadecimal(&Sha256::digest(store.as_os_str().as_bytes())),
        }
    }

    /// Returns the mark of a session that is opened, whose private texts are hidden; `None` if there is no key, so that it cannot be continued.
    pub fn mark(&self, session: &Session) -> Option<OpenedSession> {
        let mut mark = OpenedSession {
            session: session.id,
            host: self.host.clone(),
            user: self.user,
            store: self.store.clone(),
            attributes: session.attributes.clone(),
            seal: String::new(),
        };
        mark.seal = self.seal(&mark)?;
        Some(mark)
    }

    /// Returns whether a mark was made by this user on this host for this store.
    fn knows(&self, mark: &OpenedSession) -> bool {
        self.is_here(mark) && self.seal(mark).is_some_and(|seal| seal == mark.seal)
    }

    fn is_here(&self, mark: &OpenedSession) -> bool {
        // A cluster has several login nodes.
        let is_host = self.host == mark.host || mark.attributes.contains_key(EXECUTOR);
        is_host && (self.user, &self.store) == (mark.user, &mark.store)
    }

    fn seal(&self, mark: &OpenedSession) -> Option<String> {
        let key = self.key?;
        let session = mark.session.to_string();
        let text = json!([session, mark.host, mark.user, mark.store, mark.attributes]).to_string();
        // Twice, so that no text can be appended to (as HMAC does it).
        let digest = |text: &[u8]| {
            Sha256::new()
                .chain_update(key)
                .chain_update(text)
                .finalize()
        };
        Some(hexadecimal(&digest(&digest(text.as_bytes()))))
    }
}

/// Returns the key in a folder, which gets one if it has none.
fn key(folder: &Path) -> io::Result<[u8; KEY]> {
    let path = folder.join("key");
    let read = |path: &PathBuf| {
        let mut key = [0; KEY];
        open_no_link(path)?.read_exact(&mut key)?;
        Ok::<_, io::Error>(key)
    };
    match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let mut new = [0; KEY];
    File::open("/dev/urandom")?.read_exact(&mut new)?;
    // Whole before it has its name; if another process was faster, its key is everybody's.
    let unborn = folder.join(format!(".key-{}", std::process::id()));
    let _left = std::fs::remove_file(&unborn);
    io::Write::write_all(&mut create_new(&unborn)?, &new)?;
    let named = std::fs::hard_link(&unborn, &path);
    let _gone = std::fs::remove_file(&unborn);
    match named {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => read(&path),
    }
}

/// Returns the session of that name or id that was opened here, with the attributes that it was opened with and the
/// home folder in full; the latest
/// one with such attributes if the name is empty.
///
/// # Errors
/// If there is none, only one that came from elsewhere, or the store fails.
pub fn find_opened(
    store: &Store,
    name: &str,
    surroundings: &SessionSurroundings<'_>,
    is_wanted: impl Fn(&Object) -> bool,
) -> Result<SessionState, SessionError> {
    let marks = SessionMarks::of(store.path(), surroundings.places);
    let catalogue = store.catalogue();
    let mut heads = catalogue.session_heads()?;
    // Of those that started at once, the later one.
    heads.reverse();
    heads.sort_by_key(|head| std::cmp::Reverse(head.started));
    let mut by_id = Vec::new();
    let mut foreign = None;
    for head in &heads {
        let has_name = name.is_empty() || head.name.as_deref() == Some(name);
        if !has_name && !head.id.to_string().starts_with(name) {
            continue;
        }
        match catalogue.opened_session(head.id)? {
            Some(mark) if marks.knows(&mark) => {
                if has_name && (!name.is_empty() || is_wanted(&mark.attributes)) {
                    return opened_state(store, mark, surroundings);
                }
                if !has_name {
                    by_id.push(mark);
                }
            }
            mark if foreign.is_none() => {
                let session = catalogue.session(&head.id.to_string())?;
                if !name.is_empty() || is_wanted(&session.attributes) {
                    foreign = Some((session, mark));
                }
            }
            Some(_) | None => {}
        }
    }
    if let (Some(mark), true) = (by_id.pop(), by_id.is_empty()) {
        return opened_state(store, mark, surroundings);
    }
    if let Some((session, mark)) = foreign.filter(|_| by_id.is_empty()) {
        let session = session.name.unwrap_or_else(|| session.id.to_string());
        return Err(match mark {
            Some(mark) if !marks.is_here(&mark) => SessionError::OpenedElsewhere {
                session,
                host: mark.host,
                user: mark.user,
                is_other_store: mark.store != marks.store,
            },
            Some(_) | None => SessionError::NotOpenedHere(session),
        });
    }
    if name.is_empty() {
        return Err(SessionError::NothingToResume);
    }
    // It knows what to say of a name that fits nothing, or several.
    let session = catalogue.session(name)?;
    Err(SessionError::NotOpenedHere(session.id.to_string()))
}

fn opened_state(
    store: &Store,
    mark: OpenedSession,
    surroundings: &SessionSurroundings<'_>,
) -> Result<SessionState, SessionError> {
    let mut state = store.catalogue().session_state(mark.session)?;
    state.session.attributes = mark.attributes;
    if let Some(home) = &surroundings.places.home {
        restore_home(&mut state.session, home);
    }
    Ok(state)
}
