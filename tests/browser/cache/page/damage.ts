// Damages the database of a cache between two visits, and what the cache then does.

import { isSessionError } from 'adk-session-wasm';
import { answer, completion, type Dump, dump, openBare } from '../../indexed_db/page/bare.js';
import * as chat from './chat.js';

const NAME = 'adk-session-wasm cache';

/** Changes the first record of an owner in a store that a function changes. */
async function change(
  owner: string,
  store: string,
  changed: (value: unknown) => unknown,
): Promise<void> {
  const database = await openBare(NAME, 1);
  const transaction = database.transaction([store], 'readwrite');
  const done = completion(transaction);
  let isFound = false;
  const request = transaction
    .objectStore(store)
    .openCursor(IDBKeyRange.bound([owner], [`${owner}\0`]));
  request.onsuccess = () => {
    const cursor = request.result;
    if (cursor === null) return;
    const value = changed(cursor.value);
    if (value === undefined) return cursor.continue();
    isFound = true;
    cursor.update(value);
  };
  await done;
  database.close();
  if (!isFound) throw new Error(`no record in ${store}`);
}

/** Makes the stored event with this text unreadable. */
export async function damageEvent(owner: string, text: string): Promise<void> {
  const [whole, broken] = [`"text":"${text}"`, `"text";"${text}"`];
  await change(owner, 'events', (value) => {
    const event = Object(value) as { text?: string };
    return event.text?.includes(whole)
      ? { ...event, text: event.text.replace(whole, broken) }
      : undefined;
  });
}

/** Makes the unsent event with this text unreadable. */
export async function damageUnsent(owner: string, text: string): Promise<void> {
  const [whole, broken] = [`"text":"${text}"`, `"text";"${text}"`];
  await change(owner, 'outbox', (value) => {
    const { write } = value as { write?: { events?: readonly { text: string }[] } };
    if (write?.events?.some(({ text }) => text.includes(whole)) !== true) return undefined;
    const events = write.events.map((event) => {
      return { ...event, text: event.text.replace(whole, broken) };
    });
    return { ...(value as object), write: { ...write, events } };
  });
}

/** Makes the record of a copy unreadable. */
export async function damageSession(owner: string): Promise<void> {
  await change(owner, 'sessions', (value) => ({ ...(value as object), localId: -1 }));
}

/** Makes the records of an owner of a version that this package does not know yet. */
export async function makeNewer(owner: string): Promise<void> {
  await change(owner, 'states', (value) => ({ ...(value as object), version: 1000 }));
}

/** Gives the database a version that this package does not know yet. */
export async function raiseVersion(): Promise<void> {
  (await openBare(NAME, 2, () => undefined)).close();
}

export async function deleteDatabase(): Promise<void> {
  await answer(indexedDB.deleteDatabase(NAME));
}

export function contentOf(): Promise<Dump> {
  return dump(NAME);
}

export async function databaseNames(): Promise<string[]> {
  return (await indexedDB.databases()).map(({ name }) => String(name));
}

/** Returns the texts of a session, or the code of the error. */
export async function tryToRead(sessionId: string): Promise<string[] | string | undefined> {
  return chat.read(sessionId).catch(codeOf);
}

/** Returns `'stored'`, or the code of the error. */
export async function tryToWrite(sessionId: string, text: string): Promise<string> {
  return chat.write(sessionId, [text]).then(() => 'stored', codeOf);
}

/** Resolves when the session can be read and has that many events. */
export async function untilReadable(sessionId: string, count: number): Promise<string[]> {
  for (;;) {
    const texts = await tryToRead(sessionId);
    if (Array.isArray(texts) && texts.length >= count) return texts;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export interface Waiting {
  readonly sessionId: string | undefined;
  readonly events: number;
  readonly code: string | undefined;
}

export async function outbox(): Promise<Waiting[]> {
  const entries = await chat.opened().outbox.list();
  return entries.map(({ key, events, error }) => ({
    sessionId: key.sessionId,
    events: events.length,
    code: error?.code,
  }));
}

/** Resolves when only a session is left of which something was refused. */
export async function untilRefused(): Promise<void> {
  for (;;) {
    const [first, ...others] = await outbox();
    if (first?.code !== undefined && others.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function drop(sessionId: string): Promise<void> {
  await chat.opened().outbox.drop(chat.keyOf(sessionId));
}

export function lastError(): string | undefined {
  return chat.opened().status.lastError?.code;
}

function codeOf(error: unknown): string {
  return isSessionError(error) ? error.code : String(error);
}
