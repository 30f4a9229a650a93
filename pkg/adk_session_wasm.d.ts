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
export interface PlaceObject {
    readonly lastUpdateTime?: number | undefined;
    readonly createTime?: number | undefined;
    readonly sessionId: string;
    readonly userId: string;
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
export interface DeleteObject {
    readonly what: 'session' | 'user' | 'userState' | 'appState';
    readonly key: KeyObject;
    readonly revision?: number | undefined;
    readonly labels?: string | undefined;
}



/**
 * A write that JavaScript carries out.
 */
export class CoreWrite {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Begins to append events. For the arguments see `Appends`.
     */
    static append(packed: string, numbers: Float64Array | number[], texts: Array<any>, compute?: Function | null): CoreWrite;
    /**
     * Begins to create a session. For the arguments see `SessionCore::create`.
     */
    static create(packed: string, numbers: Float64Array | number[], texts: Array<any>, state: string, delta: string, shares_state: boolean, if_absent: boolean): CoreWrite;
    /**
     * Computes the changes. Returns `undefined` if there is nothing to write, else numbers: the new
     * revisions of session, user and app, each 0 if it does not change; the session's time (ms); the
     * revision at which it was created; `index, seq, revision` of each event to write.
     *
     * - `revision`: below 0 if there is no session.
     * - `states`: the requested states of session, user and app, as one text; a missing state is
     *   empty. `session` and `user` are the lengths of the first two in UTF-16 code units.
     * - `rows`: the events with the ids of the write, and those changed since its revision, as
     *   `checked_rows.ts` lays them out; `undefined` if there are none.
     */
    decide(floor: number, created: number, revision: number, time: number, user_revision: number, app_revision: number, states: string, session: number, user: number, rows?: Array<any> | null): Float64Array | undefined;
    /**
     * Frees the write, and returns its result as `SessionCore` does.
     */
    finish(): any;
    /**
     * Returns which rows the decision needs, as three numbers: the states as a sum of session (1),
     * user (2) and app (4); 1 if it needs the handle's last event, and not the events with the ids of
     * the write; the revision after which it needs the changed events.
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
    static update(app_name: string, user_id: string | null | undefined, delta: string, compute?: Function | null): CoreWrite;
}

/**
 * A storage of sessions. A method returns its result at once if the storage does, else a promise.
 */
export class SessionCore {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Appends events to a session, all or none. For the arguments see `Appends`; over memory the
     * texts are packed. Returns the result as `js_write` lays it out.
     */
    append(packed: string, numbers: Float64Array | number[], texts?: Array<any> | null, caller?: Function | null, compute?: Function | null): any;
    /**
     * Appends to several sessions over IndexedDB, in one transaction. Returns a promise of
     * an outcome for each append. If the transaction fails, the promise
     * rejects, and nothing is stored.
     */
    append_many(packed: string, numbers: Float64Array | number[], texts: Array<any>, callers: Array<any>): any;
    /**
     * Creates a session, packed like an append; see `Appends`. If the key is taken, returns `undefined` with `if_absent`, else fails with `already_exists`.
     *
     * For `caller`, here and in other verbs, see [`JsCall`].
     */
    create(packed: string, numbers: Float64Array | number[], texts: Array<any> | null | undefined, state: string, delta: string, shares_state: boolean, title: string | null | undefined, labels: string | null | undefined, parent: string | null | undefined, initial_state: string | null | undefined, if_absent: boolean, caller?: Function | null): any;
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
     * Changes the title and the labels of a session, see [`DescriptionChange`]. Returns whether the session
     * exists.
     */
    describe(request: DescribeObject, caller?: Function | null): any;
    /**
     * Returns the events with these ids, or `undefined` without a session.
     */
    events(app_name: string, user_id: string, session_id: string, event_ids: Array<any>, caller?: Function | null): any;
    /**
     * Returns a session, or `undefined`. With `since`, its events
     * are those that were written after that revision. TypeScript has checked the numbers, here and in
     * other verbs.
     */
    get(app_name: string, user_id: string, session_id: string, num_recent_events?: number | null, after_timestamp?: number | null, since?: number | null, caller?: Function | null): any;
    /**
     * Uses the IndexedDB of that name, which is opened when it is first needed.
     * Times are in milliseconds. For `on_open` see [`IndexedDbStorage::new`].
     */
    static indexed_db(name: string, strict: boolean, timeout: number, on_open?: Function | null): SessionCore;
    /**
     * Returns a page of sessions, or what the list has after a place.
     */
    list(request: ListObject, caller?: Function | null): any;
    /**
     * Makes a memory of its own.
     */
    static memory(): SessionCore;
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
}

/**
 * Describes an artifact that could not be loaded: there is no service, or it `failed`.
 */
export function artifact_message(text: string, position: number, failed: boolean): string;

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
 * Computes a view. `marks` has [`MARK`] numbers for each event, `events` has [`EVENT`]; the other lists
 * have the numbers of each function call, response and pause, in order.
 *
 * Returns five numbers: of items, of summarised events, of changed parts, of events that invocations wait
 * at, and the first event that waits plus 1 or 0. Then of each item three numbers: the event, 0 and 0; or the compaction of a summary, 1 if
 * no agent's event is hidden by it, else the index of the last one plus 2, and the event that it follows
 * plus 1 or 0. Then the summarised events. Then of each changed part 0 for a call or 1 for a response,
 * its index, and the suffix of its id. Then the events that invocations wait at.
 */
export function history_view(marks: Float64Array | number[], events: Uint32Array | number[], calls: Uint32Array | number[], responses: Uint32Array | number[], pauses: Uint32Array | number[], reader: number): Uint32Array;

/**
 * Merges a state with those of its user and its app into one JSON object, with prefixes. `record`
 * names the first state in an error.
 *
 * The optional texts come first: TypeScript then requires each of them.
 */
export function merge_states(user: string | null | undefined, app: string | null | undefined, state: string, record: string): string;

/**
 * Whether two JSON texts are equal as JSON values.
 */
export function same_json(one: string, other: string): boolean;

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
