//! The numbers of the sandbox, each with its reason, and the meter that enforces the store's.
//!
//! What a turn may answer (entries, titles, requests) is in `validate`.

use std::time::Duration;

use wasmtime::ResourceLimiter;

/// One mebibyte.
const MIB: usize = 1 << 20;

/// What one turn of an adapter may use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Linear memory of one instance, all its memories together. 64 MiB holds an 8 MiB reply several
    /// times over; `memory_mib` in `adapters.lock` grants more to one adapter.
    pub memory: usize,
    /// The same for guests that bring an interpreter: CPython and SpiderMonkey start with tens of
    /// MiB before the first line of the adapter runs.
    pub interpreted_memory: usize,
    /// Table elements of one instance. Compiled guests use hundreds, interpreters tens of
    /// thousands; each costs eight bytes of the host.
    pub table_elements: usize,
    /// How long one turn may run. Measured turns take milliseconds: a second is a fault.
    pub deadline: Duration,
    /// The same for guests that bring an interpreter, which starts anew every turn.
    pub interpreted_deadline: Duration,
    /// Bytes that one call may move from the guest to the host: an 8 MiB body of GBK grows to 12
    /// as UTF-8, and comes back at most once.
    pub result_bytes: usize,
    /// Lines kept of what one turn logs; the rest is counted.
    pub log_lines: usize,
    /// Bytes kept of one line.
    pub log_line_bytes: usize,
    /// Stack of the guest: a quarter of the 2 MiB a blocking thread has, the rest is for the
    /// host functions it calls.
    pub stack: usize,
    /// The same for guests that bring an interpreter, whose frames are larger: half of it.
    pub interpreted_stack: usize,
    /// Turns under way at once in the whole process; the next one waits for a place. More than cores, so
    /// that a guest in an endless loop never holds the last place.
    pub concurrent_turns: u32,
    /// The largest component file that is read. An embedded CPython is about 40 MiB.
    pub component_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: 64 * MIB,
            interpreted_memory: 256 * MIB,
            table_elements: 100_000,
            deadline: Duration::from_secs(1),
            interpreted_deadline: Duration::from_secs(5),
            result_bytes: 16 * MIB,
            log_lines: 100,
            log_line_bytes: 2048,
            stack: 512 * 1024,
            interpreted_stack: 1024 * 1024,
            concurrent_turns: 32,
            component_bytes: 128 * MIB,
        }
    }
}

/// Core instances, memories and tables of one component in the pool. A compiled guest has three
/// instances (itself and the two shims of the component encoder), one memory, two tables.
pub(super) const POOLED_INSTANCES: u32 = 16;
/// See [`POOLED_INSTANCES`].
pub(super) const POOLED_MEMORIES: u32 = 2;
/// See [`POOLED_INSTANCES`].
pub(super) const POOLED_TABLES: u32 = 8;
/// Core instances (and tables) of an interpreted guest: CPython links its libraries as instances.
const INTERPRETED_INSTANCES: usize = 256;

/// Counts what one store's guest takes, and says no.
///
/// Growth beyond the limit fails inside the guest as `memory.grow` may; a guest that can live with that
/// goes on. When it then traps, `denied` tells why.
#[derive(Debug)]
pub(super) struct Meter {
    memory_left: usize,
    elements_left: usize,
    interpreted: bool,
    /// The first thing that was refused.
    pub denied: Option<Denied>,
}

/// What the meter refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    Memory { limit: usize },
    Table { limit: usize },
}

impl Meter {
    /// A meter for one instance.
    pub fn new(memory: usize, table_elements: usize, interpreted: bool) -> Self {
        Meter { memory_left: memory, elements_left: table_elements, interpreted, denied: None }
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        if more > self.memory_left {
            self.denied.get_or_insert(Denied::Memory { limit: self.memory_left + current });
            return Ok(false);
        }
        self.memory_left -= more;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        if more > self.elements_left {
            self.denied.get_or_insert(Denied::Table { limit: self.elements_left + current });
            return Ok(false);
        }
        self.elements_left -= more;
        Ok(true)
    }

    fn instances(&self) -> usize {
        if self.interpreted { INTERPRETED_INSTANCES } else { POOLED_INSTANCES as usize }
    }

    fn tables(&self) -> usize {
        if self.interpreted { INTERPRETED_INSTANCES } else { POOLED_TABLES as usize }
    }

    fn memories(&self) -> usize {
        if self.interpreted { INTERPRETED_INSTANCES } else { POOLED_MEMORIES as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_memories_share_one_allowance() {
        let mut meter = Meter::new(100, 10, false);
        assert!(meter.memory_growing(0, 60, None).unwrap());
        assert!(!meter.memory_growing(0, 60, None).unwrap());
        assert!(meter.memory_growing(60, 100, None).unwrap());
        assert!(matches!(meter.denied, Some(Denied::Memory { .. })));
    }
}
