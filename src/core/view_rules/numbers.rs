//! Sets and maps of small numbers: indices of events and calls, and numbers of names.

/// A set of numbers.
#[derive(Debug, Default)]
pub(super) struct NumberSet(Vec<bool>);

impl NumberSet {
    pub fn insert(&mut self, number: usize) {
        if number >= self.0.len() {
            self.0.resize(number + 1, false);
        }
        if let Some(is_in) = self.0.get_mut(number) {
            *is_in = true;
        }
    }

    pub fn has(&self, number: usize) -> bool {
        self.0.get(number) == Some(&true)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the numbers in ascending order: a set sorts them, and a sort would make the wasm 3 KB larger.
    pub fn ascending(&self) -> Vec<usize> {
        let mut numbers = Vec::new();
        for (number, is_in) in self.0.iter().enumerate() {
            if *is_in {
                numbers.push(number);
            }
        }
        numbers
    }
}

/// A map from numbers, such as those of names, to numbers, such as the index of a call with an id.
#[derive(Default)]
pub(super) struct NumberMap(Vec<Option<usize>>);

impl NumberMap {
    pub fn get(&self, name: u32) -> Option<usize> {
        self.0.get(name as usize).copied().flatten()
    }

    pub fn set(&mut self, name: u32, index: Option<usize>) {
        let slot = name as usize;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, None);
        }
        if let Some(value) = self.0.get_mut(slot) {
            *value = index;
        }
    }

    pub fn values(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied().flatten()
    }
}
