// Damages the database of a cache between two visits, and what the cache then does.

import { isSessionError } from 'adk-session-wasm';
import {
  completion,
  type Dump,
  dump,
  openBare,
  putRows,
  rows,
} from '../../indexed_db/page/bare.js';
import * as chat from './chat.js';

const nameOf = (owner: string): string => `adk-session-wasm cache ${owner}`;

/** Makes the stored event with this text unreadable. */
export async function damageEvent(owner: string, text: string): Promise<void> {
  const name = nameOf(owner);
  const [whole, broken] = [`"text":"${text}"`, `"text";"${text}"`];
  const isOf = (stored: unknown): stored is string =>
    typeof stored === 'string' && stored.includes(whole);
  const record = (await rows(name, 'events')).find(({ text: stored }) => isOf(stored));
  if (record === undefined) throw new Error(`no record has ${text}`);
  await putRows(name, 'events', [{ ...record, text: String(record.text).replace(whole, broken) }]);
}

/** Makes the record of a copy unreadable. */
export async function damageSession(owner: string, sessionId: string): Promise<void> {
  const name = nameOf(owner);
  const record = (await rows(name, 'sessions')).find((row) => row.sessionId === sessionId);
  if (record === undefined) throw new Error(`no record of ${sessionId}`);
  await putRows(name, 'sessions', [{ ...record, revision: -1 }]);
}

/** Makes a database of a version that this package does not know yet. */
export async function makeNewer(owner: string): Promise<void> {
  const database = await openBare(nameOf(owner), 1000, (upgraded) => {
    upgraded.createObjectStore('future', { autoIncrement: true });
  });
  const transaction = database.transaction(['future'], 'readwrite');
  transaction.objectStore('future').put('kept');
  await completion(transaction);
  database.close();
}

export function contentOf(owner: string): Promise<Dump> {
  return dump(nameOf(owner));
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

/** Resolves when so many sessions or states wait or were set aside, and the server has answered. */
export async function untilWaiting(count: number): Promise<void> {
  for await (const { pending, lastSuccess } of chat.opened().watchStatus()) {
    if (pending.length === count && lastSuccess !== undefined) return;
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
