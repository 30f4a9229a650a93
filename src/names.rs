//! Things by name: apps, their users, their sessions, the users on a page.

use std::rc::Rc;

use hashbrown::HashMap;

/// A map from names to things. One index type for whatever is in it: a hash map a type of thing
/// would stand in the wasm once a type.
#[derive(Debug)]
pub(crate) struct Names<T> {
    index: HashMap<Rc<str>, usize>,
    slots: Vec<Option<(Rc<str>, T)>>,
    free: Vec<usize>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { index: HashMap::new(), slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Names<T> {
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.get_with_name(name).map(|(_, thing)| thing)
    }

    pub(crate) fn get_with_name(&self, name: &str) -> Option<&(Rc<str>, T)> {
        self.slots.get(*self.index.get(name)?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let slot = self.slots.get_mut(*self.index.get(name)?)?;
        slot.as_mut().map(|(_, thing)| thing)
    }

    /// The thing of that name, and the name to share.
    pub(crate) fn get_or_insert(
        &mut self,
        name: &str,
        thing: impl FnOnce() -> T,
    ) -> Option<(Rc<str>, &mut T)> {
        let slot = match self.index.get(name) {
            Some(slot) => *slot,
            None => {
                let name: Rc<str> = Rc::from(name);
                let filled = Some((Rc::clone(&name), thing()));
                let slot = self.free.pop().unwrap_or(self.slots.len());
                match self.slots.get_mut(slot) {
                    Some(empty) => *empty = filled,
                    None => self.slots.push(filled),
                }
                self.index.insert(name, slot);
                slot
            }
        };
        let (name, thing) = self.slots.get_mut(slot)?.as_mut()?;
        Some((Rc::clone(name), thing))
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        let slot = self.index.remove(name)?;
        let (_, thing) = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(thing)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Rc<str>, T)> {
        self.slots.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_name_gives_its_room_to_the_next() {
        let mut names = Names::default();
        for round in 0..100 {
            names.get_or_insert(&round.to_string(), || round);
            names.get_or_insert("kept", || -1);
            assert_eq!(names.remove(&round.to_string()), Some(round));
        }
        assert_eq!(names.slots.len(), 2);
        assert_eq!(names.get("kept"), Some(&-1));
        assert_eq!(names.get("99"), None);
        assert_eq!(names.iter().count(), 1);
    }
}
