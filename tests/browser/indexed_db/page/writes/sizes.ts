// Events and states that are large: what a record of the browser holds, and what it does not.

import { type Event, IndexedDbSessionService, type Session } from 'adk-session-wasm';
import { rows } from '../bare.js';
import { type Failure, failure, idsOf, keyOf, numbers, say } from '../events.js';

/** The first letter of a script, and how many follow it. Browsers keep a letter in one byte, or in two. */
const SCRIPTS = { latin: [35, 57], korean: [0xac00, 11172] } as const;

export type Script = keyof typeof SCRIPTS;

const PIECE = 100_000;

/** Random letters: Chromium compresses records, and would hold any number of equal ones. */
function textOf(script: Script, length: number): string {
  const [first, count] = SCRIPTS[script];
  let piece = '';
  while (piece.length < PIECE) {
    const numbers = crypto.getRandomValues(new Uint16Array(10_000));
    piece += String.fromCharCode(...numbers.map((number) => first + (number % count)));
  }
  return piece.repeat(Math.ceil(length / PIECE)).slice(0, length);
}

/** The records of a session. */
export interface Held {
  /** Ids of its events, and whether each has its whole text. */
  events: string[];
  areWhole: boolean;
  /** Ids of the last three, read as a window. */
  latest: string[];
  /** Keys of its state. */
  keys: string[];
  /** Characters of the longest text that a record of many events has. */
  longestPage: number;
}

function large(id: string, text: string): Event {
  return say(id, { [id]: id }, text);
}

async function look(service: IndexedDbSessionService, name: string, text: string): Promise<Held> {
  const session = await service.getSession(keyOf('large'));
  const isWhole = ({ content }: Event) => content?.parts?.[0]?.text === text;
  const config = { numRecentEvents: 3 };
  const latest = idsOf(await service.getSession({ ...keyOf('large'), config }));
  const texts = (await rows(name, 'events'))
    .filter(({ ids }) => (ids as string[]).length > 1)
    .map(({ text }) => (text as string).length);
  return {
    events: idsOf(session),
    areWhole: session?.events.every(isWhole) ?? false,
    latest,
    keys: Object.keys(session?.state ?? {}),
    longestPage: Math.max(0, ...texts),
  };
}

/** Appends so many events of so many letters, one by one or as one batch, and reads them with a new service. */
export async function appendLarge(
  name: string,
  script: Script,
  count: number,
  length: number,
  isBatch: boolean,
): Promise<{ acknowledged: string[]; held: Held }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('large'));
  const ids = numbers(count);
  const text = textOf(script, length);
  if (isBatch) {
    await service.appendEvents({ session, events: ids.map((id) => large(id, text)) });
  } else {
    for (const id of ids) {
      await service.appendEvent({ session, event: large(id, text) });
      // The handle would hold all of them.
      session.events.length = 0;
    }
  }
  await service.close();
  const reader = new IndexedDbSessionService({ name });
  const held = await look(reader, name, text);
  await reader.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return { acknowledged: ids, held };
}

export interface RefusalResult {
  failed: Failure;
  /** The handle as JSON, before and after. */
  handle: [string, string];
  /** Ids of the stored events, and the keys of the merged state, after one more append. */
  events: string[];
  keys: string[];
}

/** Data that is too large for any record. */
const TOO_LARGE = {
  event: (session: Session) => ({ session, events: [large('big', textOf('latin', 134_000_000))] }),
  'last event of a batch': (session: Session) => ({
    session,
    events: [say('small', { small: 1 }), large('big', textOf('latin', 134_000_000))],
  }),
  'Korean event': (session: Session) => ({
    session,
    events: [large('big', textOf('korean', 67_000_000))],
  }),
};

export type TooLarge = keyof typeof TOO_LARGE;

export async function appendTooLarge(name: string, what: TooLarge): Promise<RefusalResult> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('large'));
  const before = JSON.stringify(session);
  const failed = await failure(() => service.appendEvents(TOO_LARGE[what](session)));
  const after = JSON.stringify(session);
  return { failed, handle: [before, after], ...(await goOn(service, session)) };
}

/** Makes a state grow by an event that is small enough, until it is too large for its record or for a scope. */
export async function growState(
  name: string,
  prefix: string,
  script: Script = 'latin',
): Promise<RefusalResult> {
  const service = new IndexedDbSessionService({ name });
  const key = (id: string) => `${prefix}${id}`;
  // A session also keeps its initial state.
  const [first, length] = script === 'latin' ? [30_000_000, 37_000_000] : [40_000_000, 20_000_000];
  const state = { [key('one')]: textOf(script, first) };
  const session = await service.createSession({ ...keyOf('large'), state });
  const summary = () => JSON.stringify([idsOf(session), Object.keys(session.state)]);
  const before = summary();
  const event = say('two', { [key('two')]: textOf(script, length) });
  const failed = await failure(() => service.appendEvent({ session, event }));
  return { failed, handle: [before, summary()], ...(await goOn(service, session)) };
}

/** Creates a session whose state and initial state are together too large for its record. Returns what is stored. */
export async function createTooLarge(name: string): Promise<{ failed: Failure; stored: number }> {
  const service = new IndexedDbSessionService({ name });
  const state = { one: textOf('latin', 40_000_000) };
  const failed = await failure(() => service.createSession({ ...keyOf('large'), state }));
  await service.close();
  return { failed, stored: (await rows(name, 'sessions')).length };
}

/** The outcome of calls after a refusal. */
async function goOn(
  service: IndexedDbSessionService,
  session: Session,
): Promise<{ events: string[]; keys: string[] }> {
  await service.appendEvent({ session, event: say('after', { after: 1 }) });
  const read = await service.getSession(keyOf('large'));
  await service.close();
  return { events: idsOf(read), keys: Object.keys(read?.state ?? {}) };
}

/** Replaces events of a page by ones that fill it many times over. */
export async function replaceByLarge(
  name: string,
): Promise<{ before: string[]; held: Held; appended: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('large'));
  const before = numbers(20);
  await service.appendEvents({ session, events: before.map((id) => large(id, 'short')) });
  const text = textOf('latin', 400_000);
  for (const id of before) {
    await service.appendEvent({ session, event: large(id, text) });
  }
  const held = await look(service, name, text);
  await service.appendEvent({ session, event: say('after') });
  const appended = idsOf(await service.getSession(keyOf('large')));
  await service.close();
  return { before, held, appended };
}
