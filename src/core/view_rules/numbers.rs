//! Sets and maps of small numbers: indices of events and calls, and numbers of names.

/// A set of numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<bool>);

impl Numbers {
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

/// For each number, such as that of a name, the latest index that a walk has noted, such as that of a call for its id.
#[derive(Default)]
pub(super) struct LatestOf(Vec<Option<usize>>);

impl LatestOf {
    pub fn get(&self, name: u32) -> Option<usize> {
        self.0.get(name as usize).copied().flatten()
    }

    pub fn set(&mut self, name: u32, index: Option<usize>) {
        let slot = name as usize;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, None);
        }
        if let Some(latest) = self.0.get_mut(slot) {
            *latest = index;
        }
    }

    pub fn values(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied().flatten()
    }
}
