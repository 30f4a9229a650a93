/* tslint:disable */
/* eslint-disable */

/**
 * A session service. A method answers at once where the storage does, else with a promise.
 */
export class SessionCore {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Appends events, `[id, timestamp, delta, text]` each, all or none; behind them, where keys of the
     * delta were superseded, the text with them. `created` is NaN for a
     * handle that we did not give out; then `last_event_id` is what it is known by; below 0 there is
     * no handle. Answers as `appended_to_javascript` lays it out.
     */
    append_events(app_name: string, user_id: string, session_id: string, created: number, revision: number, last_event_id: string | null | undefined, policy: number, now: number, events: Array<any>): any;
    /**
     * [`SessionCore::append_events`] for what most appends are: one event, over memory, through a
     * handle of ours. All strings come in one, since each that crosses costs more than its bytes: app,
     * user, session, event id, delta and text, with the lengths of all but the last in UTF-16 code
     * units. A number comes back, as an array costs more than the append: the new revision, negative
     * where the session's time is still `time`, else it is the event's; 0 where there is more to tell,
     * or why it did not happen, which [`SessionCore::more_of_append`] does.
     */
    append_packed(packed: string, app_name: number, user_id: number, session_id: number, event_id: number, delta: number, created: number, revision: number, policy: number, now: number, timestamp: number, time: number): number;
    /**
     * Answers with a session, as `session_to_javascript` lays it out.
     */
    create(app_name: string, user_id: string, session_id: string, state: string, now: number, if_absent: boolean): any;
    /**
     * Deletes a session; where none is named, a user's or an app's state, and a user's sessions if
     * told to. An id that is none names no session. Answers with the floor, or `undefined` where the
     * storage cannot tell.
     */
    delete(app_name: string, user_id: string | null | undefined, session_id: string | null | undefined, with_sessions: boolean): any;
    /**
     * Lets go of the connection, if there is one; the next call makes another.
     */
    disconnect(): void;
    /**
     * Over a JavaScript object with the five verbs, behind its bridge.
     */
    static foreign(bridge: any): SessionCore;
    /**
     * Answers with a session, as `session_to_javascript` lays it out, or `undefined`.
     */
    get(app_name: string, user_id: string, session_id: string, num_recent_events?: number | null, after_timestamp?: number | null): any;
    /**
     * Over the IndexedDB of that name, which is opened when it is needed. Times in milliseconds; for
     * `on_open` see [`IndexedDbStorage::new`].
     */
    static indexed_db(name: string, strict: boolean, timeout: number, blocked_timeout: number, on_open?: Function | null): SessionCore;
    /**
     * Answers with a page, as `listing_to_javascript` lays it out.
     */
    list(app_name: string, user_id: string | null | undefined, descending: boolean, limit: number | null | undefined, offset: number | null | undefined, page: number | null | undefined, with_total: boolean): any;
    /**
     * Over memory of its own.
     */
    static memory(): SessionCore;
    /**
     * What the last [`SessionCore::append_packed`] did, as `appended_to_javascript` lays it out.
     */
    more_of_append(): any;
    /**
     * Opens the storage, where it is one to be opened, so that what is wrong is known.
     */
    open(): any;
    /**
     * Answers with the JSON object of a user's state, or an app's.
     */
    scope_state(app_name: string, user_id?: string | null): any;
    /**
     * Whether somebody wants to know what a write changes beside the session.
     */
    tell_changes(is_heard: boolean): void;
    /**
     * Changes a user's and an app's state without an event. Answers as `scopes_to_javascript` lays
     * it out.
     */
    update(app_name: string, user_id: string | null | undefined, delta: string): any;
}

/**
 * What to say of an artifact that could not be loaded: no service, or one that failed.
 */
export function artifact_message(text: string, position: number, failed: boolean): string;

/**
 * Begins an append to a session behind a bridge, through a handle of ours, or with `created` below 0
 * through none. `packed`: the event's id, of so many UTF-16 code units, and its delta. Answers with its
 * place times 16, plus what it wants to know: the states of session (1), user (2) and app (4), and what
 * was changed since the revision (8).
 */
export function begin_append(packed: string, id: number, text: any, created: number, revision: number, policy: number, now: number, timestamp: number): number;

/**
 * Decides what a write writes, and answers whether it is anything: what, is asked for before anything
 * else is decided.
 *
 * `revision` is below 0 where there is no session. `states`: those of session, user and app as far as
 * they are there and were asked for, else empty, with the lengths of the first two in UTF-16 code units.
 * `rows`: the events, and the changed ones, if there are any, as `checked_rows.ts` has them.
 */
export function decide(place: number, floor: number, created: number, revision: number, time: number, user_revision: number, app_revision: number, states: string, session: number, user: number, rows?: Array<any> | null): boolean;

/**
 * The events, as `checked_rows.ts` has them.
 */
export function decided_events(): Array<any>;

/**
 * The new revisions of session (0), user (1) and app (2), 0 where they do not change; the session's time
 * (3).
 */
export function decided_number(which: number): number;

/**
 * The states of session, user and app, each empty where it does not change, with a NUL behind it, which
 * no JSON has.
 */
export function decided_states(): string;

/**
 * Deletes an IndexedDB, also one that tabs of ours have open; waits so many milliseconds for others.
 */
export function delete_database(name: string, blocked_timeout: number): Promise<any>;

/**
 * What to say of the placeholders (by position among all) that have no value, `keys` being the
 * keys that have one: `{message, missing: [{name, offset, suggestions}]}`.
 */
export function describe_missing(text: string, positions: Uint32Array | number[], keys: Array<any>): any;

/**
 * Ends an append that was begun here. Answers with what it did to the session of that id, as
 * `appended_to_javascript` lays it out; with nothing if none is named. `null`: it wrote nothing yet, since it needs
 * the states; `append_events` asks for them.
 */
export function end_append(place: number, session_id?: string | null): any;

/**
 * Whether so many bytes can still be allocated, with some to spare.
 */
export function has_room(bytes: number): boolean;

/**
 * Whether two JSON texts say the same.
 */
export function same_json(one: string, other: string): boolean;

/**
 * For each placeholder `[start, end, nameStart, nameEnd, kind, backslashes]` in UTF-16 code
 * units; `kind` has bit 0 set for an optional one and bit 1 for an artifact.
 */
export function scan_template(text: string): Uint32Array;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_sessioncore_free: (a: number, b: number) => void;
    readonly artifact_message: (a: number, b: number, c: number, d: number) => [number, number];
    readonly begin_append: (a: number, b: number, c: number, d: any, e: number, f: number, g: number, h: number, i: number) => [number, number, number];
    readonly decide: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number) => [number, number, number];
    readonly decided_events: () => any;
    readonly decided_number: (a: number) => number;
    readonly decided_states: () => [number, number];
    readonly delete_database: (a: number, b: number, c: number) => any;
    readonly describe_missing: (a: number, b: number, c: number, d: number, e: any) => any;
    readonly end_append: (a: number, b: number, c: number) => [number, number, number];
    readonly has_room: (a: number) => number;
    readonly same_json: (a: number, b: number, c: number, d: number) => number;
    readonly scan_template: (a: number, b: number) => [number, number];
    readonly sessioncore_append_events: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number, n: any) => [number, number, number];
    readonly sessioncore_append_packed: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number, n: number) => number;
    readonly sessioncore_create: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number) => [number, number, number];
    readonly sessioncore_delete: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number) => [number, number, number];
    readonly sessioncore_disconnect: (a: number) => void;
    readonly sessioncore_foreign: (a: any) => number;
    readonly sessioncore_get: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number) => [number, number, number];
    readonly sessioncore_indexed_db: (a: number, b: number, c: number, d: number, e: number, f: number) => number;
    readonly sessioncore_list: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number) => [number, number, number];
    readonly sessioncore_memory: () => number;
    readonly sessioncore_more_of_append: (a: number) => [number, number, number];
    readonly sessioncore_open: (a: number) => [number, number, number];
    readonly sessioncore_scope_state: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly sessioncore_tell_changes: (a: number, b: number) => void;
    readonly sessioncore_update: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
    readonly wasm_bindgen__convert__closures_____invoke__h20118d167692a3ce: (a: number, b: number, c: any, d: any) => void;
    readonly wasm_bindgen__convert__closures_____invoke__hd03ea6924eea3427: (a: number, b: number, c: any) => [number, number];
    readonly wasm_bindgen__convert__closures_____invoke__h029af6d614e5b697: (a: number, b: number, c: any) => void;
    readonly wasm_bindgen__convert__closures_____invoke__haa80543a841e8397: (a: number, b: number) => void;
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __wbindgen_destroy_closure: (a: number, b: number) => void;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
