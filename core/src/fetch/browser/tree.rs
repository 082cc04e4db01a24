//! Which processes belong to a browser, and how much memory they take. Read from `/proc`; where there is none, nothing
//! is known and the process group alone is ended.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The processes of one browser: its process group, and whoever was started with its profile (the crash handlers
/// leave the group).
pub(super) struct Tree {
    pub leader: u32,
    pub profile: String,
}

impl Tree {
    /// Bytes of memory that its processes hold, each for itself: what they share (the program, its data files) would
    /// be counted a dozen times.
    pub fn memory(&self) -> u64 {
        let page = rustix::param::page_size() as u64;
        self.members().iter().map(|pid| own_pages(*pid) * page).sum()
    }

    /// Ends all of them.
    pub fn kill(&self) {
        let pid = |raw: u32| i32::try_from(raw).ok().and_then(Pid::from_raw);
        if let Some(group) = pid(self.leader) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for member in self.members() {
            if let Some(member) = pid(member) {
                let _ = kill_process(member, Signal::KILL);
            }
        }
    }

    /// Those that are alive.
    pub fn members(&self) -> Vec<u32> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| self.owns(*pid)).collect()
    }

    fn owns(&self, pid: u32) -> bool {
        let proc = Path::new("/proc").join(pid.to_string());
        let Ok(stat) = fs::read_to_string(proc.join("stat")) else { return false };
        let Some((state, group)) = state_and_group(&stat) else { return false };
        if matches!(state, 'Z' | 'X') {
            return false;
        }
        group == self.leader
            || fs::read(proc.join("cmdline")).is_ok_and(|line| {
                let line = String::from_utf8_lossy(&line);
                line.contains("--user-data-dir=") && line.contains(&self.profile)
                    || line.contains("crashpad") && line.contains(&self.profile)
            })
    }
}

/// State and process group of a line of `/proc/PID/stat`; the name before them may hold anything.
fn state_and_group(stat: &str) -> Option<(char, u32)> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some((state, group))
}

/// Resident pages that are not shared.
fn own_pages(pid: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut fields = statm.split_ascii_whitespace().skip(1).filter_map(|pages| pages.parse::<u64>().ok());
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_cannot_pretend_to_be_fields() {
        assert_eq!(state_and_group("7 (a) Z 1 2 (b) S 3 44 5 0"), Some(('S', 44)));
        assert_eq!(state_and_group("7 (sh) R 1 7 7"), Some(('R', 7)));
        assert_eq!(state_and_group(""), None);
        assert_eq!(state_and_group("7 (sh) R"), None);
    }
}
