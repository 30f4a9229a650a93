//! The lists of numbers that cross between TypeScript and the wasm, where an object would cost much of the call.
//!
//! Each number has its name here alone: `wasm-bindgen` passes these enums on to TypeScript, which packs and unpacks in
//! `js/core/storage/wasm/packed.ts`, and the marks of histories in `js/core/wasm/packed_marks.ts`.

use wasm_bindgen::prelude::*;

/// Returns a number of a list; NaN if the list is too short.
pub(in crate::bindings) fn number(numbers: &[f64], name: usize) -> f64 {
    numbers.get(name).copied().unwrap_or(f64::NAN)
}

/// Makes a list of numbers, each with its name.
pub(in crate::bindings) fn list<T: Default + Copy, const LENGTH: usize>(
    named: [(usize, T); LENGTH],
) -> [T; LENGTH] {
    let mut numbers = [T::default(); LENGTH];
    for (name, value) in named {
        if let Some(number) = numbers.get_mut(name) {
            *number = value;
        }
    }
    numbers
}

/// The numbers of an append before those of its events.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum AppendNumber {
    /// The length of the app's name in UTF-16 code units, like the next four: its parts in the packed text.
    AppName,
    /// The length of the user's id.
    UserId,
    /// The length of the session's id.
    SessionId,
    /// The length of the id of the handle's last event; 0 if it is not needed.
    LastEventId,
    /// The length of the title of a session that has none; 0 if the append gives none.
    FirstTitle,
    /// The handle's `created`. NaN: it is from elsewhere, and located by its last event. Below 0: there is no
    /// handle.
    Created,
    /// The handle's revision.
    Revision,
    /// The policy for stale handles: 0 merge, 1 append, 2 reject.
    Policy,
    /// The revision that the session must have; NaN without one.
    ExpectedRevision,
    /// The revision up to which the run of the events was neither undone nor cancelled; NaN without one.
    RunRevision,
    /// How many events follow.
    EventCount,
    /// The end of the list.
    Length,
}

/// The numbers of an event.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum EventNumber {
    /// The length of its id in UTF-16 code units, like the next three.
    Id,
    /// The length of the JSON text of its delta.
    Delta,
    /// The length of its JSON text.
    Text,
    /// The length of its JSON text with superseded keys; 0 without one.
    Whole,
    /// Its timestamp.
    Timestamp,
    /// The revision of the stored event that it may replace; 0 if none may be stored, NaN if any may.
    Replaces,
    /// 1 if it may be a marker and the storage keeps the places of markers, else 0.
    MayBeMarker,
    /// The end of the list.
    Length,
}

/// The numbers of a creation before those of its append, whose handle is not used.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum CreationNumber {
    /// The length of the JSON text of the state in UTF-16 code units, like the next five. These parts stand before
    /// those of the append.
    State,
    /// The length of the JSON text of changes that no event carries.
    Delta,
    /// The length of the title; NaN without one, like the next three.
    Title,
    /// The length of the JSON text of the labels.
    Labels,
    /// The length of the JSON text of the parent.
    Parent,
    /// The length of the JSON text of the initial state; 0 if it is the state.
    InitialState,
    /// When the session was last updated; NaN for now.
    LastUpdateTime,
    /// The time.
    Now,
    /// 1 if the keys of users and apps are stored, else 0.
    SharesState,
    /// 1 if a taken key gives `undefined`, and does not fail.
    IfAbsent,
    /// The end of the list.
    Length,
}

/// The numbers of a read of a session.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum ReadNumber {
    /// The length of the app's name in UTF-16 code units, like the next two.
    AppName,
    /// The length of the user's id.
    UserId,
    /// The length of the session's id.
    SessionId,
    /// How many of the last events to read; NaN for all.
    Last,
    /// The time from which events are read; NaN for all.
    After,
    /// The revision after which events were written; NaN without one.
    Since,
}

/// The result of an append.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum AppendedNumber {
    /// The revision at which the session was created.
    Created,
    /// Its revision.
    Revision,
    /// Its time in milliseconds.
    LastUpdateTime,
    /// The revision of the user's state; 0, which no state has, if it does not change.
    UserRevision,
    /// The revision of the app's state.
    AppRevision,
    /// An object with the details; most appends have none.
    Details,
}

/// The result of a creation. The session was created one revision before its first event.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum CreatedNumber {
    /// The session's revision.
    Revision,
    /// Its time in milliseconds.
    LastUpdateTime,
    /// The revision of the user's state; 0, which no state has, if it does not change.
    UserRevision,
    /// The revision of the app's state.
    AppRevision,
    /// 1 if `State` lacks the keys that JavaScript gave, else 0.
    HasRest,
    /// The JSON text of the state of all scopes; absent if it lacks all of its keys.
    State,
}

/// The numbers of the rows that a write found.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum FoundNumber {
    /// The floor of revisions.
    Floor,
    /// The revision at which the session was created.
    Created,
    /// The session's revision; below 0 if there is no session.
    Revision,
    /// The session's time in milliseconds.
    LastUpdateTime,
    /// The revision of the user's state.
    UserRevision,
    /// The revision of the app's state.
    AppRevision,
    /// The length of the session's state in UTF-16 code units.
    SessionState,
    /// The length of the user's state.
    UserState,
}

/// The numbers of a write's plan.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum PlanNumber {
    /// The states that it needs, as a sum of session (1), user (2) and app (4).
    Scopes,
    /// 1 if it needs the handle's last event, and not the events with the ids of the write.
    IsLocating,
    /// The revision after which it needs the changed events.
    Since,
}

/// The numbers of a decision before those of the events to write.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum DecisionNumber {
    /// The session's new revision; 0 if it does not change, like the next two.
    Session,
    /// The revision of the user's state.
    User,
    /// The revision of the app's state.
    App,
    /// The session's time in milliseconds.
    LastUpdateTime,
    /// The revision at which the session was created.
    Created,
    /// The end of the list.
    Length,
}

/// The numbers of an event to write.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum WrittenNumber {
    /// Its index among the events of the write.
    Position,
    /// The revision of its first append.
    Seq,
    /// Its revision.
    Revision,
    /// The end of the list.
    Length,
}

/// The numbers of a history before those of its marks, calls, responses, pauses, older invocations and asked names,
/// which follow in this order. Those from `Question` on say what is asked.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum HistoryNumber {
    /// For whom the view is: one of `READERS` in `js/core/wasm/protocol.ts`.
    Reader,
    /// How many events it has: a mark each.
    Marks,
    /// How many function calls.
    Calls,
    /// How many function responses that have an id.
    Responses,
    /// How many pauses.
    Pauses,
    /// How many invocations that begin before the events, one number each.
    Older,
    /// How many names of calls that are asked for, one number each.
    Asked,
    /// One of `QUESTIONS` in `js/core/wasm/protocol.ts`.
    Question,
    /// How many items; NaN for all.
    Count,
    /// The index of the first known event that is no marker; NaN if all events are known.
    KnownFrom,
    /// 1 if there are no events before these.
    IsFromStart,
    /// One of `PLACES` in `js/core/wasm/protocol.ts`, for a page, or for the event from whose turn on branches
    /// are wanted.
    Place,
    /// The index of the event or of the compaction at that place.
    PlaceEvent,
    /// 1 if a page follows the place.
    IsAfter,
    /// The end of the list.
    Length,
}

/// The numbers of the mark of an event.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum MarkNumber {
    /// One of `MARK_KINDS` in `js/core/wasm/protocol.ts`.
    Kind,
    /// The number of its invocation; below 0 without one.
    Invocation,
    /// Its timestamp.
    Time,
    /// The number of the invocation that a rewind names, the start of a compaction, or the end of a compacted event.
    First,
    /// The end of a compaction.
    Second,
    /// A sum of `EVENT_FLAGS` in `js/core/wasm/protocol.ts`.
    Flags,
    /// The end of the list.
    Length,
}

/// The numbers of a function call. An absent id is `NO_ID`.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum CallNumber {
    /// The index of its event.
    Event,
    /// The number of its id.
    Id,
    /// The number of the id of the call that it asks about.
    About,
    /// A sum of `CALL_FLAGS` in `js/core/wasm/protocol.ts`.
    Flags,
    /// The end of the list.
    Length,
}

/// The numbers of a function response.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum ResponseNumber {
    /// The index of its event.
    Event,
    /// The number of its id.
    Id,
    /// The end of the list.
    Length,
}

/// The numbers of an event at which a node waits or goes on.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum PauseNumber {
    /// The index of the event.
    Event,
    /// The number of the node.
    Node,
    /// 1 if it waits, else 0.
    Waits,
    /// The end of the list.
    Length,
}

/// The numbers of a view before those of its lists, which follow in this order.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum ViewNumber {
    /// How many items it has.
    Items,
    /// How many summarised events, one number each.
    Summarised,
    /// How many changed parts.
    Changes,
    /// The first event that waits plus 1, or 0.
    FirstWaiting,
    /// Where the items begin in the whole view.
    Start,
    /// How many items the whole view has.
    Total,
    /// The anchor of a page's first item plus 1, or 0.
    First,
    /// The anchor of a page's last item plus 1, or 0.
    Last,
    /// The end of the list.
    Length,
}

/// The numbers of one of several turns that follow the same history.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum BranchNumber {
    /// The first event of the turn before it plus 1, or 0.
    After,
    /// The first event of the turn.
    Event,
    /// 1 if the transcript has the turn, else 0.
    IsShown,
    /// The rewind that ended a branch with the turn plus 1, or 0.
    EndedBy,
    /// The end of the list.
    Length,
}

/// The numbers of an item of a view.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum ItemNumber {
    /// The index of the event, or of the compaction of a summary.
    Event,
    /// 0 for an event. For a summary the last event of an agent that it hides plus 2, or 1 if it hides none.
    Agent,
    /// The end of the list.
    Length,
}

/// The numbers of a changed part.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum ChangeNumber {
    /// 1 for a response, 0 for a call.
    IsResponse,
    /// Its index in its list.
    Index,
    /// The suffix of its id; 0 if the part is left out.
    Suffix,
    /// The end of the list.
    Length,
}
