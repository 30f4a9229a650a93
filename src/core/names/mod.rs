//! Maps from names, such as apps, users and session ids, to values.

mod hash;
mod index;

use std::sync::Arc;

pub(crate) use index::Index;

/// A map from names to values of type `T`. Code that does not depend on `T` is in `Index` and
/// `Slots`, so that the wasm holds it once and not once for each type.
#[derive(Debug, Default)]
pub struct NameMap<T> {
    slots: Slots,
    /// The values by slot; a free slot holds the default.
    values: Vec<T>,
}

/// Assigns each name a slot. The slot of a removed name is reused.
#[derive(Debug, Default)]
struct Slots {
    index: Index,
    names: Vec<Option<Arc<str>>>,
    free: Vec<usize>,
}

impl Slots {
    fn find(&self, name: &str) -> Option<usize> {
        self.index.find(name, &|slot| is_named(&self.names, slot, name))
    }

    fn name(&self, slot: usize) -> Option<&Arc<str>> {
        self.names.get(slot)?.as_ref()
    }

    /// Returns the slot of a name, new or not; `None` if memory has no room for another name.
    fn find_or_add(&mut self, name: &str) -> Option<usize> {
        if !self.index.try_reserve(1) || self.names.try_reserve(1).is_err() {
            return None;
        }
        let free = self.free.last().copied().unwrap_or(self.names.len());
        let is_named = |slot: usize| is_named(&self.names, slot, name);
        if let Some(slot) = self.index.find_or_insert(name, free, &is_named) {
            return Some(slot);
        }
        self.free.pop();
        let stored = Some(Arc::from(name));
        match self.names.get_mut(free) {
            Some(empty) => *empty = stored,
            None => self.names.push(stored),
        }
        Some(free)
    }

    fn remove(&mut self, name: &str) -> Option<usize> {
        let slot = self.find(name)?;
        self.index.remove(name, slot);
        *self.names.get_mut(slot)? = None;
        // Otherwise the slot is never reused.
        if self.free.try_reserve(1).is_ok() {
            self.free.push(slot);
        }
        Some(slot)
    }
}

fn is_named(names: &[Option<Arc<str>>], slot: usize, name: &str) -> bool {
    names.get(slot).is_some_and(|stored| stored.as_deref() == Some(name))
}

impl<T: Default> NameMap<T> {
    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.values.get(self.slots.find(name)?)
    }

    /// Returns the slot of that name, and its value. `makes` adds the default if the name is new; the result is `None`
    /// if memory has no room.
    pub fn entry(&mut self, name: &str, makes: bool) -> Option<(usize, &mut T)> {
        let slot = if makes {
            self.values.try_reserve(1).ok()?;
            self.slots.find_or_add(name)?
        } else {
            self.slots.find(name)?
        };
        if slot == self.values.len() {
            self.values.push(T::default());
        }
        Some((slot, self.values.get_mut(slot)?))
    }

    /// Returns the name and the value of a slot, which another name may have got since.
    pub fn at(&mut self, slot: usize) -> Option<(&Arc<str>, &mut T)> {
        Some((self.slots.name(slot)?, self.values.get_mut(slot)?))
    }

    /// Returns the value of a name, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.values.get_mut(self.slots.find(name)?)
    }

    /// Returns the value of that name; the default if it is new.
    pub fn get_or_default(&mut self, name: &str) -> Option<&mut T> {
        self.entry(name, true).map(|(_, value)| value)
    }

    /// Adds a name, unless it is there already. Returns whether it is new.
    pub fn add(&mut self, name: &str, value: T) -> bool {
        let is_new = self.get(name).is_none();
        if is_new && let Some(added) = self.get_or_default(name) {
            *added = value;
        }
        is_new
    }

    /// Removes a name, and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        let slot = self.slots.remove(name)?;
        self.values.get_mut(slot).map(std::mem::take)
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.slots.index.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.slots.index.is_empty()
    }

    /// Returns the names and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &T)> {
        let slots = self.slots.names.iter().zip(&self.values);
        slots.filter_map(|(name, value)| Some((name.as_ref()?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_of_a_removed_name_is_reused() {
        let mut names = NameMap::default();
        for round in 0..100 {
            for (name, value) in [(round.to_string(), round), ("kept".to_owned(), -1)] {
                *names.get_or_default(&name).unwrap() = value;
            }
            assert_eq!(names.remove(&round.to_string()), Some(round));
        }
        assert_eq!(names.values.len(), 2);
        assert_eq!(names.get("kept"), Some(&-1));
        assert_eq!(names.get("99"), None);
        assert_eq!(names.iter().count(), 1);
    }

    #[test]
    fn a_slot_gives_the_name_that_has_it_now() {
        let mut names = NameMap::default();
        let (slot, value) = names.entry("first", true).unwrap();
        *value = 1;
        assert_eq!(names.at(slot), Some((&Arc::from("first"), &mut 1)));
        names.remove("first");
        assert_eq!(names.at(slot), None);
        assert_eq!(names.entry("second", true), Some((slot, &mut 0)));
        assert_eq!(names.at(slot), Some((&Arc::from("second"), &mut 0)));
    }
}
