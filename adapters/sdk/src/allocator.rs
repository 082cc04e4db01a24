//! The guest's memory: taken from the front, given back by ending the instance.
//!
//! An instance lives for one turn, so freeing is not worth its bookkeeping. Only the newest
//! block is special: it can grow, shrink and be freed in place, which is what a growing
//! `Vec` or `String` does most of the time.
#![allow(unsafe_code)] // an allocator is unsafe by its trait; every block says why it is sound

use std::alloc::{GlobalAlloc, Layout};
use std::arch::wasm32::{memory_grow, memory_size};
use std::cell::Cell;

/// The size of a WASM page, fixed by the standard.
const PAGE: usize = 65_536;

/// Memory grows by at least this many pages: a usual list page with its rows then costs one or
/// two growths, and an idle instance still holds little.
const STEP: usize = 8;

#[global_allocator]
static HEAP: Bump = Bump { next: Cell::new(0), end: Cell::new(0) };

struct Bump {
    /// The first free byte; 0 until the first allocation.
    next: Cell<usize>,
    /// The end of memory.
    end: Cell<usize>,
}

// SAFETY: the contract's world has no threads, and the target is built without them: nothing
// can touch the cells at the same time.
unsafe impl Sync for Bump {}

unsafe extern "C" {
    /// Placed by the linker behind the last static and the stack.
    static __heap_base: u8;
}

impl Bump {
    fn take(&self, start: usize, size: usize) -> Option<usize> {
        let end = start.checked_add(size)?;
        if end > self.end.get() {
            let missing = (end - self.end.get()).div_ceil(PAGE);
            let grown = missing.max(STEP);
            if memory_grow(0, grown) == usize::MAX {
                // Near the limit the generous step may be refused where the exact one is not.
                if memory_grow(0, missing) == usize::MAX {
                    return None;
                }
            }
            self.end.set(memory_size(0).saturating_mul(PAGE));
        }
        self.next.set(end);
        Some(start)
    }
}

// SAFETY: blocks never overlap, because `next` only moves back over the newest block when that
// block itself is freed or resized; they lie inside memory, because `take` grows it first; and
// they are aligned, because `alloc` rounds up.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.next.get() == 0 {
            self.next.set((&raw const __heap_base) as usize);
            self.end.set(memory_size(0) * PAGE);
        }
        self.next
            .get()
            .checked_next_multiple_of(layout.align())
            .and_then(|start| self.take(start, layout.size()))
            .map_or(std::ptr::null_mut(), |start| start as *mut u8)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if block as usize + layout.size() == self.next.get() {
            self.next.set(block as usize);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let newest = block as usize + layout.size() == self.next.get();
        if newest {
            return match self.take(block as usize, new_size) {
                Some(_) => block,
                None => std::ptr::null_mut(),
            };
        }
        if new_size <= layout.size() {
            return block;
        }
        // SAFETY: the caller gives a valid layout and a size that does not overflow with it;
        // the new block is apart from the old one and larger.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(block, new, layout.size());
            }
            new
        }
    }
}
