/**
 * The numbers of an append before those of its events.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}
 */
export const AppendNumber = Object.freeze({
    /**
     * The length of the app's name in UTF-16 code units, like the next four: its parts in the packed text.
     */
    AppName: 0,
    /**
     * The length of the user's id.
     */
    UserId: 1,
    /**
     * The length of the session's id.
     */
    SessionId: 2,
    /**
     * The length of the id of the handle's last event; 0 if it is not needed.
     */
    LastEventId: 3,
    /**
     * The length of the title of a session that has none; 0 if the append gives none.
     */
    FirstTitle: 4,
    /**
     * The handle's `created`. NaN: it is from elsewhere, and located by its last event. Below 0: there is no
     * handle.
     */
    Created: 5,
    /**
     * The handle's revision.
     */
    Revision: 6,
    /**
     * The policy for stale handles: 0 merge, 1 append, 2 reject.
     */
    Policy: 7,
    /**
     * The revision that the session must have; NaN without one.
     */
    ExpectedRevision: 8,
    /**
     * The revision up to which the run of the events was neither undone nor cancelled; NaN without one.
     */
    RunRevision: 9,
    /**
     * How many events follow.
     */
    EventCount: 10,
    /**
     * The end of the list.
     */
    Length: 11,
});

/**
 * The result of an append.
 * @enum {0 | 1 | 2 | 3 | 4 | 5}
 */
export const AppendedNumber = Object.freeze({
    /**
     * The revision at which the session was created.
     */
    Created: 0,
    /**
     * Its revision.
     */
    Revision: 1,
    /**
     * Its time in milliseconds.
     */
    LastUpdateTime: 2,
    /**
     * The revision of the user's state; 0, which no state has, if it does not change.
     */
    UserRevision: 3,
    /**
     * The revision of the app's state.
     */
    AppRevision: 4,
    /**
     * An object with the details; most appends have none.
     */
    Details: 5,
});

/**
 * The numbers of one of several turns that follow the same history.
 * @enum {0 | 1 | 2 | 3 | 4}
 */
export const BranchNumber = Object.freeze({
    /**
     * The first event of the turn before it plus 1, or 0.
     */
    After: 0,
    /**
     * The first event of the turn.
     */
    Event: 1,
    /**
     * 1 if the transcript has the turn, else 0.
     */
    IsShown: 2,
    /**
     * The rewind that ended a branch with the turn plus 1, or 0.
     */
    EndedBy: 3,
    /**
     * The end of the list.
     */
    Length: 4,
});

/**
 * The numbers of a function call. An absent id is `NO_ID`.
 * @enum {0 | 1 | 2 | 3 | 4}
 */
export const CallNumber = Object.freeze({
    /**
     * The index of its event.
     */
    Event: 0,
    /**
     * The number of its id.
     */
    Id: 1,
    /**
     * The number of the id of the call that it asks about.
     */
    About: 2,
    /**
     * A sum of `CALL_FLAGS` in `js/core/wasm/protocol.ts`.
     */
    Flags: 3,
    /**
     * The end of the list.
     */
    Length: 4,
});

/**
 * The numbers of a changed part.
 * @enum {0 | 1 | 2 | 3}
 */
export const ChangeNumber = Object.freeze({
    /**
     * 1 for a response, 0 for a call.
     */
    IsResponse: 0,
    /**
     * Its index in its list.
     */
    Index: 1,
    /**
     * The suffix of its id; 0 if the part is left out.
     */
    Suffix: 2,
    /**
     * The end of the list.
     */
    Length: 3,
});

/**
 * The result of a creation. The session was created one revision before its first event.
 * @enum {0 | 1 | 2 | 3 | 4 | 5}
 */
export const CreatedNumber = Object.freeze({
    /**
     * The session's revision.
     */
    Revision: 0,
    /**
     * Its time in milliseconds.
     */
    LastUpdateTime: 1,
    /**
     * The revision of the user's state; 0, which no state has, if it does not change.
     */
    UserRevision: 2,
    /**
     * The revision of the app's state.
     */
    AppRevision: 3,
    /**
     * 1 if `State` lacks the keys that JavaScript gave, else 0.
     */
    HasRest: 4,
    /**
     * The JSON text of the state of all scopes; absent if it lacks all of its keys.
     */
    State: 5,
});

/**
 * The numbers of a creation before those of its append, whose handle is not used.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}
 */
export const CreationNumber = Object.freeze({
    /**
     * The length of the JSON text of the state in UTF-16 code units, like the next five. These parts stand before
     * those of the append.
     */
    State: 0,
    /**
     * The length of the JSON text of changes that no event carries.
     */
    Delta: 1,
    /**
     * The length of the title; NaN without one, like the next three.
     */
    Title: 2,
    /**
     * The length of the JSON text of the labels.
     */
    Labels: 3,
    /**
     * The length of the JSON text of the parent.
     */
    Parent: 4,
    /**
     * The length of the JSON text of the initial state; 0 if it is the state.
     */
    InitialState: 5,
    /**
     * When the session was last updated; NaN for now.
     */
    LastUpdateTime: 6,
    /**
     * The time.
     */
    Now: 7,
    /**
     * 1 if the keys of users and apps are stored, else 0.
     */
    SharesState: 8,
    /**
     * 1 if a taken key gives `undefined`, and does not fail.
     */
    IfAbsent: 9,
    /**
     * The end of the list.
     */
    Length: 10,
});

/**
 * The numbers of a decision before those of the events to write.
 * @enum {0 | 1 | 2 | 3 | 4 | 5}
 */
export const DecisionNumber = Object.freeze({
    /**
     * The session's new revision; 0 if it does not change, like the next two.
     */
    Session: 0,
    /**
     * The revision of the user's state.
     */
    User: 1,
    /**
     * The revision of the app's state.
     */
    App: 2,
    /**
     * The session's time in milliseconds.
     */
    LastUpdateTime: 3,
    /**
     * The revision at which the session was created.
     */
    Created: 4,
    /**
     * The end of the list.
     */
    Length: 5,
});

/**
 * The numbers of an event.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}
 */
export const EventNumber = Object.freeze({
    /**
     * The length of its id in UTF-16 code units, like the next three.
     */
    Id: 0,
    /**
     * The length of the JSON text of its delta.
     */
    Delta: 1,
    /**
     * The length of its JSON text.
     */
    Text: 2,
    /**
     * The length of its JSON text with superseded keys; 0 without one.
     */
    Whole: 3,
    /**
     * Its timestamp.
     */
    Timestamp: 4,
    /**
     * The revision of the stored event that it may replace; 0 if none may be stored, NaN if any may.
     */
    Replaces: 5,
    /**
     * 1 if it may be a marker and the storage keeps the places of markers, else 0.
     */
    MayBeMarker: 6,
    /**
     * The end of the list.
     */
    Length: 7,
});

/**
 * The numbers of the rows that a write found.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}
 */
export const FoundNumber = Object.freeze({
    /**
     * The floor of revisions.
     */
    Floor: 0,
    /**
     * The revision at which the session was created.
     */
    Created: 1,
    /**
     * The session's revision; below 0 if there is no session.
     */
    Revision: 2,
    /**
     * The session's time in milliseconds.
     */
    LastUpdateTime: 3,
    /**
     * The revision of the user's state.
     */
    UserRevision: 4,
    /**
     * The revision of the app's state.
     */
    AppRevision: 5,
    /**
     * The length of the session's state in UTF-16 code units.
     */
    SessionState: 6,
    /**
     * The length of the user's state.
     */
    UserState: 7,
});

/**
 * The numbers of a history before those of its marks, calls, responses, pauses, older invocations and asked names,
 * which follow in this order. Those from `Question` on say what is asked.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14}
 */
export const HistoryNumber = Object.freeze({
    /**
     * For whom the view is: one of `READERS` in `js/core/wasm/protocol.ts`.
     */
    Reader: 0,
    /**
     * How many events it has: a mark each.
     */
    Marks: 1,
    /**
     * How many function calls.
     */
    Calls: 2,
    /**
     * How many function responses that have an id.
     */
    Responses: 3,
    /**
     * How many pauses.
     */
    Pauses: 4,
    /**
     * How many invocations that begin before the events, one number each.
     */
    Older: 5,
    /**
     * How many names of calls that are asked for, one number each.
     */
    Asked: 6,
    /**
     * One of `QUESTIONS` in `js/core/wasm/protocol.ts`.
     */
    Question: 7,
    /**
     * How many items; NaN for all.
     */
    Count: 8,
    /**
     * The index of the first known event that is no marker; NaN if all events are known.
     */
    KnownFrom: 9,
    /**
     * 1 if there are no events before these.
     */
    IsFromStart: 10,
    /**
     * One of `PLACES` in `js/core/wasm/protocol.ts`, for a page, or for the event from whose turn on branches
     * are wanted.
     */
    Place: 11,
    /**
     * The index of the event or of the compaction at that place.
     */
    PlaceEvent: 12,
    /**
     * 1 if a page follows the place.
     */
    IsAfter: 13,
    /**
     * The end of the list.
     */
    Length: 14,
});

/**
 * The numbers of an item of a view.
 * @enum {0 | 1 | 2}
 */
export const ItemNumber = Object.freeze({
    /**
     * The index of the event, or of the compaction of a summary.
     */
    Event: 0,
    /**
     * 0 for an event. For a summary the last event of an agent that it hides plus 2, or 1 if it hides none.
     */
    Agent: 1,
    /**
     * The end of the list.
     */
    Length: 2,
});

/**
 * The numbers of the mark of an event.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6}
 */
export const MarkNumber = Object.freeze({
    /**
     * One of `MARK_KINDS` in `js/core/wasm/protocol.ts`.
     */
    Kind: 0,
    /**
     * The number of its invocation; below 0 without one.
     */
    Invocation: 1,
    /**
     * Its timestamp.
     */
    Time: 2,
    /**
     * The number of the invocation that a rewind names, the start of a compaction, or the end of a compacted event.
     */
    First: 3,
    /**
     * The end of a compaction.
     */
    Second: 4,
    /**
     * A sum of `EVENT_FLAGS` in `js/core/wasm/protocol.ts`.
     */
    Flags: 5,
    /**
     * The end of the list.
     */
    Length: 6,
});

/**
 * The numbers of an event at which a node waits or goes on.
 * @enum {0 | 1 | 2 | 3}
 */
export const PauseNumber = Object.freeze({
    /**
     * The index of the event.
     */
    Event: 0,
    /**
     * The number of the node.
     */
    Node: 1,
    /**
     * 1 if it waits, else 0.
     */
    Waits: 2,
    /**
     * The end of the list.
     */
    Length: 3,
});

/**
 * The numbers of a write's plan.
 * @enum {0 | 1 | 2}
 */
export const PlanNumber = Object.freeze({
    /**
     * The states that it needs, as a sum of session (1), user (2) and app (4).
     */
    Scopes: 0,
    /**
     * 1 if it needs the handle's last event, and not the events with the ids of the write.
     */
    IsLocating: 1,
    /**
     * The revision after which it needs the changed events.
     */
    Since: 2,
});

/**
 * The numbers of a read of a session.
 * @enum {0 | 1 | 2 | 3 | 4 | 5}
 */
export const ReadNumber = Object.freeze({
    /**
     * The length of the app's name in UTF-16 code units, like the next two.
     */
    AppName: 0,
    /**
     * The length of the user's id.
     */
    UserId: 1,
    /**
     * The length of the session's id.
     */
    SessionId: 2,
    /**
     * How many of the last events to read; NaN for all.
     */
    Last: 3,
    /**
     * The time from which events are read; NaN for all.
     */
    After: 4,
    /**
     * The revision after which events were written; NaN without one.
     */
    Since: 5,
});

/**
 * The numbers of a function response.
 * @enum {0 | 1 | 2}
 */
export const ResponseNumber = Object.freeze({
    /**
     * The index of its event.
     */
    Event: 0,
    /**
     * The number of its id.
     */
    Id: 1,
    /**
     * The end of the list.
     */
    Length: 2,
});

/**
 * The numbers of a view before those of its lists, which follow in this order.
 * @enum {0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}
 */
export const ViewNumber = Object.freeze({
    /**
     * How many items it has.
     */
    Items: 0,
    /**
     * How many summarised events, one number each.
     */
    Summarised: 1,
    /**
     * How many changed parts.
     */
    Changes: 2,
    /**
     * The first event that waits plus 1, or 0.
     */
    FirstWaiting: 3,
    /**
     * Where the items begin in the whole view.
     */
    Start: 4,
    /**
     * How many items the whole view has.
     */
    Total: 5,
    /**
     * The anchor of a page's first item plus 1, or 0.
     */
    First: 6,
    /**
     * The anchor of a page's last item plus 1, or 0.
     */
    Last: 7,
    /**
     * The end of the list.
     */
    Length: 8,
});

/**
 * The numbers of an event to write.
 * @enum {0 | 1 | 2 | 3}
 */
export const WrittenNumber = Object.freeze({
    /**
     * Its index among the events of the write.
     */
    Position: 0,
    /**
     * The revision of its first append.
     */
    Seq: 1,
    /**
     * Its revision.
     */
    Revision: 2,
    /**
     * The end of the list.
     */
    Length: 3,
});

