/* @ts-self-types="./adk_session_wasm.d.ts" */

/**
 * A write that JavaScript carries out.
 */
export class DrivenWrite {
    static __wrap(ptr) {
        const obj = Object.create(DrivenWrite.prototype);
        obj.__wbg_ptr = ptr;
        DrivenWriteFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        DrivenWriteFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_drivenwrite_free(ptr, 0);
    }
    /**
     * Begins to append events. For the arguments see `Appends`.
     * @param {string} packed
     * @param {Float64Array | number[]} numbers
     * @param {Array<any>} texts
     * @param {Function | null} [compute]
     * @returns {DrivenWrite}
     */
    static append(packed, numbers, texts, compute) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(packed, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(numbers, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.drivenwrite_append(ptr0, len0, ptr1, len1, texts, isLikeNone(compute) ? 0 : addToExternrefTable0(compute));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return DrivenWrite.__wrap(ret[0]);
    }
    /**
     * Begins to create a session. For the arguments see `Appends`.
     * @param {string} packed
     * @param {Float64Array | number[]} numbers
     * @param {Array<any>} texts
     * @returns {DrivenWrite}
     */
    static create(packed, numbers, texts) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(packed, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(numbers, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.drivenwrite_create(ptr0, len0, ptr1, len1, texts);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return DrivenWrite.__wrap(ret[0]);
    }
    /**
     * Computes the changes. Returns `undefined` if there is nothing to write, else a `DecisionNumber` each, and then
     * a `WrittenNumber` each for the events to write.
     *
     * - `found`: a `FoundNumber` each.
     * - `states`: the requested states of session, user and app, as one text; a missing state is
     *   empty.
     * - `rows`: the events with the ids of the write, and those changed since its revision, as
     *   `checked_rows.ts` lays them out; `undefined` if there are none.
     * @param {Float64Array | number[]} found
     * @param {string} states
     * @param {Array<any> | null} [rows]
     * @returns {Float64Array | undefined}
     */
    decide(found, states, rows) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passArrayF64ToWasm0(found, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(states, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 8, 8); }
            throw e;
        }
        const ret = wasm.drivenwrite_decide(this.__wbg_ptr, ptr0, len0, ptr1, len1, isLikeNone(rows) ? 0 : addToExternrefTable0(rows));
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        let v3;
        if (ret[0] !== 0) {
            v3 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
            wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        }
        return v3;
    }
    /**
     * Frees the write, and returns its result as `WasmStorage` does.
     * @returns {any}
     */
    finish() {
        const ptr = this.__destroy_into_raw();
        const ret = wasm.drivenwrite_finish(ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Returns which rows the decision needs: a `PlanNumber` each.
     * @returns {Float64Array}
     */
    plan() {
        const ret = wasm.drivenwrite_plan(this.__wbg_ptr);
        var v1 = getArrayF64FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 8, 8);
        return v1;
    }
    /**
     * Returns whether the write has to run again, with another plan. Nothing was written.
     * @returns {boolean}
     */
    replan() {
        const ret = wasm.drivenwrite_replan(this.__wbg_ptr);
        return ret !== 0;
    }
    /**
     * Returns the new states of session, user and app, each empty if it does not change. Each ends
     * with a NUL.
     * @returns {string}
     */
    states() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.drivenwrite_states(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Begins to change the states of a user and an app.
     * @param {string} app_name
     * @param {string | null | undefined} user_id
     * @param {string} delta
     * @param {Function | null} [compute]
     * @returns {DrivenWrite}
     */
    static update(app_name, user_id, delta, compute) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passStringToWasm0(app_name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = isLikeNone(user_id) ? 0 : passStringToWasm0(user_id, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passStringToWasm0(delta, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.drivenwrite_update(ptr0, len0, ptr1, len1, ptr2, len2, isLikeNone(compute) ? 0 : addToExternrefTable0(compute));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return DrivenWrite.__wrap(ret[0]);
    }
}
if (Symbol.dispose) DrivenWrite.prototype[Symbol.dispose] = DrivenWrite.prototype.free;

/**
 * A storage of sessions. A method returns its result at once if the storage does, else a promise.
 */
export class WasmStorage {
    static __wrap(ptr) {
        const obj = Object.create(WasmStorage.prototype);
        obj.__wbg_ptr = ptr;
        WasmStorageFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        WasmStorageFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_wasmstorage_free(ptr, 0);
    }
    /**
     * Appends events to a session, all or none. For the arguments see `Appends`; over memory the
     * texts are packed. Returns the result as `js_write` lays it out.
     * @param {string} packed
     * @param {Float64Array | number[]} numbers
     * @param {Array<any> | null} [texts]
     * @param {Function | null} [caller]
     * @param {Function | null} [compute]
     * @returns {any}
     */
    append(packed, numbers, texts, caller, compute) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(packed, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(numbers, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_append(this.__wbg_ptr, ptr0, len0, ptr1, len1, isLikeNone(texts) ? 0 : addToExternrefTable0(texts), isLikeNone(caller) ? 0 : addToExternrefTable0(caller), isLikeNone(compute) ? 0 : addToExternrefTable0(compute));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Creates a session, packed like an append; see `Appends`. If the key is taken, returns `undefined` with
     * `CreationNumber::IfAbsent`, else fails with `already_exists`.
     *
     * For `caller`, here and in other verbs, see [`JsCall`].
     * @param {string} packed
     * @param {Float64Array | number[]} numbers
     * @param {Array<any> | null} [texts]
     * @param {Function | null} [caller]
     * @returns {any}
     */
    create(packed, numbers, texts, caller) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(packed, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(numbers, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_create(this.__wbg_ptr, ptr0, len0, ptr1, len1, isLikeNone(texts) ? 0 : addToExternrefTable0(texts), isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Returns the note of a new IndexedDB, or `undefined`. `change` gets it within the transaction, and
     * returns the new one, `null` to delete it, or `undefined`.
     * @param {Function | null} [change]
     * @returns {any}
     */
    creation_note(change) {
        const ret = wasm.wasmstorage_creation_note(this.__wbg_ptr, isLikeNone(change) ? 0 : addToExternrefTable0(change));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Deletes. Returns the floor. With `revision` it deletes a session only if it still has that revision and
     * those labels, else it returns `undefined`.
     * @param {DeleteObject} request
     * @param {Function | null} [caller]
     * @returns {any}
     */
    delete(request, caller) {
        const ret = wasm.wasmstorage_delete(this.__wbg_ptr, request, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Changes the title and the labels of a session, see `DescriptionChange` of the library. Returns whether the
     * session exists.
     * @param {DescribeObject} request
     * @param {Function | null} [caller]
     * @returns {any}
     */
    describe(request, caller) {
        const ret = wasm.wasmstorage_describe(this.__wbg_ptr, request, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Returns the events with these ids, or `undefined` without a session.
     * @param {string} app_name
     * @param {string} user_id
     * @param {string} session_id
     * @param {Array<any>} event_ids
     * @param {Function | null} [caller]
     * @returns {any}
     */
    events(app_name, user_id, session_id, event_ids, caller) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passStringToWasm0(app_name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(user_id, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passStringToWasm0(session_id, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_events(this.__wbg_ptr, ptr0, len0, ptr1, len1, ptr2, len2, event_ids, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Returns a session, or `undefined`. `packed` has its three names. With `ReadNumber::Since`, its events are
     * those that were written after that revision. TypeScript has checked the numbers, here and in other verbs.
     * @param {string} packed
     * @param {Float64Array | number[]} numbers
     * @param {Function | null} [caller]
     * @returns {any}
     */
    get(packed, numbers, caller) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(packed, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(numbers, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_get(this.__wbg_ptr, ptr0, len0, ptr1, len1, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Uses the IndexedDB of that name, which is opened when it is first needed.
     * Times are in milliseconds. For `on_open` see [`IndexedDbStorage::new`].
     * @param {string} name
     * @param {boolean} strict
     * @param {number} timeout
     * @param {Function | null} [on_open]
     * @returns {WasmStorage}
     */
    static indexed_db(name, strict, timeout, on_open) {
        const val2 = +strict;
        const val3 = +timeout;
        const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.wasmstorage_indexed_db(ptr0, len0, val2, val3, isLikeNone(on_open) ? 0 : addToExternrefTable0(on_open));
        return WasmStorage.__wrap(ret);
    }
    /**
     * Returns a page of sessions, or what the list has after a place.
     * @param {ListObject} request
     * @param {Function | null} [caller]
     * @returns {any}
     */
    list(request, caller) {
        const ret = wasm.wasmstorage_list(this.__wbg_ptr, request, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Makes a memory of its own.
     * @returns {WasmStorage}
     */
    static memory() {
        const ret = wasm.wasmstorage_memory();
        return WasmStorage.__wrap(ret);
    }
    /**
     * Opens the storage if it can be opened, so that errors show.
     * @returns {any}
     */
    open() {
        const ret = wasm.wasmstorage_open(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Returns a page of a session's events: the first ones after the event with that id, or the last ones
     * before it. Without an id, the first or last ones of all. With `onlyMarkers`, returns the events at the places
     * of the session's markers, and the event with that id; no events if places are lost.
     * @param {PageObject} request
     * @param {Function | null} [caller]
     * @returns {any}
     */
    page(request, caller) {
        const ret = wasm.wasmstorage_page(this.__wbg_ptr, request, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Aborts transactions and upgrades before the browser freezes the page, or lets calls try again.
     * In between they wait.
     * @param {boolean} is_hidden
     */
    set_page_hidden(is_hidden) {
        wasm.wasmstorage_set_page_hidden(this.__wbg_ptr, is_hidden);
    }
    /**
     * Returns the JSON object of a user's state, or of an app's.
     * @param {string} app_name
     * @param {string | null} [user_id]
     * @param {Function | null} [caller]
     * @returns {any}
     */
    shared_state(app_name, user_id, caller) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(app_name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = isLikeNone(user_id) ? 0 : passStringToWasm0(user_id, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_shared_state(this.__wbg_ptr, ptr0, len0, ptr1, len1, isLikeNone(caller) ? 0 : addToExternrefTable0(caller));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Changes a user's and an app's state without an event. Returns the result as
     * `js_write` lays it out.
     * @param {string} app_name
     * @param {string | null | undefined} user_id
     * @param {string} delta
     * @param {Function | null} [caller]
     * @param {Function | null} [compute]
     * @returns {any}
     */
    update(app_name, user_id, delta, caller, compute) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passStringToWasm0(app_name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = isLikeNone(user_id) ? 0 : passStringToWasm0(user_id, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passStringToWasm0(delta, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_update(this.__wbg_ptr, ptr0, len0, ptr1, len1, ptr2, len2, isLikeNone(caller) ? 0 : addToExternrefTable0(caller), isLikeNone(compute) ? 0 : addToExternrefTable0(compute));
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Appends to several sessions over IndexedDB, in one transaction. Returns a promise of
     * an outcome for each append. If the transaction fails, the promise
     * rejects, and nothing is stored.
     * @param {string} packed
     * @param {Float64Array | number[]} numbers
     * @param {Array<any>} texts
     * @param {Array<any>} callers
     * @returns {any}
     */
    write_all(packed, numbers, texts, callers) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(packed, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(numbers, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.wasmstorage_write_all(this.__wbg_ptr, ptr0, len0, ptr1, len1, texts, callers);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
}
if (Symbol.dispose) WasmStorage.prototype[Symbol.dispose] = WasmStorage.prototype.free;

/**
 * Describes an artifact that could not be loaded: there is no service, or it `failed`.
 * @param {string} text
 * @param {number} position
 * @param {boolean} failed
 * @returns {string}
 */
export function artifact_message(text, position, failed) {
    let deferred4_0;
    let deferred4_1;
    try {
        const val2 = +position;
        const val3 = +failed;
        const ptr0 = passStringToWasm0(text, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.artifact_message(ptr0, len0, val2, val3);
        deferred4_0 = ret[0];
        deferred4_1 = ret[1];
        return getStringFromWasm0(ret[0], ret[1]);
    } finally {
        wasm.__wbindgen_free(deferred4_0, deferred4_1, 1);
    }
}

/**
 * Answers a question about a history: one number for each `HistoryNumber`, and then its lists.
 * @param {Float64Array | number[]} history
 * @returns {Uint32Array}
 */
export function ask_history(history) {
    const ptr0 = passArrayF64ToWasm0(history, wasm.__wbindgen_malloc);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.ask_history(ptr0, len0);
    var v2 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
    wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
    return v2;
}

/**
 * Deletes an IndexedDB, even if tabs with this package have it open. Waits up to `timeout`
 * milliseconds for other connections.
 * @param {string} name
 * @param {number} timeout
 * @returns {any}
 */
export function delete_database(name, timeout) {
    const val2 = +timeout;
    const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.delete_database(ptr0, len0, val2);
    if (ret[2]) {
        throw takeFromExternrefTable0(ret[1]);
    }
    return takeFromExternrefTable0(ret[0]);
}

/**
 * Describes the placeholders without a value, given by their index. `keys` are the keys that have a
 * value.
 * @param {string} text
 * @param {Uint32Array | number[]} positions
 * @param {Array<any>} keys
 * @returns {any}
 */
export function describe_missing(text, positions, keys) {
    let ptr0, len0, ptr1, len1;
    try {
        ptr0 = passStringToWasm0(text, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        len0 = WASM_VECTOR_LEN;
        ptr1 = passArray32ToWasm0(positions, wasm.__wbindgen_malloc);
        len1 = WASM_VECTOR_LEN;
    } catch (e) {
        if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 4, 4); }
        if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
        throw e;
    }
    const ret = wasm.describe_missing(ptr0, len0, ptr1, len1, keys);
    return ret;
}

/**
 * Whether so many bytes can be allocated, with some to spare.
 * @param {number} bytes
 * @returns {boolean}
 */
export function has_room(bytes) {
    const ret = wasm.has_room(bytes);
    return ret !== 0;
}

/**
 * Merges a state with those of its user and its app into one JSON object, with prefixes. `record`
 * names the first state in an error.
 *
 * The optional texts come first: TypeScript then requires each of them.
 * @param {string | null | undefined} user
 * @param {string | null | undefined} app
 * @param {string} state
 * @param {string} record
 * @returns {string}
 */
export function merge_states(user, app, state, record) {
    let deferred6_0;
    let deferred6_1;
    try {
        let ptr0, len0, ptr1, len1, ptr2, len2, ptr3, len3;
        try {
            ptr0 = isLikeNone(user) ? 0 : passStringToWasm0(user, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = isLikeNone(app) ? 0 : passStringToWasm0(app, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passStringToWasm0(state, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len2 = WASM_VECTOR_LEN;
            ptr3 = passStringToWasm0(record, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len3 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr3) { wasm.__wbindgen_free(ptr3, len3 * 1, 1); }
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.merge_states(ptr0, len0, ptr1, len1, ptr2, len2, ptr3, len3);
        var ptr5 = ret[0];
        var len5 = ret[1];
        if (ret[3]) {
            ptr5 = 0; len5 = 0;
            throw takeFromExternrefTable0(ret[2]);
        }
        deferred6_0 = ptr5;
        deferred6_1 = len5;
        return getStringFromWasm0(ptr5, len5);
    } finally {
        wasm.__wbindgen_free(deferred6_0, deferred6_1, 1);
    }
}

/**
 * Returns `[start, end, nameStart, nameEnd, kind, backslashes]` for each placeholder, in UTF-16
 * code units. In `kind`, bit 0 means optional and bit 1 means artifact.
 * @param {string} text
 * @returns {Uint32Array}
 */
export function scan_template(text) {
    const ptr0 = passStringToWasm0(text, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.scan_template(ptr0, len0);
    var v2 = getArrayU32FromWasm0(ret[0], ret[1]).slice();
    wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
    return v2;
}
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        __wbg_Array_0000000000000000: function(arg0, arg1, arg2, arg3, arg4) {
            const ret = Array(arg0, arg1, arg2, arg3, arg4);
            return ret;
        },
        __wbg_Number_0000000000000000: function(arg0, arg1) {
            const ret = Number(getStringFromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_Number_0000000000000001: function(arg0) {
            const ret = Number(arg0);
            return ret;
        },
        __wbg___wbindgen_is_function_0000000000000000: function(arg0) {
            const ret = typeof(arg0) === 'function';
            return ret;
        },
        __wbg___wbindgen_is_null_0000000000000000: function(arg0) {
            const ret = arg0 === null;
            return ret;
        },
        __wbg___wbindgen_is_object_0000000000000000: function(arg0) {
            const val = arg0;
            const ret = typeof(val) === 'object' && val !== null;
            return ret;
        },
        __wbg___wbindgen_is_string_0000000000000000: function(arg0) {
            const ret = typeof(arg0) === 'string';
            return ret;
        },
        __wbg___wbindgen_is_undefined_0000000000000000: function(arg0) {
            const ret = arg0 === undefined;
            return ret;
        },
        __wbg___wbindgen_jsval_eq_0000000000000000: function(arg0, arg1) {
            const ret = arg0 === arg1;
            return ret;
        },
        __wbg___wbindgen_number_get_0000000000000000: function(arg0, arg1) {
            const obj = arg1;
            const ret = typeof(obj) === 'number' ? obj : undefined;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg___wbindgen_string_get_0000000000000000: function(arg0, arg1) {
            const obj = arg1;
            const ret = typeof(obj) === 'string' ? obj : undefined;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg___wbindgen_throw_0000000000000000: function(arg0, arg1) {
            throw new Error(getStringFromWasm0(arg0, arg1));
        },
        __wbg__wbg_cb_unref_0000000000000000: function(arg0) {
            arg0._wbg_cb_unref();
        },
        __wbg_abort_0000000000000000: function() { return handleError(function (arg0) {
            arg0.abort();
        }, arguments); },
        __wbg_addEventListener_0000000000000000: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            arg0.addEventListener(getStringFromWasm0(arg1, arg2), arg3);
        }, arguments); },
        __wbg_add_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.add(arg1);
            return ret;
        }, arguments); },
        __wbg_advance_0000000000000000: function() { return handleError(function (arg0, arg1) {
            arg0.advance(arg1 >>> 0);
        }, arguments); },
        __wbg_after_0000000000000000: function(arg0) {
            const ret = arg0.after;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_appName_0000000000000000: function(arg0, arg1) {
            const ret = arg1.appName;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_apply_0000000000000000: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            try {
                var state0 = {a: arg0, b: arg1};
                var cb0 = () => {
                    const a = state0.a;
                    state0.a = 0;
                    try {
                        return wasm_bindgen__convert__closures_____invoke__h987f6c2567c2ce9e(a, state0.b, );
                    } finally {
                        state0.a = a;
                    }
                };
                const ret = Reflect.apply(cb0, arg2, arg3);
                return ret;
            } finally {
                state0.a = 0;
            }
        }, arguments); },
        __wbg_bind_0000000000000000: function(arg0, arg1) {
            const ret = arg0.bind(arg1);
            return ret;
        },
        __wbg_bound_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = IDBKeyRange.bound(arg0, arg1);
            return ret;
        }, arguments); },
        __wbg_bound_0000000000000001: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            const ret = IDBKeyRange.bound(arg0, arg1, arg2 !== 0, arg3 !== 0);
            return ret;
        }, arguments); },
        __wbg_call_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.call(arg1);
            return ret;
        }, arguments); },
        __wbg_call_0000000000000001: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.call(arg1, arg2);
            return ret;
        }, arguments); },
        __wbg_charCodeAt_0000000000000000: function(arg0, arg1) {
            const ret = arg0.charCodeAt(arg1 >>> 0);
            return ret;
        },
        __wbg_clearTimeout_0000000000000000: function() { return handleError(function (arg0) {
            clearTimeout(arg0);
        }, arguments); },
        __wbg_close_0000000000000000: function(arg0) {
            arg0.close();
        },
        __wbg_commit_0000000000000000: function() { return handleError(function (arg0) {
            arg0.commit();
        }, arguments); },
        __wbg_concat_0000000000000000: function(arg0, arg1) {
            const ret = arg0.concat(arg1);
            return ret;
        },
        __wbg_count_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.count(arg1);
            return ret;
        }, arguments); },
        __wbg_createIndex_0000000000000000: function() { return handleError(function (arg0, arg1, arg2, arg3, arg4) {
            const ret = arg0.createIndex(getStringFromWasm0(arg1, arg2), arg3, arg4);
            return ret;
        }, arguments); },
        __wbg_createObjectStore_0000000000000000: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            const ret = arg0.createObjectStore(getStringFromWasm0(arg1, arg2), arg3);
            return ret;
        }, arguments); },
        __wbg_createTime_0000000000000000: function(arg0, arg1) {
            const ret = arg1.createTime;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg_create_0000000000000000: function(arg0) {
            const ret = Object.create(arg0);
            return ret;
        },
        __wbg_deleteDatabase_0000000000000000: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.deleteDatabase(getStringFromWasm0(arg1, arg2));
            return ret;
        }, arguments); },
        __wbg_delete_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.delete(arg1);
            return ret;
        }, arguments); },
        __wbg_direction_0000000000000000: function(arg0, arg1) {
            const ret = arg1.direction;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_eventId_0000000000000000: function(arg0, arg1) {
            const ret = arg1.eventId;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_flat_0000000000000000: function(arg0, arg1) {
            const ret = arg0.flat(arg1);
            return ret;
        },
        __wbg_from_0000000000000000: function(arg0) {
            const ret = Array.from(arg0);
            return ret;
        },
        __wbg_getAllKeys_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.getAllKeys(arg1);
            return ret;
        }, arguments); },
        __wbg_getAll_0000000000000000: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.getAll(arg1, arg2 === Number.MAX_SAFE_INTEGER ? undefined : arg2);
            return ret;
        }, arguments); },
        __wbg_getKey_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.getKey(arg1);
            return ret;
        }, arguments); },
        __wbg_get_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = Reflect.get(arg0, arg1);
            return ret;
        }, arguments); },
        __wbg_get_0000000000000001: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.get(arg1);
            return ret;
        }, arguments); },
        __wbg_get_0000000000000002: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.get(arg1);
            return ret;
        }, arguments); },
        __wbg_get_0000000000000003: function(arg0, arg1, arg2) {
            const ret = arg0[getStringFromWasm0(arg1, arg2)];
            return ret;
        },
        __wbg_get_0000000000000004: function(arg0, arg1) {
            const ret = arg0[arg1 >>> 0];
            return ret;
        },
        __wbg_get_index_0000000000000000: function(arg0, arg1) {
            const ret = arg0[arg1 >>> 0];
            return ret;
        },
        __wbg_get_unchecked_0000000000000000: function(arg0, arg1) {
            const ret = arg0[arg1 >>> 0];
            return ret;
        },
        __wbg_has_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = Reflect.has(arg0, arg1);
            return ret;
        }, arguments); },
        __wbg_indexOf_0000000000000000: function(arg0, arg1, arg2) {
            const ret = arg0.indexOf(arg1, arg2);
            return ret;
        },
        __wbg_index_0000000000000000: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.index(getStringFromWasm0(arg1, arg2));
            return ret;
        }, arguments); },
        __wbg_instanceof_Float64Array_0000000000000000: function(arg0) {
            let result;
            try {
                result = arg0 instanceof Float64Array;
            } catch (_) {
                result = false;
            }
            const ret = result;
            return ret;
        },
        __wbg_isArray_0000000000000000: function(arg0) {
            const ret = Array.isArray(arg0);
            return ret;
        },
        __wbg_is_0000000000000000: function(arg0, arg1) {
            const ret = Object.is(arg0, arg1);
            return ret;
        },
        __wbg_join_0000000000000000: function(arg0, arg1, arg2) {
            const ret = arg0.join(getStringFromWasm0(arg1, arg2));
            return ret;
        },
        __wbg_key_0000000000000000: function(arg0) {
            const ret = arg0.key;
            return ret;
        },
        __wbg_labels_0000000000000000: function(arg0, arg1) {
            const ret = arg1.labels;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_lastUpdateTime_0000000000000000: function(arg0, arg1) {
            const ret = arg1.lastUpdateTime;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg_length_0000000000000000: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        __wbg_length_0000000000000001: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        __wbg_length_0000000000000002: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        __wbg_limit_0000000000000000: function(arg0, arg1) {
            const ret = arg1.limit;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg_limit_0000000000000001: function(arg0, arg1) {
            const ret = arg1.limit;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg_new_0000000000000000: function() {
            const ret = new Array();
            return ret;
        },
        __wbg_new_0000000000000001: function(arg0, arg1, arg2, arg3) {
            const ret = new RegExp(getStringFromWasm0(arg0, arg1), getStringFromWasm0(arg2, arg3));
            return ret;
        },
        __wbg_new_0000000000000002: function() {
            const ret = new Object();
            return ret;
        },
        __wbg_new_from_slice_0000000000000000: function(arg0, arg1) {
            const ret = new Float64Array(getArrayF64FromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_new_typed_0000000000000000: function(arg0, arg1) {
            try {
                var state0 = {a: arg0, b: arg1};
                var cb0 = (arg0, arg1) => {
                    const a = state0.a;
                    state0.a = 0;
                    try {
                        return wasm_bindgen__convert__closures_____invoke__h20118d167692a3ce(a, state0.b, arg0, arg1);
                    } finally {
                        state0.a = a;
                    }
                };
                const ret = new Promise(cb0);
                return ret;
            } finally {
                state0.a = 0;
            }
        },
        __wbg_now_0000000000000000: function() {
            const ret = performance.now();
            return ret;
        },
        __wbg_now_0000000000000001: function() {
            const ret = Date.now();
            return ret;
        },
        __wbg_objectStore_0000000000000000: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.objectStore(getStringFromWasm0(arg1, arg2));
            return ret;
        }, arguments); },
        __wbg_of_0000000000000000: function(arg0) {
            const ret = Array.of(arg0);
            return ret;
        },
        __wbg_of_0000000000000001: function(arg0, arg1) {
            const ret = Array.of(arg0, arg1);
            return ret;
        },
        __wbg_offset_0000000000000000: function(arg0) {
            const ret = arg0.offset;
            return ret;
        },
        __wbg_onlyMarkers_0000000000000000: function(arg0) {
            const ret = arg0.onlyMarkers;
            return isLikeNone(ret) ? 0xFFFFFF : ret ? 1 : 0;
        },
        __wbg_openKeyCursor_0000000000000000: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.openKeyCursor(arg1, __wbindgen_enum_IdbCursorDirection[arg2]);
            return ret;
        }, arguments); },
        __wbg_open_0000000000000000: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            const ret = arg0.open(getStringFromWasm0(arg1, arg2), arg3 >>> 0);
            return ret;
        }, arguments); },
        __wbg_orderBy_0000000000000000: function(arg0, arg1) {
            const ret = arg1.orderBy;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_order_0000000000000000: function(arg0, arg1) {
            const ret = arg1.order;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_pop_0000000000000000: function(arg0) {
            const ret = arg0.pop();
            return ret;
        },
        __wbg_preventDefault_0000000000000000: function(arg0) {
            arg0.preventDefault();
        },
        __wbg_prototypesetcall_0000000000000000: function(arg0, arg1, arg2) {
            Float64Array.prototype.set.call(getArrayF64FromWasm0(arg0, arg1), arg2);
        },
        __wbg_push_0000000000000000: function(arg0, arg1) {
            const ret = arg0.push(arg1);
            return ret;
        },
        __wbg_put_0000000000000000: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.put(arg1);
            return ret;
        }, arguments); },
        __wbg_queueMicrotask_0000000000000000: function(arg0) {
            const ret = arg0.queueMicrotask;
            return ret;
        },
        __wbg_queueMicrotask_0000000000000001: function(arg0) {
            queueMicrotask(arg0);
        },
        __wbg_random_0000000000000000: function() {
            const ret = Math.random();
            return ret;
        },
        __wbg_resolve_0000000000000000: function(arg0) {
            const ret = Promise.resolve(arg0);
            return ret;
        },
        __wbg_result_0000000000000000: function() { return handleError(function (arg0) {
            const ret = arg0.result;
            return ret;
        }, arguments); },
        __wbg_reverse_0000000000000000: function(arg0) {
            const ret = arg0.reverse();
            return ret;
        },
        __wbg_revision_0000000000000000: function(arg0, arg1) {
            const ret = arg1.revision;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg_sessionId_0000000000000000: function(arg0, arg1) {
            const ret = arg1.sessionId;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_setPrototypeOf_0000000000000000: function(arg0, arg1) {
            const ret = Object.setPrototypeOf(arg0, arg1);
            return ret;
        },
        __wbg_setTimeout_0000000000000000: function(arg0, arg1) {
            const ret = setTimeout(arg0, arg1);
            return ret;
        },
        __wbg_set_0000000000000000: function(arg0, arg1, arg2, arg3) {
            arg0[getStringFromWasm0(arg1, arg2)] = arg3;
        },
        __wbg_set_0000000000000001: function(arg0, arg1, arg2) {
            arg0[arg1 >>> 0] = arg2;
        },
        __wbg_set_0000000000000002: function(arg0, arg1, arg2) {
            arg0[arg1] = arg2;
        },
        __wbg_set_number_0000000000000000: function(arg0, arg1, arg2, arg3) {
            arg0[getStringFromWasm0(arg1, arg2)] = arg3;
        },
        __wbg_set_text_0000000000000000: function(arg0, arg1, arg2, arg3, arg4) {
            arg0[getStringFromWasm0(arg1, arg2)] = getStringFromWasm0(arg3, arg4);
        },
        __wbg_slice_0000000000000000: function(arg0, arg1, arg2) {
            const ret = arg0.slice(arg1 >>> 0, arg2 >>> 0);
            return ret;
        },
        __wbg_static_accessor_GLOBAL_THIS_0000000000000000: function() {
            const ret = typeof globalThis === 'undefined' ? undefined : globalThis;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_static_accessor_GLOBAL_0000000000000000: function() {
            const ret = typeof global === 'undefined' ? undefined : global;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_static_accessor_SELF_0000000000000000: function() {
            const ret = typeof self === 'undefined' ? undefined : self;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_static_accessor_WINDOW_0000000000000000: function() {
            const ret = typeof window === 'undefined' ? undefined : window;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_substring_0000000000000000: function(arg0, arg1, arg2) {
            const ret = arg0.substring(arg1 >>> 0, arg2 >>> 0);
            return ret;
        },
        __wbg_test_0000000000000000: function(arg0, arg1, arg2) {
            const ret = arg0.test(getStringFromWasm0(arg1, arg2));
            return ret;
        },
        __wbg_then_0000000000000000: function(arg0, arg1, arg2) {
            const ret = arg0.then(arg1, arg2);
            return ret;
        },
        __wbg_then_0000000000000001: function(arg0, arg1) {
            const ret = arg0.then(arg1);
            return ret;
        },
        __wbg_title_0000000000000000: function(arg0, arg1) {
            const ret = arg1.title;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_transaction_0000000000000000: function() { return handleError(function (arg0, arg1, arg2, arg3, arg4) {
            const ret = arg0.transaction(arg1, getStringFromWasm0(arg2, arg3), arg4);
            return ret;
        }, arguments); },
        __wbg_userId_0000000000000000: function(arg0, arg1) {
            const ret = arg1.userId;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_what_0000000000000000: function(arg0, arg1) {
            const ret = arg1.what;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_withCount_0000000000000000: function(arg0) {
            const ret = arg0.withCount;
            return ret;
        },
        __wbg_withTotal_0000000000000000: function(arg0) {
            const ret = arg0.withTotal;
            return ret;
        },
        __wbindgen_generic_0000000000000001: function(arg0, arg1) {
            // Cast intrinsic for `Closure(Closure { owned: true, function: Function { arguments: [Externref], shim_idx: 10, ret: Unit, inner_ret: Some(Unit) }, mutable: true }) -> Externref`.
            const ret = makeMutClosure(arg0, arg1, wasm_bindgen__convert__closures_____invoke__h4ff27c223d95d42d);
            return ret;
        },
        __wbindgen_generic_0000000000000002: function(arg0, arg1) {
            // Cast intrinsic for `Closure(Closure { owned: true, function: Function { arguments: [Externref], shim_idx: 43, ret: Result(Unit), inner_ret: Some(Result(Unit)) }, mutable: true }) -> Externref`.
            const ret = makeMutClosure(arg0, arg1, wasm_bindgen__convert__closures_____invoke__hd03ea6924eea3427);
            return ret;
        },
        __wbindgen_generic_0000000000000003: function(arg0) {
            // Cast intrinsic for `F64 -> Externref`.
            const ret = arg0;
            return ret;
        },
        __wbindgen_generic_0000000000000004: function(arg0, arg1) {
            // Cast intrinsic for `Ref(String) -> Externref`.
            const ret = getStringFromWasm0(arg0, arg1);
            return ret;
        },
        __wbindgen_init_externref_table: function() {
            const table = wasm.__wbindgen_externrefs;
            table.set(0, undefined);
            table.set(1024, undefined);
            table.set(1025, null);
            table.set(1026, true);
            table.set(1027, false);
        },
    };
    return {
        __proto__: null,
        "./adk_session_wasm_bg.js": import0,
    };
}

function wasm_bindgen__convert__closures_____invoke__h987f6c2567c2ce9e(arg0, arg1) {
    wasm.wasm_bindgen__convert__closures_____invoke__h987f6c2567c2ce9e(arg0, arg1);
}

function wasm_bindgen__convert__closures_____invoke__h4ff27c223d95d42d(arg0, arg1, arg2) {
    wasm.wasm_bindgen__convert__closures_____invoke__h4ff27c223d95d42d(arg0, arg1, arg2);
}

function wasm_bindgen__convert__closures_____invoke__hd03ea6924eea3427(arg0, arg1, arg2) {
    const ret = wasm.wasm_bindgen__convert__closures_____invoke__hd03ea6924eea3427(arg0, arg1, arg2);
    if (ret[1]) {
        throw takeFromExternrefTable0(ret[0]);
    }
}

function wasm_bindgen__convert__closures_____invoke__h20118d167692a3ce(arg0, arg1, arg2, arg3) {
    wasm.wasm_bindgen__convert__closures_____invoke__h20118d167692a3ce(arg0, arg1, arg2, arg3);
}


const __wbindgen_enum_IdbCursorDirection = ["next", "nextunique", "prev", "prevunique"];
const DrivenWriteFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_drivenwrite_free(ptr, 1));
const WasmStorageFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_wasmstorage_free(ptr, 1));

function addToExternrefTable0(obj) {
    const idx = wasm.__externref_table_alloc();
    wasm.__wbindgen_externrefs.set(idx, obj);
    return idx;
}

const CLOSURE_DTORS = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(state => wasm.__wbindgen_destroy_closure(state.a, state.b));

function getArrayF64FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getFloat64ArrayMemory0().subarray(ptr / 8, ptr / 8 + len);
}

function getArrayU32FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint32ArrayMemory0().subarray(ptr / 4, ptr / 4 + len);
}

let cachedDataViewMemory0 = null;
function getDataViewMemory0() {
    if (cachedDataViewMemory0 === null || cachedDataViewMemory0.buffer.detached === true || (cachedDataViewMemory0.buffer.detached === undefined && cachedDataViewMemory0.buffer !== wasm.memory.buffer)) {
        cachedDataViewMemory0 = new DataView(wasm.memory.buffer);
    }
    return cachedDataViewMemory0;
}

let cachedFloat64ArrayMemory0 = null;
function getFloat64ArrayMemory0() {
    if (cachedFloat64ArrayMemory0 === null || cachedFloat64ArrayMemory0.byteLength === 0) {
        cachedFloat64ArrayMemory0 = new Float64Array(wasm.memory.buffer);
    }
    return cachedFloat64ArrayMemory0;
}

function getStringFromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return decodeText(getUint8ArrayMemory0().subarray(ptr, ptr + len));
}

let cachedUint32ArrayMemory0 = null;
function getUint32ArrayMemory0() {
    if (cachedUint32ArrayMemory0 === null || cachedUint32ArrayMemory0.byteLength === 0) {
        cachedUint32ArrayMemory0 = new Uint32Array(wasm.memory.buffer);
    }
    return cachedUint32ArrayMemory0;
}

let cachedUint8ArrayMemory0 = null;
function getUint8ArrayMemory0() {
    if (cachedUint8ArrayMemory0 === null || cachedUint8ArrayMemory0.byteLength === 0) {
        cachedUint8ArrayMemory0 = new Uint8Array(wasm.memory.buffer);
    }
    return cachedUint8ArrayMemory0;
}

function handleError(f, args) {
    try {
        return f.apply(this, args);
    } catch (e) {
        const idx = addToExternrefTable0(e);
        wasm.__wbindgen_exn_store(idx);
    }
}

function isLikeNone(x) {
    return x === undefined || x === null;
}

function makeMutClosure(arg0, arg1, f) {
    const state = { a: arg0, b: arg1, cnt: 1 };
    const real = (...args) => {

        // First up with a closure we increment the internal reference
        // count. This ensures that the Rust closure environment won't
        // be deallocated while we're invoking it.
        state.cnt++;
        const a = state.a;
        state.a = 0;
        try {
            return f(a, state.b, ...args);
        } finally {
            state.a = a;
            real._wbg_cb_unref();
        }
    };
    real._wbg_cb_unref = () => {
        if (--state.cnt === 0) {
            wasm.__wbindgen_destroy_closure(state.a, state.b);
            state.a = 0;
            CLOSURE_DTORS.unregister(state);
        }
    };
    CLOSURE_DTORS.register(real, state, state);
    return real;
}

function passArray32ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 4, 4) >>> 0;
    getUint32ArrayMemory0().set(arg, ptr / 4);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArrayF64ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 8, 8) >>> 0;
    getFloat64ArrayMemory0().set(arg, ptr / 8);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passStringToWasm0(arg, malloc, realloc) {
    if (realloc === undefined) {
        const buf = cachedTextEncoder.encode(arg);
        const ptr = malloc(buf.length, 1) >>> 0;
        getUint8ArrayMemory0().subarray(ptr, ptr + buf.length).set(buf);
        WASM_VECTOR_LEN = buf.length;
        return ptr;
    }

    let len = arg.length;
    let ptr = malloc(len, 1) >>> 0;

    const mem = getUint8ArrayMemory0();

    if (len > 32) {
        let { read, written } = cachedTextEncoder.encodeInto(arg, mem.subarray(ptr, ptr + len));
        if (read < len) {
            const room = written + 3 * (len - read);
            ptr = realloc(ptr, len, room, 1) >>> 0;
            written += cachedTextEncoder.encodeInto(arg.slice(read), getUint8ArrayMemory0().subarray(ptr + written, ptr + room)).written;
            ptr = realloc(ptr, room, written, 1) >>> 0;
        }
        WASM_VECTOR_LEN = written;
        return ptr;
    }

    let offset = 0;

    for (; offset < len; offset++) {
        const code = arg.charCodeAt(offset);
        if (code > 0x7F) break;
        mem[ptr + offset] = code;
    }
    if (offset !== len) {
        if (offset !== 0) {
            arg = arg.slice(offset);
        }
        ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
        const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
        const ret = cachedTextEncoder.encodeInto(arg, view);

        offset += ret.written;
        ptr = realloc(ptr, len, offset, 1) >>> 0;
    }

    WASM_VECTOR_LEN = offset;
    return ptr;
}

function takeFromExternrefTable0(idx) {
    const value = wasm.__wbindgen_externrefs.get(idx);
    wasm.__externref_table_dealloc(idx);
    return value;
}

let newTextDecoder, cachedTextDecoder, cachedTextEncoder;

function setTextCoders(newDecoder, encoder) {
    newTextDecoder = newDecoder;
    cachedTextDecoder = newDecoder();
    cachedTextEncoder = encoder;
}
const MAX_SAFARI_DECODE_BYTES = 2146435072;
let numBytesDecoded = 0;
function decodeText(bytes) {
    numBytesDecoded += bytes.length;
    if (numBytesDecoded >= MAX_SAFARI_DECODE_BYTES) {
        cachedTextDecoder = newTextDecoder();
        numBytesDecoded = bytes.length;
    }
    return cachedTextDecoder.decode(bytes);
}


let WASM_VECTOR_LEN = 0;

let wasmModule, wasmInstance, wasm;
function __wbg_finalize_init(instance, module) {
    wasmInstance = instance;
    wasm = instance.exports;
    wasmModule = module;
    cachedDataViewMemory0 = null;
    cachedFloat64ArrayMemory0 = null;
    cachedUint32ArrayMemory0 = null;
    cachedUint8ArrayMemory0 = null;
    wasm.__wbindgen_start();
    return wasm;
}

async function __wbg_load(module, imports) {
    if (typeof Response === 'function' && module instanceof Response) {
        if (!module.ok) {
            throw new Error(`failed to fetch Wasm: ${module.status} ${module.statusText} fetching '${module.url}'`);
        }

        if (typeof WebAssembly.instantiateStreaming === 'function') {
            try {
                return await WebAssembly.instantiateStreaming(module, imports);
            } catch (e) {
                const validResponse = expectedResponseType(module.type);

                if (validResponse && module.headers.get('Content-Type') !== 'application/wasm') {
                    console.warn("`WebAssembly.instantiateStreaming` failed because your server does not serve Wasm with `application/wasm` MIME type. Falling back to `WebAssembly.instantiate` which is slower. Original error:\n", e);

                } else { throw e; }
            }
        }

        const bytes = await module.arrayBuffer();
        return await WebAssembly.instantiate(bytes, imports);
    } else {
        const instance = await WebAssembly.instantiate(module, imports);

        if (instance instanceof WebAssembly.Instance) {
            return { instance, module };
        } else {
            return instance;
        }
    }

    function expectedResponseType(type) {
        switch (type) {
            case 'basic': case 'cors': case 'default': return true;
        }
        return false;
    }
}

function initSync(module) {
    if (wasm !== undefined) return wasm;


    if (module !== undefined) {
        if (Object.getPrototypeOf(module) === Object.prototype) {
            ({module} = module)
        } else {
            console.warn('using deprecated parameters for `initSync()`; pass a single object instead')
        }
    }

    const imports = __wbg_get_imports();
    const instance = new WebAssembly.Instance(module, imports);
    return __wbg_finalize_init(instance, module);
}

let __wbg_init_promise;
async function __wbg_init(module_or_path) {
    if (wasm !== undefined) return wasm;
    if (__wbg_init_promise === undefined) {
        __wbg_init_promise = __wbg_init_once(module_or_path);
        __wbg_init_promise.catch(() => { __wbg_init_promise = undefined; });
    }
    return __wbg_init_promise;
}

async function __wbg_init_once(module_or_path) {

    if (module_or_path !== undefined) {
        if (Object.getPrototypeOf(module_or_path) === Object.prototype) {
            ({module_or_path} = module_or_path)
        } else {
            console.warn('using deprecated parameters for the initialization function; pass a single object instead')
        }
    }


    const imports = __wbg_get_imports();

    if (typeof module_or_path === 'string' || (typeof Request === 'function' && module_or_path instanceof Request) || (typeof URL === 'function' && module_or_path instanceof URL)) {
        module_or_path = fetch(module_or_path);
    }

    const { instance, module } = await __wbg_load(await module_or_path, imports);

    return __wbg_finalize_init(instance, module);
}

export { initSync, setTextCoders };
