//! The stored state of one scope: keys without prefix, and values as JSON text.

use std::sync::Arc;

use crate::core::error::Error;
use crate::core::json::{ObjectWriter, escaped_len, split_object};
use crate::core::names::{Index, NameMap};
use crate::core::room::require_room;
use crate::core::state::delta::{Change, Delta, StateChanges};
use crate::core::state::scope::Scope;
use crate::host::has_room;

/// The largest JSON of one scope, in bytes.
const MAX_SIZE: usize = 128 << 20;
/// The longest text that every JavaScript engine holds, in characters.
const MAX_TEXT: usize = (1 << 29) - 25;
// All scopes but `temp:` are merged into one text. Another scope lowers `MAX_SIZE`.
const _: () = assert!(MAX_SIZE * (Scope::ALL.len() - 1) <= MAX_TEXT);

/// The state of one session, one user or one app. Names have no prefix. They keep the order in
/// which they were first set, as members of a JavaScript object do.
///
/// Cloning is cheap: the members are shared until one of the states changes.
#[derive(Debug, Clone, Default)]
pub struct ScopedState {
    members: Arc<Members>,
}

#[derive(Debug, Clone, Default)]
struct Members {
    /// The members in order; `None` for a removed one. With a list and an index into it, a change
    /// of a few keys costs the same whatever the number of other keys.
    list: Vec<Option<Member>>,
    /// Empty while the list has at most [`FEW`] entries: to compare these names takes less time than to hash one.
    positions: Index,
    /// How many members there are.
    count: usize,
    /// The sum of [`Member::size`].
    size: usize,
}

const FEW: usize = 8;

#[derive(Debug, Clone)]
struct Member {
    name: Arc<str>,
    value: Arc<str>,
}

impl Member {
    /// Returns the most bytes of a member in a JSON object, with its prefix.
    fn size(name: &str, value: &str) -> usize {
        /// The longest prefix of a shared scope, and what JSON puts around a name and a value.
        const AROUND: usize = "user:\"\":,".len();
        escaped_len(name) + value.len() + AROUND
    }
}

impl ScopedState {
    /// Parses the JSON object that [`ScopedState::to_json`] wrote.
    ///
    /// # Errors
    /// Fails with `unserializable` if the text is not a JSON object. If the text was stored, the storage
    /// returns [`Error::CorruptRecord`] instead: the caller is not to blame.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut members = Members::default();
        split_object("state", text, &mut |name, value| members.set(name.into(), value.into()))?;
        Ok(Self { members: Arc::new(members) })
    }

    /// Applies the changes in order.
    pub fn apply(&mut self, changes: StateChanges) {
        if changes.is_empty() {
            return;
        }
        let members = Arc::make_mut(&mut self.members);
        for (name, change) in changes {
            match change {
                Change::Set(value) => members.set(name, value),
                Change::Remove => members.remove(&name),
            }
        }
    }

    /// Checks that a state, empty if it is missing, stays within its size limit after the changes.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if it would be too large.
    pub(crate) fn check_size(state: Option<&Self>, changes: &StateChanges) -> Result<(), Error> {
        let set_size = |(name, change): &(Arc<str>, Change)| match change {
            Change::Set(value) => Member::size(name, value),
            Change::Remove => 0,
        };
        if state.map_or("{}".len(), Self::size) + changes.iter().map(set_size).sum::<usize>()
            <= MAX_SIZE
        {
            return Ok(());
        }
        // The changes may replace or remove other values. The copy shares names and values.
        let mut changed = state.cloned().unwrap_or_default();
        changed.apply(changes.clone());
        let size = changed.size();
        if size <= MAX_SIZE {
            return Ok(());
        }
        let reason = format!(
            "the state of one scope would be {} MB, and may be {}; remove keys, or keep large values elsewhere",
            size >> 20,
            MAX_SIZE >> 20,
        );
        Err(Error::QuotaExceeded { reason })
    }

    /// Reserves memory for `count` more members. Returns `false` if memory has none.
    pub(crate) fn try_reserve(&mut self, count: usize) -> bool {
        if count == 0 {
            return true;
        }
        // The members are shared, so a change will copy the list.
        if Arc::get_mut(&mut self.members).is_none() {
            return has_room((self.members.list.len() + count) * 4 * size_of::<Member>());
        }
        let members = Arc::make_mut(&mut self.members);
        let indexed = if members.list.len() + count > FEW { members.list.len() + count } else { 0 };
        members.list.try_reserve(count).is_ok() && members.positions.try_reserve(indexed)
    }

    /// Returns the most bytes of the JSON object.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        self.members.size + "{}".len()
    }

    /// Returns the JSON text of one value.
    pub fn get(&self, name: &str) -> Option<&str> {
        Some(&self.members.at(self.members.position(name)?)?.value)
    }

    /// Whether the state has no keys.
    pub fn is_empty(&self) -> bool {
        self.members.count == 0
    }

    /// Iterates over names and values (JSON texts), in the order in which the names were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.list.iter().flatten().map(|member| (&*member.name, &*member.value))
    }

    /// Does the same as [`ScopedState::to_json`] if memory has room for it.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if memory has no room.
    #[doc(hidden)]
    pub fn try_to_json(&self) -> Result<String, Error> {
        require_room(self.size())?;
        Ok(self.to_json())
    }

    /// Returns the state as one JSON object; names have no prefix.
    pub fn to_json(&self) -> String {
        merge_to_json(&[(Scope::Session, Some(self))])
    }
}

impl Delta {
    /// Returns the JSON object of the session's own keys.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if memory has no room.
    #[doc(hidden)]
    pub fn own_to_json(&self) -> Result<String, Error> {
        let own = &self.session;
        let is_new = |(at, (name, change)): (usize, &(Arc<str>, Change))| {
            *change != Change::Remove && own.iter().take(at).all(|(other, _)| other != name)
        };
        if own.len() > FEW || !own.iter().enumerate().all(is_new) {
            let mut state = ScopedState::default();
            state.apply(own.clone());
            return state.try_to_json();
        }
        // Few keys, each of which is set once, are the state.
        let members = || {
            own.iter().filter_map(|(name, change)| match change {
                Change::Set(value) => Some((name, value)),
                Change::Remove => None,
            })
        };
        let sizes = members().map(|(name, value)| Member::size(name, value));
        let size = "{}".len() + sizes.sum::<usize>();
        require_room(size)?;
        let mut writer = ObjectWriter::with_capacity(size);
        for (name, value) in members() {
            writer.member("", name, value);
        }
        Ok(writer.finish())
    }
}

impl Members {
    fn position(&self, name: &str) -> Option<usize> {
        if self.list.len() <= FEW {
            return (0..self.list.len()).find(|position| is_named(&self.list, *position, name));
        }
        self.positions.find(name, &|position| is_named(&self.list, position, name))
    }

    fn at(&self, position: usize) -> Option<&Member> {
        self.list.get(position)?.as_ref()
    }

    fn set(&mut self, name: Arc<str>, value: Arc<str>) {
        let position = self.position(&name);
        self.size += Member::size(&name, &value);
        if let Some(Some(member)) = position.and_then(|position| self.list.get_mut(position)) {
            self.size -= Member::size(&name, &member.value);
            member.value = value;
            return;
        }
        self.count += 1;
        self.list.push(Some(Member { name, value }));
        let last = self.list.len() - 1;
        self.index_from(if last == FEW { 0 } else { last });
    }

    /// Adds the members from that position on to the index, if there is one.
    fn index_from(&mut self, position: usize) {
        if self.list.len() <= FEW {
            return;
        }
        for (position, member) in self.list.iter().enumerate().skip(position) {
            if let Some(member) = member {
                self.positions.find_or_insert(&member.name, position, &|_| false);
            }
        }
    }

    fn remove(&mut self, name: &str) {
        let Some(position) = self.position(name) else {
            return;
        };
        self.positions.remove(name, position);
        if let Some(member) = self.list.get_mut(position).and_then(Option::take) {
            self.size -= Member::size(name, &member.value);
            self.count -= 1;
        }
        // The list is compacted once more than half of it are gaps.
        if self.list.len() > 2 * self.count + 8 {
            self.list.retain(Option::is_some);
            self.positions.clear();
            self.index_from(0);
        }
    }
}

fn is_named(list: &[Option<Member>], position: usize, name: &str) -> bool {
    matches!(list.get(position), Some(Some(member)) if *member.name == *name)
}

/// Merges the existing states of several scopes into the JSON object that an agent sees, with
/// prefixes.
pub fn merge_to_json(scopes: &[(Scope, Option<&ScopedState>)]) -> String {
    let states = || scopes.iter().filter_map(|(scope, state)| Some((scope, (*state)?)));
    // Allocated at once: a growing text takes three times its size while it is copied.
    let size = states().map(|(_, state)| state.size()).sum();
    let mut writer = ObjectWriter::with_capacity(size);
    for (scope, state) in states() {
        for (name, value) in state.iter() {
            writer.member(scope.prefix(), name, value);
        }
    }
    writer.finish()
}

/// Merges states as [`merge_to_json`] does, each as it is after its changes, without a copy of it.
///
/// # Errors
/// Fails with `quota_exceeded` if memory has no room for it.
pub(crate) fn merge_changed_to_json(
    scopes: &[(Scope, (Option<&ScopedState>, &StateChanges))],
) -> Result<String, Error> {
    let empty = ScopedState::default();
    let mut states = Vec::with_capacity(scopes.len());
    let mut size = 0;
    for (scope, (state, changes)) in scopes {
        let state = state.unwrap_or(&empty);
        // A key that was removed and set again stands last.
        let (mut changed, mut removed) = (ScopedState::default(), NameMap::<()>::default());
        for (name, change) in *changes {
            if *change == Change::Remove {
                removed.add(name, ());
            }
        }
        changed.apply((*changes).clone());
        size += state.size() + changed.size();
        states.push((scope.prefix(), state, changed, removed));
    }
    require_room(size)?;
    let mut writer = ObjectWriter::with_capacity(size);
    for (prefix, state, changed, removed) in &states {
        let keeps_place = |name: &str| removed.get(name).is_none();
        for (name, value) in state.iter().filter(|(name, _)| keeps_place(name)) {
            writer.member(prefix, name, changed.get(name).unwrap_or(value));
        }
        for (name, value) in changed.iter() {
            if state.get(name).is_none() || !keeps_place(name) {
                writer.member(prefix, name, value);
            }
        }
    }
    Ok(writer.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> ScopedState {
        ScopedState::parse(text).unwrap()
    }

    #[test]
    fn a_changed_key_keeps_its_position_and_a_removed_one_returns_last() {
        let mut state = state(r#"{"a":1,"b":2,"c":3}"#);
        state.apply(Delta::parse(r#"{"b":9,"a":"__ADK_SENTINEL_REMOVED__"}"#).unwrap().session);
        state.apply(Delta::parse(r#"{"a":0}"#).unwrap().session);
        assert_eq!(state.to_json(), r#"{"b":9,"c":3,"a":0}"#);
    }

    #[test]
    fn removed_keys_leave_no_entries() {
        let mut state = state(r#"{"kept":1}"#);
        for number in 0..1_000 {
            let set = format!(r#"{{"k{number}":1}}"#);
            let removed = format!(r#"{{"k{number}":"__ADK_SENTINEL_REMOVED__"}}"#);
            state.apply(Delta::parse(&set).unwrap().session);
            state.apply(Delta::parse(&removed).unwrap().session);
        }
        assert!(state.members.list.len() < 20);
        assert_eq!(state.to_json(), r#"{"kept":1}"#);
        assert_eq!(state.get("kept"), Some("1"));
    }

    #[test]
    fn keys_are_found_whether_they_are_few_or_many() {
        let mut state = ScopedState::default();
        let mut expected: Vec<(String, String)> = Vec::new();
        let mut most = 0;
        for step in 0..400_usize {
            let name = format!("k{}", step * 7 % (3 + step / 8));
            let delta = if step % 3 == 2 {
                expected.retain(|(other, _)| *other != name);
                format!(r#"{{"{name}":"__ADK_SENTINEL_REMOVED__"}}"#)
            } else {
                match expected.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, value)) => *value = step.to_string(),
                    None => expected.push((name.clone(), step.to_string())),
                }
                format!(r#"{{"{name}":{step}}}"#)
            };
            state.apply(Delta::parse(&delta).unwrap().session);
            let members = state.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(members.collect::<Vec<_>>(), expected);
            assert_eq!(state.is_empty(), expected.is_empty());
            most = most.max(expected.len());
        }
        assert!(most > 2 * FEW);
    }

    #[test]
    fn scopes_merge_under_their_prefixes() {
        let json = merge_to_json(&[
            (Scope::Session, Some(&state(r#"{"x":1}"#))),
            (Scope::User, Some(&state(r#"{"x":2}"#))),
            (Scope::App, Some(&state(r#"{"x":3}"#))),
        ]);
        assert_eq!(json, r#"{"x":1,"user:x":2,"app:x":3}"#);
    }

    #[test]
    fn a_state_is_printed_with_its_changes_as_after_they_are_applied() {
        let removed = r#""__ADK_SENTINEL_REMOVED__""#;
        let texts = [
            "{}".to_owned(),
            r#"{"a":1}"#.to_owned(),
            r#"{"c":3,"b":4}"#.to_owned(),
            format!(r#"{{"b":{removed},"d":5}}"#),
            format!(r#"{{"a":{removed},"e":6,"a":7}}"#),
        ];
        for (base, delta) in
            texts.iter().flat_map(|base| texts.iter().map(move |delta| (base, delta)))
        {
            let Delta { session: changes, .. } = Delta::parse(delta).unwrap();
            let (base, mut after) = (state(base), state(base));
            after.apply(changes.clone());
            let scopes = [(Scope::User, (Some(&base), &changes))];
            let printed = merge_changed_to_json(&scopes).unwrap();
            assert_eq!(printed, merge_to_json(&[(Scope::User, Some(&after))]));
        }
    }

    #[test]
    fn the_own_keys_of_a_delta_are_printed_as_the_state_that_it_makes() {
        let removed = r#""__ADK_SENTINEL_REMOVED__""#;
        let many: Vec<String> = (0..2 * FEW).map(|key| format!(r#""k{key}":{key}"#)).collect();
        for text in [
            "{}".to_owned(),
            r#"{"a":1,"b\"":[2],"user:c":3,"app:d":4}"#.to_owned(),
            r#"{"a":1,"b":2,"a":3}"#.to_owned(),
            format!(r#"{{"a":1,"b":{removed}}}"#),
            format!("{{{}}}", many.join(",")),
        ] {
            let delta = Delta::parse(&text).unwrap();
            let mut state = ScopedState::default();
            state.apply(delta.session.clone());
            assert_eq!(delta.own_to_json().unwrap(), state.to_json());
        }
    }

    #[test]
    fn the_size_of_a_state_covers_every_prefix() {
        let state = state(r#"{"x":1,"y":2}"#);
        for scope in Scope::ALL {
            assert!(merge_to_json(&[(scope, Some(&state))]).len() <= state.size());
        }
    }

    #[test]
    fn a_clone_does_not_change_with_the_original() {
        let mut changed = state(r#"{"a":1}"#);
        let before = changed.clone();
        changed.apply(Delta::parse(r#"{"a":2,"b":3}"#).unwrap().session);
        assert_eq!(before.to_json(), r#"{"a":1}"#);
        assert_eq!(changed.to_json(), r#"{"a":2,"b":3}"#);
    }

    #[test]
    fn names_that_javascript_objects_inherit_are_ordinary_keys() {
        let state = state(r#"{"__proto__":1,"constructor":2}"#);
        assert_eq!(state.get("__proto__"), Some("1"));
        assert_eq!(state.get("toString"), None);
    }
}
