//! Things by name: apps, their users, their sessions, the users on a page.

mod hash;
mod index;

use std::rc::Rc;

pub(crate) use index::Index;

/// A map from names to things. All that can be done without knowing the type of the things is
/// done in [`Index`] and [`Slots`], so that it stands in the wasm once, not once a type.
#[derive(Debug, Default)]
pub(crate) struct Names<T> {
    slots: Slots,
    /// By slot; a free one holds the default.
    things: Vec<T>,
}

/// Gives each name a slot, and a removed name's slot to the next.
#[derive(Debug, Default)]
struct Slots {
    index: Index,
    names: Vec<Option<Rc<str>>>,
    free: Vec<usize>,
}

impl Slots {
    fn find(&self, name: &str) -> Option<usize> {
        self.index.find(name, &|slot| self.name(slot).is_some_and(|stored| **stored == *name))
    }

    fn name(&self, slot: usize) -> Option<&Rc<str>> {
        self.names.get(slot)?.as_ref()
    }

    fn find_or_add(&mut self, name: &str) -> usize {
        if let Some(slot) = self.find(name) {
            return slot;
        }
        let slot = self.free.pop().unwrap_or(self.names.len());
        let stored = Some(Rc::from(name));
        match self.names.get_mut(slot) {
            Some(empty) => *empty = stored,
            None => self.names.push(stored),
        }
        self.index.insert(name, slot);
        slot
    }

    fn remove(&mut self, name: &str) -> Option<usize> {
        let slot = self.find(name)?;
        self.index.remove(name, slot);
        *self.names.get_mut(slot)? = None;
        self.free.push(slot);
        Some(slot)
    }
}

impl<T: Default> Names<T> {
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.things.get(self.slots.find(name)?)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.things.get_mut(self.slots.find(name)?)
    }

    /// The thing of that name, the default if it is new, and the name to share.
    pub(crate) fn get_or_default(&mut self, name: &str) -> Option<(Rc<str>, &mut T)> {
        let slot = self.slots.find_or_add(name);
        if slot == self.things.len() {
            self.things.push(T::default());
        }
        Some((Rc::clone(self.slots.name(slot)?), self.things.get_mut(slot)?))
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        let slot = self.slots.remove(name)?;
        self.things.get_mut(slot).map(std::mem::take)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.index.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Rc<str>, &T)> {
        let slots = self.slots.names.iter().zip(&self.things);
        slots.filter_map(|(name, thing)| Some((name.as_ref()?, thing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_name_gives_its_room_to_the_next() {
        let mut names = Names::default();
        for round in 0..100 {
            for (name, thing) in [(round.to_string(), round), ("kept".to_owned(), -1)] {
                *names.get_or_default(&name).unwrap().1 = thing;
            }
            assert_eq!(names.remove(&round.to_string()), Some(round));
        }
        assert_eq!(names.things.len(), 2);
        assert_eq!(names.get("kept"), Some(&-1));
        assert_eq!(names.get("99"), None);
        assert_eq!(names.iter().count(), 1);
    }
}
