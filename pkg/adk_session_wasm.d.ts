/* tslint:disable */
/* eslint-disable */

export interface KeyObject {
    readonly appName: string;
    readonly userId?: string | undefined;
    readonly sessionId?: string | undefined;
}
export interface DescribeObject {
    readonly key: Required<KeyObject>;
    readonly title?: string | undefined;
    readonly labels?: string | undefined;
}
export interface PageObject {
    readonly key: Required<KeyObject>;
    readonly direction: 'before' | 'after';
    readonly eventId: string | undefined;
    readonly limit: number;
    readonly withCount: boolean;
    readonly onlyMarkers?: boolean;
}
export interface ListObject {
    readonly appName: string;
    readonly userId?: string | undefined;
    readonly order: 'asc' | 'desc';
    readonly orderBy: 'lastUpdateTime' | 'createTime';
    readonly offset: number;
    readonly limit: number | undefined;
    readonly withTotal: boolean;
    readonly after?: PlaceObject | undefined;
}
export interface PlaceObject {
    readonly lastUpdateTime?: number | undefined;
    readonly createTime?: number | undefined;
    readonly sessionId: string;
    readonly userId: string;
}
export interface DeleteObject {
    readonly what: 'session' | 'user' | 'userState' | 'appState';
    readonly key: KeyObject;
    readonly revision?: number | undefined;
    readonly labels?: string | undefined;
}



/**
 * The numbers of an append before those of its events.
 */
export enum AppendNumber {
    /**
     * The length of the app's name in UTF-16 code units, like the next four: its parts in the packed text.
     */
    AppName = 0,
    /**
     * The length of the user's id.
     */
    UserId = 1,
    /**
     * The length of the session's id.
     */
    SessionId = 2,
    /**
     * The length of the id of the handle's last event; 0 if it is not needed.
     */
    LastEventId = 3,
    /**
     * The length of the title of a session that has none; 0 if the append gives none.
     */
    FirstTitle = 4,
    /**
     * The handle's `created`. NaN: it is from elsewhere, and located by its last event. Below 0: there is no
     * handle.
     */
    Created = 5,
    /**
     * The handle's revision.
     */
    Revision = 6,
    /**
     * The policy for stale handles: 0 merge, 1 append, 2 reject.
     */
    Policy = 7,
    /**
     * The revision that the session must have; NaN without one.
     */
    ExpectedRevision = 8,
    /**
     * The revision up to which the run of the events was neither undone nor cancelled; NaN without one.
     */
    RunRevision = 9,
    /**
     * How many events follow.
     */
    EventCount = 10,
    /**
     * The end of the list.
     */
    Length = 11,
}

/**
 * The result of an append.
 */
export enum AppendedNumber {
    /**
     * The revision at which the session was created.
     */
    Created = 0,
    /**
     * Its revision.
     */
    Revision = 1,
    /**
     * Its time in milliseconds.
     */
    LastUpdateTime = 2,
    /**
     * The revision of the user's state; 0, which no state has, if it does not change.
     */
    UserRevision = 3,
    /**
     * The revision of the app's state.
     */
    AppRevision = 4,
    /**
     * An object with the details; most appends have none.
     */
    Details = 5,
}

/**
 * The numbers of one of several turns that follow the same history.
 */
export enum BranchNumber {
    /**
     * The first event of the turn before it plus 1, or 0.
     */
    After = 0,
    /**
     * The first event of the turn.
     */
    Event = 1,
    /**
     * 1 if the transcript has the turn, else 0.
     */
    IsShown = 2,
    /**
     * The rewind that ended a branch with the turn plus 1, or 0.
     */
    EndedBy = 3,
    /**
     * The end of the list.
     */
    Length = 4,
}

/**
 * The numbers of a function call. An absent id is `NO_ID`.
 */
export enum CallNumber {
    /**
     * The index of its event.
     */
    Event = 0,
    /**
     * The number of its id.
     */
    Id = 1,
    /**
     * The number of the id of the call that it asks about.
     */
    About = 2,
    /**
     * A sum of `CALL_FLAGS` in `js/core/wasm/protocol.ts`.
     */
    Flags = 3,
    /**
     * The end of the list.
     */
    Length = 4,
}

/**
 * The numbers of a changed part.
 */
export enum ChangeNumber {
    /**
     * 1 for a response, 0 for a call.
     */
    IsResponse = 0,
    /**
     * Its index in its list.
     */
    Index = 1,
    /**
     * The suffix of its id; 0 if the part is left out.
     */
    Suffix = 2,
    /**
     * The end of the list.
     */
    Length = 3,
}

/**
 * The result of a creation. The session was created one revision before its first event.
 */
export enum CreatedNumber {
    /**
     * The session's revision.
     */
    Revision = 0,
    /**
     * Its time in milliseconds.
     */
    LastUpdateTime = 1,
    /**
     * The revision of the user's state; 0, which no state has, if it does not change.
     */
    UserRevision = 2,
    /**
     * The revision of the app's state.
     */
    AppRevision = 3,
    /**
     * 1 if `State` lacks the keys that JavaScript gave, else 0.
     */
    HasRest = 4,
    /**
     * The JSON text of the state of all scopes; absent if it lacks all of its keys.
     */
    State = 5,
}

/**
 * The numbers of a creation before those of its append, whose handle is not used.
 */
export enum CreationNumber {
    /**
     * The length of the JSON text of the state in UTF-16 code units, like the next five. These parts stand before
     * those of the append.
     */
    State = 0,
    /**
     * The length of the JSON text of changes that no event carries.
     */
    Delta = 1,
    /**
     * The length of the title; NaN without one, like the next three.
     */
    Title = 2,
    /**
     * The length of the JSON text of the labels.
     */
    Labels = 3,
    /**
     * The length of the JSON text of the parent.
     */
    Parent = 4,
    /**
     * The length of the JSON text of the initial state; 0 if it is the state.
     */
    InitialState = 5,
    /**
     * When the session was last updated; NaN for now.
     */
    LastUpdateTime = 6,
    /**
     * The time.
     */
    Now = 7,
    /**
     * 1 if the keys of users and apps are stored, else 0.
     */
    SharesState = 8,
    /**
     * 1 if a taken key gives `undefined`, and does not fail.
     */
    IfAbsent = 9,
    /**
     * The end of the list.
     */
    Length = 10,
}

/**
 * The numbers of a decision before those of the events to write.
 */
export enum DecisionNumber {
    /**
     * The session's new revision; 0 if it does not change, like the next two.
     */
    Session = 0,
    /**
     * The revision of the user's state.
     */
    User = 1,
    /**
     * The revision of the app's state.
     */
    App = 2,
    /**
     * The session's time in milliseconds.
     */
    LastUpdateTime = 3,
    /**
     * The revision at which the session was created.
     */
    Created = 4,
    /**
     * The end of the list.
     */
    Length = 5,
}

/**
 * A write that JavaScript carries out.
 */
export class DrivenWrite {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Begins to append events. For the arguments see `Appends`.
     */
    static append(packed: string, numbers: Float64Array | number[], texts: Array<any>, compute?: Function | null): DrivenWrite;
    /**
     * Begins to create a session. For the arguments see `Appends`.
     */
    static create(packed: string, numbers: Float64Array | number[], texts: Array<any>): DrivenWrite;
    /**
     * Computes the changes. Returns `undefined` if there is nothing to write, else a `DecisionNumber` each, and then
     * a `WrittenNumber` each for the events to write.
     *
     * - `found`: a `FoundNumber` each.
     * - `states`: the requested states of session, user and app, as one text; a missing state is
     *   empty.
     * - `rows`: the events with the ids of the write, and those changed since its revision, as
     *   `checked_rows.ts` lays them out; `undefined` if there are none.
     */
    decide(found: Float64Array | number[], states: string, rows?: Array<any> | null): Float64Array | undefined;
    /**
     * Frees the write, and returns its result as `WasmStorage` does.
     */
    finish(): any;
    /**
     * Returns which rows the decision needs: a `PlanNumber` each.
     */
    plan(): Float64Array;
    /**
     * Returns whether the write has to run again, with another plan. Nothing was written.
     */
    replan(): boolean;
    /**
     * Returns the new states of session, user and app, each empty if it does not change. Each ends
     * with a NUL.
     */
    states(): string;
    /**
     * Begins to change the states of a user and an app.
     */
    static update(app_name: string, user_id: string | null | undefined, delta: string, compute?: Function | null): DrivenWrite;
}

/**
 * The numbers of an event.
 */
export enum EventNumber {
    /**
     * The length of its id in UTF-16 code units, like the next three.
     */
    Id = 0,
    /**
     * The length of the JSON text of its delta.
     */
    Delta = 1,
    /**
     * The length of its JSON text.
     */
    Text = 2,
    /**
     * The length of its JSON text with superseded keys; 0 without one.
     */
    Whole = 3,
    /**
     * Its timestamp.
     */
    Timestamp = 4,
    /**
     * The revision of the stored event that it may replace; 0 if none may be stored, NaN if any may.
     */
    Replaces = 5,
    /**
     * 1 if it may be a marker and the storage keeps the places of markers, else 0.
     */
    MayBeMarker = 6,
    /**
     * The end of the list.
     */
    Length = 7,
}

/**
 * The numbers of the rows that a write found.
 */
export enum FoundNumber {
    /**
     * The floor of revisions.
     */
    Floor = 0,
    /**
     * The revision at which the session was created.
     */
    Created = 1,
    /**
     * The session's revision; below 0 if there is no session.
     */
    Revision = 2,
    /**
     * The session's time in milliseconds.
     */
    LastUpdateTime = 3,
    /**
     * The revision of the user's state.
     */
    UserRevision = 4,
    /**
     * The revision of the app's state.
     */
    AppRevision = 5,
    /**
     * The length of the session's state in UTF-16 code units.
     */
    SessionState = 6,
    /**
     * The length of the user's state.
     */
    UserState = 7,
}

/**
 * The numbers of a history before those of its marks, calls, responses, pauses, older invocations and asked names,
 * which follow in this order. Those from `Question` on say what is asked.
 */
export enum HistoryNumber {
    /**
     * For whom the view is: one of `READERS` in `js/core/wasm/protocol.ts`.
     */
    Reader = 0,
    /**
     * How many events it has: a mark each.
     */
    Marks = 1,
    /**
     * How many function calls.
     */
    Calls = 2,
    /**
     * How many function responses that have an id.
     */
    Responses = 3,
    /**
     * How many pauses.
     */
    Pauses = 4,
    /**
     * How many invocations that begin before the events, one number each.
     */
    Older = 5,
    /**
     * How many names of calls that are asked for, one number each.
     */
    Asked = 6,
    /**
     * One of `QUESTIONS` in `js/core/wasm/protocol.ts`.
     */
    Question = 7,
    /**
     * How many items; NaN for all.
     */
    Count = 8,
    /**
     * The index of the first known event that is no marker; NaN if all events are known.
     */
    KnownFrom = 9,
    /**
     * 1 if there are no events before these.
     */
    IsFromStart = 10,
    /**
     * One of `PLACES` in `js/core/wasm/protocol.ts`, for a page, or for the event from whose turn on branches
     * are wanted.
     */
    Place = 11,
    /**
     * The index of the event or of the compaction at that place.
     */
    PlaceEvent = 12,
    /**
     * 1 if a page follows the place.
     */
    IsAfter = 13,
    /**
     * The end of the list.
     */
    Length = 14,
}

/**
 * The numbers of an item of a view.
 */
export enum ItemNumber {
    /**
     * The index of the event, or of the compaction of a summary.
     */
    Event = 0,
    /**
     * 0 for an event. For a summary the last event of an agent that it hides plus 2, or 1 if it hides none.
     */
    Agent = 1,
    /**
     * The end of the list.
     */
    Length = 2,
}

/**
 * The numbers of the mark of an event.
 */
export enum MarkNumber {
    /**
     * One of `MARK_KINDS` in `js/core/wasm/protocol.ts`.
     */
    Kind = 0,
    /**
     * The number of its invocation; below 0 without one.
     */
    Invocation = 1,
    /**
     * Its timestamp.
     */
    Time = 2,
    /**
     * The number of the invocation that a rewind names, the start of a compaction, or the end of a compacted event.
     */
    First = 3,
    /**
     * The end of a compaction.
     */
    Second = 4,
    /**
     * A sum of `EVENT_FLAGS` in `js/core/wasm/protocol.ts`.
     */
    Flags = 5,
    /**
     * The end of the list.
     */
    Length = 6,
}

/**
 * The numbers of an event at which a node waits or goes on.
 */
export enum PauseNumber {
    /**
     * The index of the event.
     */
    Event = 0,
    /**
     * The number of the node.
     */
    Node = 1,
    /**
     * 1 if it waits, else 0.
     */
    Waits = 2,
    /**
     * The end of the list.
     */
    Length = 3,
}

/**
 * The numbers of a write's plan.
 */
export enum PlanNumber {
    /**
     * The states that it needs, as a sum of session (1), user (2) and app (4).
     */
    Scopes = 0,
    /**
     * 1 if it needs the handle's last event, and not the events with the ids of the write.
     */
    IsLocating = 1,
    /**
     * The revision after which it needs the changed events.
     */
    Since = 2,
}

/**
 * The numbers of a read of a session.
 */
export enum ReadNumber {
    /**
     * The length of the app's name in UTF-16 code units, like the next two.
     */
    AppName = 0,
    /**
     * The length of the user's id.
     */
    UserId = 1,
    /**
     * The length of the session's id.
     */
    SessionId = 2,
    /**
     * How many of the last events to read; NaN for all.
     */
    Last = 3,
    /**
     * The time from which events are read; NaN for all.
     */
    After = 4,
    /**
     * The revision after which events were written; NaN without one.
     */
    Since = 5,
}

/**
 * The numbers of a function response.
 */
export enum ResponseNumber {
    /**
     * The index of its event.
     */
    Event = 0,
    /**
     * The number of its id.
     */
    Id = 1,
    /**
     * The end of the list.
     */
    Length = 2,
}

/**
 * The numbers of a view before those of its lists, which follow in this order.
 */
export enum ViewNumber {
    /**
     * How many items it has.
     */
    Items = 0,
    /**
     * How many summarised events, one number each.
     */
    Summarised = 1,
    /**
     * How many changed parts.
     */
    Changes = 2,
    /**
     * The first event that waits plus 1, or 0.
     */
    FirstWaiting = 3,
    /**
     * Where the items begin in the whole view.
     */
    Start = 4,
    /**
     * How many items the whole view has.
     */
    Total = 5,
    /**
     * The anchor of a page's first item plus 1, or 0.
     */
    First = 6,
    /**
     * The anchor of a page's last item plus 1, or 0.
     */
    Last = 7,
    /**
     * The end of the list.
     */
    Length = 8,
}

/**
 * A storage of sessions. A method returns its result at once if the storage does, else a promise.
 */
export class WasmStorage {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Appends events to a session, all or none. For the arguments see `Appends`; over memory the
     * texts are packed. Returns the result as `js_write` lays it out.
     */
    append(packed: string, numbers: Float64Array | number[], texts?: Array<any> | null, caller?: Function | null, compute?: Function | null): any;
    /**
     * Creates a session, packed like an append; see `Appends`. If the key is taken, returns `undefined` with
     * `CreationNumber::IfAbsent`, else fails with `already_exists`.
     *
     * For `caller`, here and in other verbs, see [`JsCall`].
     */
    create(packed: string, numbers: Float64Array | number[], texts?: Array<any> | null, caller?: Function | null): any;
    /**
     * Returns the note of a new IndexedDB, or `undefined`. `change` gets it within the transaction, and
     * returns the new one, `null` to delete it, or `undefined`.
     */
    creation_note(change?: Function | null): any;
    /**
     * Deletes. Returns the floor. With `revision` it deletes a session only if it still has that revision and
     * those labels, else it returns `undefined`.
     */
    delete(request: DeleteObject, caller?: Function | null): any;
    /**
     * Changes the title and the labels of a session, see `DescriptionChange` of the library. Returns whether the
     * session exists.
     */
    describe(request: DescribeObject, caller?: Function | null): any;
    /**
     * Returns the events with these ids, or `undefined` without a session.
     */
    events(app_name: string, user_id: string, session_id: string, event_ids: Array<any>, caller?: Function | null): any;
    /**
     * Returns a session, or `undefined`. `packed` has its three names. With `ReadNumber::Since`, its events are
     * those that were written after that revision. TypeScript has checked the numbers, here and in other verbs.
     */
    get(packed: string, numbers: Float64Array | number[], caller?: Function | null): any;
    /**
     * Uses the IndexedDB of that name, which is opened when it is first needed.
     * Times are in milliseconds. For `on_open` see [`IndexedDbStorage::new`].
     */
    static indexed_db(name: string, strict: boolean, timeout: number, on_open?: Function | null): WasmStorage;
    /**
     * Returns a page of sessions, or what the list has after a place.
     */
    list(request: ListObject, caller?: Function | null): any;
    /**
     * Makes a memory of its own.
     */
    static memory(): WasmStorage;
    /**
     * Opens the storage if it can be opened, so that errors show.
     */
    open(): any;
    /**
     * Returns a page of a session's events: the first ones after the event with that id, or the last ones
     * before it. Without an id, the first or last ones of all. With `onlyMarkers`, returns the events at the places
     * of the session's markers, and the event with that id; no events if places are lost.
     */
    page(request: PageObject, caller?: Function | null): any;
    /**
     * Aborts transactions and upgrades before the browser freezes the page, or lets calls try again.
     * In between they wait.
     */
    set_page_hidden(is_hidden: boolean): void;
    /**
     * Returns the JSON object of a user's state, or of an app's.
     */
    shared_state(app_name: string, user_id?: string | null, caller?: Function | null): any;
    /**
     * Changes a user's and an app's state without an event. Returns the result as
     * `js_write` lays it out.
     */
    update(app_name: string, user_id: string | null | undefined, delta: string, caller?: Function | null, compute?: Function | null): any;
    /**
     * Appends to several sessions over IndexedDB, in one transaction. Returns a promise of
     * an outcome for each append. If the transaction fails, the promise
     * rejects, and nothing is stored.
     */
    write_all(packed: string, numbers: Float64Array | number[], texts: Array<any>, callers: Array<any>): any;
}

/**
 * The numbers of an event to write.
 */
export enum WrittenNumber {
    /**
     * Its index among the events of the write.
     */
    Position = 0,
    /**
     * The revision of its first append.
     */
    Seq = 1,
    /**
     * Its revision.
     */
    Revision = 2,
    /**
     * The end of the list.
     */
    Length = 3,
}

/**
 * Describes an artifact that could not be loaded: there is no service, or it `failed`.
 */
export function artifact_message(text: string, position: number, failed: boolean): string;

/**
 * Answers a question about a history: one number for each `HistoryNumber`, and then its lists.
 */
export function ask_history(history: Float64Array | number[]): Uint32Array;

/**
 * Deletes an IndexedDB, even if tabs with this package have it open. Waits up to `timeout`
 * milliseconds for other connections.
 */
export function delete_database(name: string, timeout: number): any;

/**
 * Describes the placeholders without a value, given by their index. `keys` are the keys that have a
 * value.
 */
export function describe_missing(text: string, positions: Uint32Array | number[], keys: Array<any>): any;

/**
 * Whether so many bytes can be allocated, with some to spare.
 */
export function has_room(bytes: number): boolean;

/**
 * Merges a state with those of its user and its app into one JSON object, with prefixes. `record`
 * names the first state in an error.
 *
 * The optional texts come first: TypeScript then requires each of them.
 */
export function merge_states(user: string | null | undefined, app: string | null | undefined, state: string, record: string): string;

/**
 * Returns `[start, end, nameStart, nameEnd, kind, backslashes]` for each placeholder, in UTF-16
 * code units. In `kind`, bit 0 means optional and bit 1 means artifact.
 */
export function scan_template(text: string): Uint32Array;

/** The coders of UTF-8, set once before the module is instantiated. */
export function setTextCoders(
    newDecoder: () => { decode(bytes: Uint8Array): string },
    encoder: {
        encode(text: string): Uint8Array;
        encodeInto(text: string, view: Uint8Array): { read: number; written: number };
    },
): void;

/** Instantiates the module; `undefined` returns the exports of the existing instance. */
export function initSync(module: { module: object } | undefined): { readonly memory: { readonly buffer: ArrayBuffer } };
