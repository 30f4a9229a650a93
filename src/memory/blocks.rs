//! Texts stored in shared blocks.
//!
//! With one allocation for each event, wasm memory grows in many small steps: measured, that costs
//! 25–40 µs an append. Blocks that double up to 1 MiB cost 8–12 µs less, and save a header for each
//! event.

use std::cell::RefCell;
use std::rc::Rc;

use crate::core::event::TextSlice;

const FIRST_BLOCK: usize = 1 << 10;
const LARGEST_BLOCK: usize = 1 << 20;

/// The texts of one session.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Rc<RefCell<String>>>,
}

/// Where a text lies. It takes 12 bytes, less than a [`TextSlice`] with its reference count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    block: u32,
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

impl Blocks {
    /// Copies the text into a block, and returns its span.
    pub(super) fn push(&mut self, text: &str) -> Span {
        self.push_to_last(text).unwrap_or_else(|| {
            let last = self.blocks.last().map_or(0, |block| block.borrow().capacity());
            let size = (last * 2).clamp(FIRST_BLOCK, LARGEST_BLOCK).max(text.len());
            let mut block = String::with_capacity(size);
            block.push_str(text);
            self.blocks.push(Rc::new(RefCell::new(block)));
            Span { block: self.blocks.len() as u32 - 1, start: 0, end: text.len() as u32 }
        })
    }

    /// Returns `None` if the last block has no room, or if `text` itself is being read from it.
    fn push_to_last(&self, text: &str) -> Option<Span> {
        let mut block = self.blocks.last()?.try_borrow_mut().ok()?;
        if block.capacity() - block.len() < text.len() {
            return None;
        }
        let start = block.len();
        block.push_str(text);
        // A block is at most 1 MiB or holds one text, and no JavaScript string has 2^30 code units.
        // So `u32` is enough.
        Some(Span {
            block: self.blocks.len() as u32 - 1,
            start: start as u32,
            end: block.len() as u32,
        })
    }

    /// Returns the text at a span that [`Blocks::push`] returned.
    pub(super) fn get(&self, span: Span) -> TextSlice {
        match self.blocks.get(span.block as usize) {
            Some(block) => TextSlice::new(Rc::clone(block), span.start, span.end),
            None => TextSlice::from(String::new()),
        }
    }

    /// Passes the text at a span to `reader`.
    pub(super) fn with<R>(&self, span: Span, reader: impl FnOnce(&str) -> R) -> R {
        self.get(span).with(reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_returned() {
        let mut blocks = Blocks::default();
        let texts: Vec<String> = [0, 1, 1023, 1024, 1025, 3, 3 << 20, 5, 900_000, 900_000]
            .iter()
            .map(|length| "ü".repeat(*length))
            .collect();
        let spans: Vec<Span> = texts.iter().map(|text| blocks.push(text)).collect();
        for (text, span) in texts.iter().zip(spans) {
            blocks.get(span).with(|stored| assert_eq!(stored, text));
        }
    }

    #[test]
    fn a_text_outlives_its_blocks() {
        let mut blocks = Blocks::default();
        let span = blocks.push("kept");
        let text = blocks.get(span);
        drop(blocks);
        text.with(|text| assert_eq!(text, "kept"));
    }
}
