//! Replaces files as a whole: whoever reads one, or is killed meanwhile, has the old or the new.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

/// Writes the text to the file, in place of what was there. A link stays one, and rights stay.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Through links, so that a linked file is replaced and not its link.
    let target: PathBuf = std::fs::canonicalize(path).unwrap_or_else(|_new| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    let mut file = Builder::new().prefix(".lapwing-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    match std::fs::metadata(&target) {
        Ok(old) => file.as_file().set_permissions(old.permissions())?,
        Err(_new) => file.as_file().set_permissions(usual_rights(folder)?)?,
    }
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}

/// Keeps others who ask for it from changing files in the folder of this one, until it is dropped.
pub fn lock_beside(path: &Path) -> io::Result<File> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Returns the rights that a new file gets there.
fn usual_rights(folder: &Path) -> io::Result<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let all = std::fs::Permissions::from_mode(0o666);
    // The kernel takes away what the user's mask forbids.
    let probe = Builder::new()
        .prefix(".lapwing-")
        .permissions(all)
        .tempfile_in(folder)?;
    Ok(probe.as_file().metadata()?.permissions())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_replaced_keeps_its_rights_and_its_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink("file", &link).expect("linked");
        replace(&link, "new").expect("replaced");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).expect("there"), "new");
        let mode = std::fs::metadata(&file)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn nothing_stays_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().expect("a folder");
        replace(&folder.path().join("none/file"), "new").expect_err("no such folder");
        replace(&folder.path().join("file"), "new").expect("written");
        let left = std::fs::read_dir(folder.path()).expect("there").count();
        assert_eq!(left, 1);
    }
}
