//! Who holds a lease: a process by a name that no other has, and that tells whether it is dead.
//!
//! A worker that was killed cannot give its slots back. Whoever comes after it on the same machine need not wait until
//! its leases run out: the name says which process it was, and the system says that there is none any more. Where that is
//! not certain (another machine, another container, a number that was given out again) a lease runs out as it always does.

use crate::clock::Entropy;

/// This process, in a word that no other has.
pub(super) fn name(entropy: &dyn Entropy) -> String {
    let mut bytes = [0u8; 4];
    entropy.fill(&mut bytes);
    let word = format!("{}-{:08x}", std::process::id(), u32::from_le_bytes(bytes));
    match (system::space(), system::started(std::process::id())) {
        (Some(space), system::Process::Started(at)) => format!("{word}@{at}.{space}"),
        _ => word,
    }
}

/// The number of the process, for people.
pub fn process(owner: &str) -> &str {
    owner.split('-').next().unwrap_or(owner)
}

/// Whether the process of that name, which ran under this start of the machine, is certainly gone.
pub(super) fn is_dead(owner: &str) -> bool {
    let Some((pid, started, space)) = parts(owner) else { return false };
    // The numbers of another container mean others.
    if system::space().as_deref() != Some(space) {
        return false;
    }
    match system::started(pid) {
        system::Process::Gone => true,
        // The number was given out again.
        system::Process::Started(at) => at != started,
        system::Process::Unknown => false,
    }
}

fn parts(owner: &str) -> Option<(u32, u64, &str)> {
    let (word, place) = owner.split_once('@')?;
    let (pid, _) = word.split_once('-')?;
    let (started, space) = place.split_once('.')?;
    Some((pid.parse().ok()?, started.parse().ok()?, space))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    pub enum Process {
        Gone,
        /// In ticks since the machine was started.
        Started(u64),
        Unknown,
    }

    /// Within which numbers of processes mean the same.
    pub fn space() -> Option<String> {
        let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let digits: String = link.to_str()?.chars().filter(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    }

    pub fn started(pid: u32) -> Process {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Process::Unknown };
        // Asked first: what /proc does not show may be hidden only.
        if test_kill_process(number) == Err(Errno::SRCH) {
            return Process::Gone;
        }
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return Process::Unknown };
        // The name in parentheses may hold anything.
        let mut rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
        match rest.next() {
            // Dead, and only not yet heard of by its parent.
            Some("Z" | "X") => Process::Gone,
            Some(_) => rest.nth(18).and_then(|at| at.parse().ok()).map_or(Process::Unknown, Process::Started),
            None => Process::Unknown,
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    #[allow(dead_code)]
    pub enum Process {
        Gone,
        Started(u64),
        Unknown,
    }

    pub fn space() -> Option<String> {
        None
    }

    pub fn started(_pid: u32) -> Process {
        Process::Unknown
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::clock::SeededEntropy;

    #[test]
    fn a_process_is_dead_when_it_was_killed_and_never_while_it_lives_or_when_that_is_not_certain() {
        let own = name(&SeededEntropy::new(1));
        assert!(!is_dead(&own), "{own}");
        assert_eq!(process(&own), std::process::id().to_string());
        let place = own.split_once('@').unwrap().1;
        let (started, space) = place.split_once('.').unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let system::Process::Started(at) = system::started(child.id()) else { panic!("it runs") };
        let of_child = format!("{}-00000001@{at}.{space}", child.id());
        assert!(!is_dead(&of_child));
        child.kill().unwrap();
        // A zombie is dead, and so is nobody.
        while !is_dead(&of_child) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(is_dead(&of_child));
        let earlier =
            format!("{}-00000001@{}.{space}", std::process::id(), started.parse::<u64>().unwrap() - 1);
        assert!(is_dead(&earlier), "its number was given out again");
        for unsure in ["", "12", "test", "4000000-0a", "4000000-0a@7", &format!("4000000-0a@7.{space}0")] {
            assert!(!is_dead(unsure), "{unsure}");
        }
    }
}
