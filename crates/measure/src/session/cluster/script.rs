//! The script of a job.

use std::path::Path;

use lapwing_model::text::shell_word;

/// Returns the script of the jobs of a batch. Its first argument is the number of the task; Slurm names it in a
/// variable. It holds no settings and no secrets: the task reads the shared folder, which is the user's own.
///
/// `command` is the hidden command of `program` that does the task.
pub fn job_script(
    program: &Path,
    command: &str,
    folder: &Path,
    batch: u32,
    set_up: &[String],
) -> String {
    let word = |path: &Path| shell_word(&path.display().to_string());
    let mut script = "#!/bin/sh\n# Written by lapwing: does one task.\numask 077\n".to_owned();
    for line in set_up {
        script.push_str(line);
        script.push('\n');
    }
    script.push_str(&format!(
        "exec {} {command} {} {batch} \"${{1:-$SLURM_ARRAY_TASK_ID}}\"\n",
        word(program),
        word(folder)
    ));
    script
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_script_holds_the_lines_of_the_suite_and_the_task() {
        let lines = ["module load gcc".to_owned()];
        let script = job_script(
            Path::new("/a b/lapwing"),
            "cluster-task",
            Path::new("/s"),
            3,
            &lines,
        );
        insta::assert_snapshot!(script, @r#"
        #!/bin/sh
        # Written by lapwing: does one task.
        umask 077
        module load gcc
        exec '/a b/lapwing' cluster-task /s 3 "${1:-$SLURM_ARRAY_TASK_ID}"
        "#);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_shell_passes_on_any_folder_as_it_is(name in "[^\0]{1,40}") {
            let place = tempfile::tempdir().expect("a folder");
            let script = place.path().join("script.sh");
            // `printf` in the place of the program prints its arguments, each ended by a zero byte.
            let program = place.path().join("print $(touch 'gone')");
            fs::write(&program, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n").expect("written");
            let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            fs::set_permissions(&program, own).expect("permitted");
            fs::write(&script, job_script(&program, "cluster-task", Path::new(&name), 1, &[])).expect("written");
            let output = Command::new("sh").arg(&script).arg("7").output().expect("runs");
            let expected = format!("cluster-task\0{name}\x001\x007\0");
            prop_assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        }
    }
}
