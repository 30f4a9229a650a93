//! Branches: a rewind ends one and deletes nothing.

use super::numbers::NumberMap;
use super::{History, Kind};

/// One of several turns that follow the same history, or an undone turn behind the transcript's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// The first event of the turn before it; `None` at the beginning.
    pub after: Option<usize>,
    /// The first event of the turn.
    pub event: usize,
    /// Whether the transcript has the turn.
    pub is_shown: bool,
    /// The last rewind that ended a branch with this turn.
    pub ended_by: Option<usize>,
}

/// A turn, as a node of a tree. Branches that begin with the same turns share these nodes. The first node is the
/// beginning; the other nodes follow their parents.
#[derive(Clone, Copy, Default)]
struct Turn {
    event: usize,
    invocation: Option<u32>,
    parent: usize,
    /// An earlier turn of the same invocation.
    earlier: Option<usize>,
    ended_by: Option<usize>,
    /// How many turns follow it.
    count: usize,
    is_shown: bool,
}

/// Lists the branches of a history by the turns that they follow, in the order in which they began. A turn begins
/// with an event of [`Kind::Content`].
///
/// Returns also whether the events decide which branches stand from the turn of the event `from` on. Those that they
/// do not decide are left out.
pub fn branches(
    history: &History<'_>,
    from: Option<usize>,
    is_from_start: bool,
) -> (Vec<Branch>, bool) {
    let mut turns = vec![Turn::default()];
    // For each invocation the turn before its first event, and its latest turn.
    let (mut before, mut latest) = (NumberMap::default(), NumberMap::default());
    for invocation in history.older {
        before.set(*invocation, Some(0));
    }
    let (mut current, mut wanted) = (0, 0);
    for (event, mark) in history.marks.iter().enumerate() {
        if let Some(own) = mark.invocation
            && before.get(own).is_none()
        {
            before.set(own, Some(current));
        }
        let Some(turn) = turns.get_mut(current) else { break };
        match (mark.kind, mark.invocation) {
            (Kind::Rewind { before: target }, _) => {
                turn.ended_by = Some(event);
                current = before.get(target).unwrap_or(current);
            }
            (Kind::Content { .. }, Some(own)) if turn.invocation != mark.invocation => {
                let earlier = latest.get(own);
                let mut known = earlier;
                while let Some(other) = known.and_then(|known| turns.get(known))
                    && other.parent != current
                {
                    known = other.earlier;
                }
                let parent = current;
                current = known.unwrap_or(turns.len());
                if known.is_none() {
                    latest.set(own, Some(current));
                    let invocation = mark.invocation;
                    turns.push(Turn { event, invocation, parent, earlier, ..Turn::default() });
                }
            }
            _ => {}
        }
        if from == Some(event) {
            wanted = current;
        }
    }
    // The first turn of the last events may have alternatives before them. The turn before it is not known.
    let is_decided = is_from_start || turns.get(wanted).is_some_and(|turn| turn.parent > 0);
    (branches_of(&mut turns, current, is_from_start), is_decided)
}

/// Returns the turns that follow the transcript's turns, where there are several, or none is shown.
fn branches_of(turns: &mut [Turn], last: usize, is_from_start: bool) -> Vec<Branch> {
    if let Some(last) = turns.get_mut(last) {
        last.is_shown = true;
    }
    // A rewind ends all turns up to the last one. Each turn comes after its parent, so one pass from the end is
    // enough.
    for index in (1..turns.len()).rev() {
        let Some(&Turn { parent, ended_by, is_shown, .. }) = turns.get(index) else { continue };
        if let Some(parent) = turns.get_mut(parent) {
            parent.ended_by = parent.ended_by.max(ended_by);
            parent.is_shown |= is_shown;
            parent.count += 1;
        }
    }
    let mut branches = Vec::new();
    for at in usize::from(!is_from_start)..turns.len() {
        let Some(&Turn { event, is_shown: true, count, .. }) = turns.get(at) else { continue };
        if count == 0 || (count == 1 && at != last) {
            continue;
        }
        let after = (at > 0).then_some(event);
        let follows = |turn: &&Turn| turn.parent == at;
        for turn in turns.iter().skip(at + 1).filter(follows).take(count) {
            let Turn { event, is_shown, ended_by, .. } = *turn;
            branches.push(Branch { after, event, is_shown, ended_by });
        }
    }
    branches
}
