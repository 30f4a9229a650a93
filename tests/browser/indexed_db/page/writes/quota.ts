// Appends without free space in the browser.

import { IndexedDbSessionService, type Session } from 'adk-session-wasm';
import { around } from '../around.js';
import { type Failure, failure, idsOf, keyOf, mark, numbers, say } from '../events.js';

/** Characters an event: some of them fill a small quota, and one is little against what is left of it. */
const SIZE = 256 * 1024;
/** More than any quota here. */
const LIMIT = 200;

export interface QuotaResult {
  failed: Failure;
  /** The handle as JSON, before the append that failed and after it. */
  handle: [string, string];
  /** The codes of concurrent appends without free space. */
  together: string[];
  small: string[];
  big: string[];
  /** The acknowledged events. */
  stored: string[];
}

let service: IndexedDbSessionService | undefined;

/** Appends until there is no room left, and reads what was there before. */
export async function fill(name: string): Promise<QuotaResult> {
  service = new IndexedDbSessionService({ name });
  const small = await service.createSession(keyOf('small'));
  await service.appendEvents({ session: small, events: numbers(3).map(mark) });
  const big = await service.createSession(keyOf('big'));
  const stored: string[] = [];
  for (const number of numbers(LIMIT)) {
    const before = handleOf(big);
    const outcome = await append(service, big, `big-${number}`);
    if (outcome === undefined) {
      stored.push(`big-${number}`);
      continue;
    }
    const after = handleOf(big);
    const more = numbers(4).map((more) => `more-${more}`);
    const outcomes = await Promise.all(more.map((id) => append(service!, big, id)));
    stored.push(...more.filter((_, place) => outcomes[place] === undefined));
    return {
      failed: outcome,
      handle: [before, after],
      together: outcomes.map((failed) => failed?.code ?? 'stored'),
      small: idsOf(await service.getSession(keyOf('small'))),
      big: idsOf(await service.getSession(keyOf('big'))),
      stored,
    };
  }
  throw new Error(`there was room for all ${LIMIT} events`);
}

async function append(
  service: IndexedDbSessionService,
  session: Session,
  id: string,
): Promise<Failure | undefined> {
  try {
    await service.appendEvent({ session, event: say(id, { [id]: id }, noise()) });
    return undefined;
  } catch (error) {
    return failure(() => {
      throw error;
    });
  }
}

/** The handle as far as an append may change it; its texts are long. */
function handleOf(session: Session): string {
  const { state, lastUpdateTime } = session;
  return JSON.stringify([idsOf(session), state, lastUpdateTime]);
}

/** Text that no browser makes smaller. */
function noise(): string {
  let text = '';
  while (text.length < SIZE) {
    const values = crypto.getRandomValues(new Uint8Array(32 * 1024));
    text += String.fromCharCode(...values.map((value) => 35 + (value % 57)));
  }
  return text;
}

/** The same service, when there is room again. */
export async function goOnWithRoom(): Promise<{ small: string[]; sessions: number }> {
  if (service === undefined) throw new Error('fill comes first');
  await service.deleteSession(keyOf('big'));
  const session = await service.getSession(keyOf('small'));
  if (session === undefined) throw new Error('the session is gone');
  await service.appendEvent({ session, event: mark('after') });
  const read = idsOf(await service.getSession(keyOf('small')));
  const { totalItems } = await service.listSessions({ appName: session.appName });
  await service.close();
  return { small: read, sessions: totalItems };
}

/**
 * Simulates a full quota in a browser without a quota setting: aborts each transaction at its commit, like a browser
 * without free space. All requests have succeeded, and only the transaction has an error.
 */
export function refuseRoom(after: number): void {
  let room = after;
  giveRoom = around(IDBTransaction.prototype, 'commit', (transaction, _values, proceed) => {
    if (transaction.mode !== 'readwrite' || (room -= 1) >= 0) return proceed();
    const error = new DOMException('There is no room.', 'QuotaExceededError');
    Object.defineProperty(transaction, 'error', { value: error });
    const store = transaction.objectStore(transaction.objectStoreNames[0]!);
    store.getKey('nothing').onsuccess = () => transaction.abort();
    return undefined;
  });
}

let giveRoom = (): void => undefined;

export function giveRoomAgain(): void {
  giveRoom();
}
