//! Which start tags wait for their end tag.
//!
//! Decides what an end tag belongs to when some elements were left out or closed before their end: the last start tag of its name. Knows nothing of
//! the rules by which a parser closes elements; what they closed stays here, and costs nothing.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use html5ever::LocalName;

/// More names than any page has. Each new one costs a search among all others.
const MOST: usize = 1_000;

/// Start tags by name, as runs of those that are in the tree and those that are not.
#[derive(Default)]
pub(super) struct Open {
    names: HashMap<LocalName, Vec<(bool, u32)>, BuildHasherDefault<AsIs>>,
    attributes: HashSet<LocalName, BuildHasherDefault<AsIs>>,
}

impl Open {
    /// Whether elements of this name are read: a page of made-up names has only so many.
    pub fn knows(&self, name: &LocalName) -> bool {
        self.names.len() < MOST || self.names.contains_key(name)
    }

    /// The same for an attribute.
    pub fn knows_attribute(&mut self, name: &LocalName) -> bool {
        // Short ones are kept without a search.
        if name.len() <= 7 || self.attributes.contains(name) {
            return true;
        }
        let room = self.attributes.len() < MOST;
        if room {
            self.attributes.insert(name.clone());
        }
        room
    }

    /// A start tag; `kept` when it goes into the tree.
    pub fn start(&mut self, name: &LocalName, kept: bool) {
        if let Some(runs) = self.names.get_mut(name) {
            match runs.last_mut() {
                Some((last, count)) if *last == kept => *count = count.saturating_add(1),
                _ => runs.push((kept, 1)),
            }
        } else {
            self.names.insert(name.clone(), vec![(kept, 1)]);
        }
    }

    /// An end tag: whether its start tag is in the tree; none when there was no start tag.
    pub fn end(&mut self, name: &LocalName) -> Option<bool> {
        let runs = self.names.get_mut(name)?;
        let (kept, count) = runs.last_mut()?;
        let kept = *kept;
        *count -= 1;
        if *count == 0 {
            runs.pop();
        }
        Some(kept)
    }

    /// The last element of this name was closed before its end tag.
    pub fn closed(&mut self, name: &LocalName) {
        let Some(runs) = self.names.get_mut(name) else { return };
        let left_out = match runs.last() {
            Some((false, count)) => *count,
            _ => 0,
        };
        if left_out > 0 {
            runs.pop();
        }
        if let Some((_, count)) = runs.last_mut() {
            *count -= 1;
            if *count == 0 {
                runs.pop();
            }
            // Two runs of the same kind may have met.
            match runs.last_mut() {
                Some((false, count)) => *count = count.saturating_add(left_out + 1),
                _ => runs.push((false, left_out + 1)),
            }
        } else if left_out > 0 {
            runs.push((false, left_out));
        }
    }
}

/// Names carry a hash of their own.
#[derive(Default)]
pub(super) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u32(&mut self, hash: u32) {
        // The table takes both ends of it, and short names differ only in the middle.
        let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_tag_belongs_to_the_last_start_tag_of_its_name() {
        let (div, p) = (LocalName::from("div"), LocalName::from("p"));
        let mut open = Open::default();
        assert_eq!(open.end(&div), None);
        for kept in [true, true, false, true] {
            open.start(&div, kept);
        }
        open.start(&p, true);
        assert_eq!([open.end(&div), open.end(&div), open.end(&div)], [Some(true), Some(false), Some(true)]);
        open.start(&div, true);
        // Of two open ones the inner one was closed: its end tag means nothing any more.
        open.closed(&div);
        open.closed(&p);
        open.closed(&p);
        assert_eq!([open.end(&div), open.end(&div), open.end(&div)], [Some(false), Some(true), None]);
        assert_eq!([open.end(&p), open.end(&p)], [Some(false), None]);
    }

    #[test]
    fn what_was_closed_early_is_told_however_many_were_left_out_since() {
        let div = LocalName::from("div");
        let mut open = Open::default();
        for kept in [false, true, false, false] {
            open.start(&div, kept);
        }
        open.closed(&div);
        for _ in 0..4 {
            assert_eq!(open.end(&div), Some(false));
        }
        assert_eq!(open.end(&div), None);
    }
}
