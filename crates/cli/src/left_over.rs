//! Recovery of records that a killed `lapwing run` left of a test.

use std::fs;
use std::path::Path;

use lapwing_core::measure::pytest::left_over;
use lapwing_core::model::Id;
use lapwing_core::record::Store;
use lapwing_core::record::inbox::is_under_way;
use lapwing_core::text::counted;

use crate::error::CliError;
use crate::options::Context;

/// Takes in what is in the working folders of sessions that nobody measures any more, and removes them. They are in the
/// inbox, each named after its session.
pub fn take_in(store: &mut Store, inbox: &Path, context: &Context) {
    for entry in fs::read_dir(inbox).into_iter().flatten().flatten() {
        let folder = entry.path();
        let name = entry.file_name();
        let session = name.to_str().and_then(|it| it.parse::<Id>().ok());
        let is_dead = session
            .filter(|_| folder.is_dir())
            .is_some_and(|it| matches!(is_under_way(inbox, it, None), Ok(false)));
        if !is_dead {
            continue;
        }
        let records = left_over(&folder);
        match store.append(&records) {
            Ok(appended) => {
                let new = appended.total().new;
                if new > 0 {
                    context.terminal.note(&format!(
                        "recovered {} of a test that was being measured when its run was killed",
                        counted(new, "record")
                    ));
                }
                let _stays = fs::remove_dir_all(&folder);
            }
            Err(error) => {
                let sentence = CliError::input(error).sentence();
                context
                    .terminal
                    .note(&format!("kept {}: {sentence}", folder.display()));
            }
        }
    }
}
