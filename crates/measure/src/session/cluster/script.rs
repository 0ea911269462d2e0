//! The script of a job.

use std::path::Path;

use lapwing_model::text::shell_word;

use crate::suite::ClusterSettings;

/// Returns the script of the jobs of a batch. Its first argument is the number of the task; Slurm names it in a
/// variable. It holds no settings and no secrets: the task reads the shared folder, which is the user's own.
///
/// `command` is the hidden command of `program` that does the task. A line of the set-up that fails ends the job before
/// it: what is measured without it is something else.
pub fn job_script(
    program: &Path,
    command: &str,
    folder: &Path,
    batch: u32,
    settings: &ClusterSettings,
) -> String {
    let word = |path: &Path| shell_word(&path.display().to_string());
    let shell = settings.shell.as_deref().unwrap_or("/bin/sh");
    let mut script = format!("#!{shell}\n# Written by lapwing: does one task.\numask 077\n");
    script.push_str(&set_up_lines(settings));
    script.push_str(&format!(
        "exec {} {command} {} {batch} \"${{1:-$SLURM_ARRAY_TASK_ID}}\"\n",
        word(program),
        word(folder)
    ));
    script
}

/// Returns the lines of the set-up: one that fails ends the script. What they start does not keep descriptor 3 open, which
/// may be the output for records.
pub fn set_up_lines(settings: &ClusterSettings) -> String {
    if settings.set_up.is_empty() {
        return String::new();
    }
    let mut lines = "set -e\ntrap 'printf \"lapwing: this line of set_up failed: %s\\n\" \"$lapwing_line\" >&2' EXIT\n".to_owned();
    for line in &settings.set_up {
        // `set -e` alone goes on after `a && b` of which the first fails.
        let quoted = shell_word(line);
        lines.push_str(&format!(
            "lapwing_line={quoted}\neval \"$lapwing_line\" 3>&-\n(exit $?)\n"
        ));
    }
    lines.push_str("trap - EXIT\n");
    lines
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;
    use crate::suite::{CommandLine, JobCommands, SchedulerSettings};

    fn settings(set_up: &[&str]) -> ClusterSettings {
        let commands = JobCommands {
            submit: CommandLine::Shell(String::new()),
            state: CommandLine::Shell(String::new()),
            cancel: None,
            output: None,
        };
        ClusterSettings {
            set_up: set_up.iter().map(|line| (*line).to_owned()).collect(),
            ..ClusterSettings::of(SchedulerSettings::Command(commands))
        }
    }

    #[test]
    fn the_script_holds_the_lines_of_the_suite_and_the_task() {
        let settings = ClusterSettings {
            shell: Some("/bin/bash -l".to_owned()),
            ..settings(&["module load gcc"])
        };
        let script = job_script(
            Path::new("/a b/lapwing"),
            "cluster-task",
            Path::new("/s"),
            3,
            &settings,
        );
        insta::assert_snapshot!(script, @r#"
        #!/bin/bash -l
        # Written by lapwing: does one task.
        umask 077
        set -e
        trap 'printf "lapwing: this line of set_up failed: %s\n" "$lapwing_line" >&2' EXIT
        lapwing_line='module load gcc'
        eval "$lapwing_line" 3>&-
        (exit $?)
        trap - EXIT
        exec '/a b/lapwing' cluster-task /s 3 "${1:-$SLURM_ARRAY_TASK_ID}"
        "#);
    }

    #[test]
    fn a_line_of_the_set_up_that_fails_ends_the_job() {
        let run = |lines: &[&str]| {
            let script = job_script(
                Path::new("echo"),
                "measured",
                Path::new("/s"),
                1,
                &settings(lines),
            );
            let output = Command::new("sh").args(["-c", &script, "sh", "1"]).output();
            let output = output.expect("runs");
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), printed, said)
        };
        for (lines, code) in [
            (
                &["no-such-module && export MODE='fast one'", "true"][..],
                127,
            ),
            (&["true", "false"], 1),
            (&["cd /no/such\ntrue"], 2),
            (&["test -n '' || (exit 7)"], 7),
        ] {
            let (status, printed, said) = run(lines);
            assert_eq!(
                (status, printed.as_str()),
                (Some(code), ""),
                "{lines:?} {said}"
            );
            assert!(
                said.contains("lapwing: this line of set_up failed: "),
                "{said}"
            );
        }
        let (status, printed, said) =
            run(&["export A=1", "if false; then false; fi", "A=2; : || false"]);
        assert_eq!((status, said.as_str()), (Some(0), ""));
        assert_eq!(printed, "measured /s 1 1\n");
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
            fs::write(&script, job_script(&program, "cluster-task", Path::new(&name), 1, &settings(&[]))).expect("written");
            let output = Command::new("sh").arg(&script).arg("7").output().expect("runs");
            let expected = format!("cluster-task\0{name}\x001\x007\0");
            prop_assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        }
    }
}
