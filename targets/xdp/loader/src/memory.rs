// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much memory this machine has for maps, which the kernel allocates whole when a program is loaded.

use std::fs;
use std::path::Path;

/// What is left to all others, beside what maps take: bytes.
const LEFT: u64 = 64 << 20;

/// Bytes that maps may take; `None` if nothing says how many.
pub(crate) fn free() -> Option<u64> {
    let free = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let own = root.join(group);
    let groups = own.ancestors().take_while(|at| at.starts_with(root)).filter_map(of_group);
    Some(groups.fold(free, u64::min).saturating_sub(LEFT))
}

/// `MemAvailable` of /proc/meminfo.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What a control group leaves; `None` without a limit.
fn of_group(at: &Path) -> Option<u64> {
    let read = |file: &str| fs::read_to_string(at.join(file)).ok();
    left(&read("memory.max")?, &read("memory.current")?, &read("memory.stat")?)
}

/// What is read again from files can make room.
fn left(max: &str, current: &str, stat: &str) -> Option<u64> {
    let [max, current]: [u64; 2] = [max.trim().parse().ok()?, current.trim().parse().ok()?];
    let files = stat.lines().find_map(|line| line.strip_prefix("inactive_file "))?;
    Some(max.saturating_sub(current.saturating_sub(files.trim().parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_read() {
        let text = "MemTotal:       24654824 kB\nMemFree:        17962704 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(available(text), Some(23_000_000 * 1024));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        assert!(free().is_some(), "this machine says it");
    }

    #[test]
    fn a_group_has_what_it_may_less_what_it_needs() {
        assert_eq!(left("1000\n", "600\n", "anon 5\ninactive_file 100\n"), Some(500));
        assert_eq!(left("1000\n", "2000\n", "inactive_file 0\n"), Some(0));
        assert_eq!(left("max\n", "600\n", "inactive_file 100\n"), None);
    }
}
