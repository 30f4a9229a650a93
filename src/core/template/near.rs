//! Near misses: finds existing keys that are similar to a missing name.
//!
//! This runs only for an error, but a state may have a million keys, or keys of a megabyte. So the
//! work is capped: beyond the caps there are fewer suggestions, never a slow error.

use strsim::generic_levenshtein;

use crate::core::state::Scope;

/// The most suggestions for one name.
const BEST: usize = 3;
/// The most names that get suggestions. If more are missing, the wrong session is probably loaded.
const NAMES: usize = 16;
/// The longest key, in bytes, that is compared.
const LONGEST: usize = 96;
/// The most comparisons of characters or lengths for all names together. They take some
/// milliseconds.
const STEPS: usize = 2_000_000;

/// A missing name or a key, prepared for comparison.
struct Word<'k> {
    text: &'k str,
    scope: Scope,
    /// The part after the scope, in lower case. Only ASCII is folded, since Unicode's tables would
    /// cost 11 kB. The case of other letters counts as an edit.
    folded: Vec<char>,
}

impl<'k> Word<'k> {
    fn new(text: &'k str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (scope, rest) = Scope::split(text);
        let folded = rest.chars().map(|c| c.to_ascii_lowercase()).collect();
        Some(Self { text, scope, folded })
    }

    /// Returns how many edits still make a near miss: two, or a third of a long name. It is never
    /// more than half of a short name, since that would be another word.
    fn tolerance(&self) -> usize {
        let length = self.folded.len();
        (length / 3).max(2).min(length / 2)
    }
}

/// Returns up to three keys for each of the first names, best first. Keys that differ only in case
/// or scope come before keys with edits.
pub(super) fn near_misses<K>(names: &[&str], keys: K) -> Vec<Vec<String>>
where
    K: IntoIterator,
    K::Item: AsRef<str>,
{
    let names = names.iter().take(NAMES);
    let mut words: Vec<_> = names.map(|name| (Word::new(name), Vec::new())).collect();
    let comparable = words.iter().any(|(word, _)| word.is_some());
    let mut steps = 0;
    for key in keys.into_iter().take(if comparable { STEPS } else { 0 }) {
        let Some(key) = Word::new(key.as_ref()) else { continue };
        for (word, best) in &mut words {
            let Some(word) = word else { continue };
            steps += 1;
            let tolerance = word.tolerance();
            if word.text == key.text || word.folded.len().abs_diff(key.folded.len()) > tolerance {
                continue;
            }
            steps += word.folded.len() * key.folded.len();
            let edits = generic_levenshtein(&word.folded, &key.folded);
            if edits <= tolerance {
                rank(best, 2 * edits + usize::from(word.scope != key.scope), key.text);
            }
        }
        if steps > STEPS {
            break;
        }
    }
    let keys_of = |best: Vec<(usize, String)>| best.into_iter().map(|(_, key)| key).collect();
    words.into_iter().map(|(_, best)| keys_of(best)).collect()
}

/// Inserts a key among the best ones; equal scores keep the order of the keys.
fn rank(best: &mut Vec<(usize, String)>, score: usize, key: &str) {
    let place = best.iter().take_while(|(other, _)| *other <= score).count();
    if place < BEST {
        best.insert(place, (score, key.to_owned()));
        best.truncate(BEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(name: &str, keys: &[&str]) -> Vec<String> {
        near_misses(&[name], keys).remove(0)
    }

    #[test]
    fn near_misses_differ_in_typing_errors_case_or_scope() {
        assert_eq!(near("user:nmae", &["cart", "user:name"]), ["user:name"]);
        assert_eq!(near("userName", &["user_name", "username"]), ["username", "user_name"]);
        assert_eq!(near("name", &["user:name", "app:name"]), ["user:name", "app:name"]);
        assert_eq!(near("temp:name", &["NAME"]), ["NAME"]);
        assert_eq!(near("conversation_summery", &["summary"]), [""; 0]);
        assert_eq!(near("이름들", &["이름은", "이름"]), ["이름은", "이름"]);
        assert_eq!(near("변수", &["상수"]), ["상수"]);
    }

    #[test]
    fn near_misses_are_at_most_three_the_best_first() {
        let keys = ["topics_b", "topics", "user:topic", "Topic", "topix"];
        assert_eq!(near("topic", &keys), ["Topic", "user:topic", "topics"]);
    }

    #[test]
    fn different_words_are_not_near_misses() {
        assert_eq!(near("a", &["b", "", "ab", "A"]), ["A"]);
        assert_eq!(near("id", &["ab", "it", "foo"]), ["it"]);
        assert_eq!(near("name", &["topic", "name", "cart"]), [""; 0]);
    }

    #[test]
    fn the_work_is_bounded() {
        let mut read = 0;
        let long = "x".repeat(64);
        let keys = std::iter::repeat_with(|| "y".repeat(64)).inspect(|_| read += 1);
        assert_eq!(near_misses(&[&long], keys), [[""; 0]]);
        assert!(read < 1_000, "{read}");
        let megabyte = "x".repeat(1 << 20);
        assert_eq!(near_misses(&[&megabyte], std::iter::repeat("x")), [[""; 0]]);
        assert_eq!(near_misses(&["x"], [megabyte.as_str()]), [[""; 0]]);
        assert!(near_misses(&[], std::iter::repeat("x")).is_empty());
        assert_eq!(near_misses(&["x"; 1000], ["X"]).len(), NAMES);
    }
}
