//! Lists of processors as people write them: `0-1,3`.

use std::fs;

/// Why a list of processors cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpusError {
    /// It names none.
    #[error("the list of CPUs is empty")]
    Empty,
    /// A part of it is neither a number nor a range.
    #[error("`{part}` in the list of CPUs `{list}` is neither a number nor a range such as `0-3`")]
    Malformed {
        /// The whole list.
        list: String,
        /// The wrong part.
        part: String,
    },
    /// It names a processor that this machine does not have or may not use.
    #[error("CPU {cpu} is not available here; available are {available}")]
    Unavailable {
        /// The processor.
        cpu: usize,
        /// Those that can be used.
        available: String,
    },
}

/// Returns the processors that a list such as `0-1,3` names, in order and once each.
///
/// # Errors
/// When the list is empty or a part of it is neither a number nor a rising range.
pub fn parse_cpus(list: &str) -> Result<Vec<usize>, CpusError> {
    if list.trim().is_empty() {
        return Err(CpusError::Empty);
    }
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let range = parse_range(part.trim()).ok_or_else(|| CpusError::Malformed {
            list: list.to_owned(),
            part: part.to_owned(),
        })?;
        cpus.extend(range);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// The kernel itself is never built for more processors than this.
const MOST_CPUS: usize = 8192;

fn parse_range(part: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let first = parse_number(first)?;
    let last = parse_number(last)?;
    (first <= last && last < MOST_CPUS).then_some(first..=last)
}

fn parse_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Returns the processors that this process may use, as the kernel writes them.
pub(super) fn allowed_cpus() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}

/// Returns the processors that a list names, having checked that all can be used here.
///
/// # Errors
/// When the list is wrong or names a processor that this process may not use.
pub fn available_cpus(list: &str) -> Result<Vec<usize>, CpusError> {
    let wanted = parse_cpus(list)?;
    if let Some(text) = allowed_cpus()
        && let Ok(allowed) = parse_cpus(&text)
        && let Some(missing) = wanted.iter().find(|cpu| !allowed.contains(cpu))
    {
        return Err(CpusError::Unavailable {
            cpu: *missing,
            available: text,
        });
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_processors_in_any_order() {
        assert_eq!(parse_cpus("0-1,3"), Ok(vec![0, 1, 3]));
        assert_eq!(parse_cpus(" 3, 0-1 ,1 "), Ok(vec![0, 1, 3]));
    }

    #[test]
    fn wrong_lists_say_what_is_wrong() {
        let error = |list: &str| parse_cpus(list).expect_err("wrong").to_string();
        assert_eq!(error(" "), "the list of CPUs is empty");
        for (list, part) in [("0,two", "two"), ("3-1", "3-1"), ("0,", ""), ("+1", "+1")] {
            assert_eq!(
                error(list),
                format!(
                    "`{part}` in the list of CPUs `{list}` is neither a number nor a range \
                     such as `0-3`"
                )
            );
        }
    }

    #[test]
    fn a_processor_that_is_not_there_is_named() {
        let error = available_cpus("8000").expect_err("no machine has it");
        assert!(
            error
                .to_string()
                .starts_with("CPU 8000 is not available here; available are 0"),
            "{error}"
        );
    }
}
