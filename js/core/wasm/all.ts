/**
 * The build of the wasm with all: the storages, and what synchronous calls must find at hand, such as templates. A page
 * that imports this file has that build in its bundle, so every service uses it.
 */
import { delete_database, WasmStorage } from '#glue';
import type { MissingVariable } from '../../values/errors/errors.js';
import { callBuild, callCore, coreError, requireLive, requireRoom, TEMPLATE_UNIT } from './core.js';
import { part } from './loader/all_part.js';
import type { WasmSource } from './loader/source.js';
import { provideAll } from './loading.js';

const all = provideAll(part);

/** Sets the source of the wasm, in place of the default one. */
export function provideWasm(given: WasmSource): void {
  all.provide(given);
}

/** Fails with `not_loaded` if this build has to be awaited. */
export function requireWasm(): void {
  all.require();
}

/**
 * Does the same as {@link callCore} for methods of a `WasmStorage`, which also answer with promises.
 *
 * @param holdsData whether the service holds data in the instance, which is lost if the instance dies
 */
export function callWasmStorage<T>(holdsData: boolean, call: () => T): T {
  all.require();
  if (holdsData) requireLive(all);
  return callBuild(all, call);
}

/** Converts an error within the result of a `WasmStorage`. */
export function wasmStorageError(thrown: unknown): Error {
  return coreError(thrown, all);
}

/** Returns six numbers for each placeholder; see `src/wasm/bindings/templates.rs`. */
export function scanTemplate(text: string): Uint32Array {
  requireRoom(text.length, 0, TEMPLATE_UNIT);
  return callCore((rules) => rules.scan_template(text));
}

/** The placeholders without a value, and the error message. */
interface MissingVariables {
  readonly message: string;
  readonly missing: readonly MissingVariable[];
}

/**
 * Returns the error message for placeholders (by position) without a value. `keys` are the keys
 * with a value.
 */
export function describeMissing(
  text: string,
  positions: Uint32Array,
  keys: string[],
): MissingVariables {
  return callCore((rules) => rules.describe_missing(text, positions, keys) as MissingVariables);
}

/** Returns the error message for an artifact that could not be loaded. */
export function artifactMessage(text: string, position: number, failed: boolean): string {
  return callCore((rules) => rules.artifact_message(text, position, failed));
}

/** Makes a session service in wasm over a memory of its own. */
export function createMemoryStorage(): WasmStorage {
  return callWasmStorage(false, () => WasmStorage.memory());
}

/** The database of the browser, and how it is written. */
export interface IndexedDbAccess {
  readonly name: string;
  readonly isStrict: boolean;
  readonly timeoutMs: number;
}

/** Called for each new connection to a database. No call uses the connection before it resolves. */
export type OnOpen = () => Promise<void>;

/**
 * Makes a session service in wasm over a database of the browser, which is opened when it is
 * needed. Services with the same `onOpen` share a connection.
 */
export function createIndexedDbStorage(
  access: IndexedDbAccess,
  onOpen: OnOpen | undefined,
): WasmStorage {
  const { name, isStrict, timeoutMs } = access;
  return callWasmStorage(false, () => WasmStorage.indexed_db(name, isStrict, timeoutMs, onOpen));
}

/** Deletes a database of the browser. */
export async function deleteDatabase(name: string, timeoutMs: number): Promise<void> {
  await all.load();
  await callWasmStorage(false, () => delete_database(name, timeoutMs) as Promise<unknown>);
}
