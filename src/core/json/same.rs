//! Compares two JSON texts as values.
//!
//! A storage may sort keys, rewrite numbers and escape letters. PostgreSQL's JSONB does, and so do
//! other writers of the same tables. So texts are compared as the values that JavaScript would
//! read.

use std::sync::Arc;

use crate::core::json::string::decoded;
use crate::core::json::value::Scanner;
use crate::core::names::NameMap;
use crate::core::room::COMPARED;
use crate::host::{has_room, number};

/// Whether two texts are the same JSON value. The order of keys does not count, and a repeated key
/// has its last value. Numbers are equal if JavaScript reads them as equal (`1.0`, `1` and
/// `10e-1`).
///
/// Identical texts are the same, JSON or not. Others are different if memory has no room to compare
/// them. The cost is linear in their length.
pub fn is_same_json(one: &str, other: &str) -> bool {
    is_same_event(one, other, None)
}

/// Whether a stored event and a new one are the same, as [`is_same_json`] compares them. The member `hidden` of
/// `customMetadata` does not count if only the stored event has it: readers never see that member, so they send the
/// event without it.
pub fn is_same_event(one: &str, other: &str, hidden: Option<&str>) -> bool {
    if one == other {
        return true;
    }
    let trees = Tree::read(one).zip(Tree::read(other));
    trees.is_some_and(|(left, right)| {
        let left = Tree { hidden, ..left };
        let values = left.nodes.len() + right.nodes.len();
        has_room(values * COMPARED + one.len() + other.len()) && left.is_same(&right)
    })
}

/// The values of a JSON text, in the order of the text.
#[derive(Default)]
struct Tree<'t> {
    nodes: Vec<Node<'t>>,
    /// The member of `customMetadata` that may be missing in the other tree.
    hidden: Option<&'t str>,
}

struct Node<'t> {
    /// The content of the key; empty for an element of an array.
    key: &'t str,
    value: Value<'t>,
    /// The index of the next value that is not inside this one.
    end: usize,
}

#[derive(Clone, Copy)]
enum Value<'t> {
    /// A value without elements or members: its text.
    Leaf(&'t str),
    Array,
    Object,
}

impl<'t> Tree<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let mut scanner = Scanner::new(text);
        let mut tree = Self::default();
        // The starts of the arrays and objects still open. A list, not recursion: no nesting
        // overflows the stack.
        let mut open: Vec<usize> = Vec::new();
        let mut key = "";
        loop {
            let (value, bracket) = if scanner.closes(b'{') {
                (Value::Object, b'}')
            } else if scanner.closes(b'[') {
                (Value::Array, b']')
            } else {
                (Value::Leaf(scanner.read_value()?), 0)
            };
            let at = tree.nodes.len();
            tree.nodes.try_reserve(1).ok()?;
            tree.nodes.push(Node { key, value, end: at + 1 });
            let is_open = bracket != 0 && !scanner.closes(bracket);
            if is_open {
                open.push(at);
            } else if !tree.end_value(&mut scanner, &mut open)? {
                return scanner.is_at_end().then_some(tree);
            }
            let is_member =
                open.last().and_then(|at| tree.nodes.get(*at)).is_some_and(Node::is_object);
            key = if is_member { scanner.read_key()? } else { "" };
        }
    }

    /// Skips the text after a value that has ended, and the ends of values around it. Returns
    /// whether another value follows.
    fn end_value(&mut self, scanner: &mut Scanner<'t>, open: &mut Vec<usize>) -> Option<bool> {
        let end = self.nodes.len();
        while let Some(node) = open.last().and_then(|at| self.nodes.get_mut(*at)) {
            match (scanner.next_token()?, node.is_object()) {
                (b',', _) => return Some(true),
                (b'}', true) | (b']', false) => node.end = end,
                _ => return None,
            }
            open.pop();
        }
        Some(false)
    }

    fn is_same(&self, other: &Self) -> bool {
        let mut pairs = vec![(0, 0)];
        while let Some((left, right)) = pairs.pop() {
            let Some((one, another)) = self.nodes.get(left).zip(other.nodes.get(right)) else {
                return false;
            };
            let is_same = match (one.value, another.value) {
                (Value::Leaf(one), Value::Leaf(other)) => is_same_leaf(one, other),
                (Value::Array, Value::Array) => {
                    let (mut elements, mut others) = (self.children(left), other.children(right));
                    loop {
                        match (elements.next(), others.next()) {
                            (Some(one), Some(other)) => pairs.push((one, other)),
                            (one, other) => break one == other,
                        }
                    }
                }
                (Value::Object, Value::Object) => {
                    let members = self.members(left).zip(other.members(right));
                    members.is_some_and(|(members, others)| {
                        let mut found = 0;
                        let mut find = |(key, one): (&Arc<str>, &usize)| {
                            let other = others.get(key);
                            pairs.extend(other.map(|other| (*one, *other)));
                            found += usize::from(other.is_some());
                            other.is_some() || self.is_hidden(*one)
                        };
                        members.iter().all(&mut find) && found == others.len()
                    })
                }
                _ => false,
            };
            if !is_same {
                return false;
            }
        }
        true
    }

    /// Whether a member is the hidden one, or metadata with nothing else.
    fn is_hidden(&self, at: usize) -> bool {
        let Some(hidden) = self.hidden else { return false };
        let has_key = |at: usize, key| self.nodes.get(at).is_some_and(|node| node.key == key);
        let is_last = self.nodes.get(at).is_some_and(|node| node.end == at + 2);
        has_key(at, hidden) || (is_last && has_key(at, "customMetadata") && has_key(at + 1, hidden))
    }

    fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes.get(at).map_or(0, |node| node.end);
        let start = Some(at + 1).filter(|start| *start < end);
        std::iter::successors(start, move |child| {
            Some(self.nodes.get(*child)?.end).filter(|next| *next < end)
        })
    }

    /// Returns the members of an object by key; a repeated key has its last value. `None` if memory
    /// has no room.
    fn members(&self, at: usize) -> Option<NameMap<usize>> {
        let mut members = NameMap::default();
        for child in self.children(at) {
            *members.get_or_default(&decoded(self.nodes.get(child)?.key))? = child;
        }
        Some(members)
    }
}

impl Node<'_> {
    fn is_object(&self) -> bool {
        matches!(self.value, Value::Object)
    }
}

/// Compares strings, numbers and words. Words are the same only if identical.
fn is_same_leaf(one: &str, other: &str) -> bool {
    let is_string = [one, other].map(|text| text.starts_with('"'));
    one == other
        || match is_string {
            [true, true] => decoded(one) == decoded(other),
            [false, false] => number(one) == number(other),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_member_counts_unless_only_the_stored_event_has_it() {
        let is_same_event = |stored: &str, event: &str| is_same_event(stored, event, Some("run"));
        let plain = r#"{"id":"e"}"#;
        let marked = |mark| format!(r#"{{"customMetadata":{{"run":"{mark}"}},"id":"e"}}"#);
        let rated = r#"{"id":"e","customMetadata":{"rating":5}}"#;
        let both = r#"{"id":"e","customMetadata":{"run":"a","rating":5}}"#;
        assert!(is_same_event(&marked("a"), plain));
        assert!(is_same_event(both, rated));
        assert!(is_same_event(&marked("a"), &marked("a")));
        assert!(!is_same_event(&marked("a"), &marked("b")));
        assert!(!is_same_event(plain, &marked("a")));
        assert!(!is_same_event(rated, plain));
        assert!(!is_same_event(both, plain));
        assert!(!is_same_json(&marked("a"), plain));
    }
}
