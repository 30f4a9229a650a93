//! Texts stored in shared blocks.
//!
//! With one allocation for each event, wasm memory grows in many small steps: measured, that costs
//! 25–40 µs an append. Blocks that double up to 1 MiB cost 8–12 µs less, and save a header for each
//! event.

use std::sync::{Arc, RwLock};

use crate::core::event::TextSlice;

const FIRST_BLOCK: usize = 1 << 10;
const LARGEST_BLOCK: usize = 1 << 20;

/// Where the texts of one session are put. A block lives as long as any of its texts.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    last: Option<Arc<RwLock<String>>>,
}

impl Blocks {
    /// Copies the text into a block.
    pub(super) fn push(&mut self, text: &str) -> TextSlice {
        let last = self.last.get_or_insert_default();
        let Ok(mut block) = last.try_write() else {
            // The last block is being read, perhaps `text` itself. It stays the last one.
            return text.to_owned().into();
        };
        if block.capacity() - block.len() < text.len() {
            let size = (block.capacity() * 2).clamp(FIRST_BLOCK, LARGEST_BLOCK).max(text.len());
            drop(block);
            self.last = Some(Arc::new(RwLock::new(String::with_capacity(size))));
            return self.push(text);
        }
        let start = block.len();
        block.push_str(text);
        TextSlice::new(Arc::clone(last), start, block.len())
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
        let slices: Vec<TextSlice> = texts.iter().map(|text| blocks.push(text)).collect();
        for (text, slice) in texts.iter().zip(slices) {
            slice.with(|stored| assert_eq!(stored, text));
        }
    }

    #[test]
    fn a_text_outlives_its_blocks() {
        let mut blocks = Blocks::default();
        let text = blocks.push("kept");
        drop(blocks);
        text.with(|text| assert_eq!(text, "kept"));
    }

    #[test]
    fn a_text_of_the_last_block_can_be_copied() {
        let mut blocks = Blocks::default();
        let text = blocks.push("kept");
        let copy = text.with(|text| blocks.push(text));
        copy.with(|copy| assert_eq!(copy, "kept"));
    }

    #[test]
    fn no_block_is_opened_while_a_reader_holds_the_last_one() {
        let mut blocks = Blocks::default();
        let text = blocks.push("read");
        let last = blocks.last.clone().unwrap();
        let during = text.with(|_| blocks.push("during"));
        during.with(|text| assert_eq!(text, "during"));
        blocks.push("after").with(|text| assert_eq!(text, "after"));
        assert!(Arc::ptr_eq(&last, &blocks.last.unwrap()));
    }
}
