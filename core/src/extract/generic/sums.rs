//! How much text lies below an element: running sums over the leaves that count.
//!
//! Which leaves count is the caller's decision: each reading of a page (strict, mild) has its own sums.

use super::outline::{El, Outline};

/// Running sums over the leaves that count.
#[derive(Debug)]
pub(crate) struct Sums {
    sums: Vec<Sum>,
}

/// How much text there is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub len: f64,
    pub link_len: f64,
    pub tokens: u32,
    pub commas: u32,
    pub ends: u32,
    pub marks: u32,
    pub leaves: u32,
}

impl Sum {
    /// Which part of the text is in links.
    pub fn link_density(&self) -> f64 {
        if self.len > 0.0 { self.link_len / self.len } else { 0.0 }
    }
}

impl Sums {
    /// Over those leaves for which `counts` says so.
    pub fn of(outline: &Outline<'_>, mut counts: impl FnMut(usize) -> bool) -> Sums {
        let mut sums = Vec::with_capacity(outline.leaves.len() + 1);
        let mut sum = Sum::default();
        sums.push(sum);
        for (at, leaf) in outline.leaves.iter().enumerate() {
            if counts(at) {
                sum.len += f64::from(leaf.size.len);
                if leaf.link {
                    sum.link_len += f64::from(leaf.size.len);
                }
                sum.tokens += leaf.size.tokens;
                sum.commas += leaf.size.commas;
                sum.ends += leaf.size.ends;
                sum.marks += leaf.size.marks;
                sum.leaves += 1;
            }
            sums.push(sum);
        }
        Sums { sums }
    }

    /// Of leaves `from..to`.
    pub fn between(&self, from: u32, to: u32) -> Sum {
        let (a, b) = (&self.sums[from as usize], &self.sums[to as usize]);
        Sum {
            len: b.len - a.len,
            link_len: b.link_len - a.link_len,
            tokens: b.tokens - a.tokens,
            commas: b.commas - a.commas,
            ends: b.ends - a.ends,
            marks: b.marks - a.marks,
            leaves: b.leaves - a.leaves,
        }
    }

    /// Of the text below an element.
    pub fn below(&self, el: &El<'_>) -> Sum {
        self.between(el.from, el.to)
    }
}
