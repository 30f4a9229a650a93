// What a page does with its cache. A page has one cache at a time.

import { createEvent, type Session } from 'adk-session-wasm';
import { CachedSessionService, type CacheStatus } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

const APP = { appName: 'chat' };

let cache: CachedSessionService | undefined;
let userId = '';
const handles = new Map<string, Session>();

export function opened(): CachedSessionService {
  if (cache === undefined) throw new Error('no cache is open');
  return cache;
}

export function keyOf(sessionId: string) {
  return { ...APP, userId, sessionId };
}

/** Opens the cache of an owner, who is the user too, unless another one is given. */
export function open(server: string, owner: string, user = owner): void {
  userId = user;
  handles.clear();
  const remote = new RemoteSessionService({ url: server, headers: { 'x-user': user }, retries: 0 });
  cache = new CachedSessionService({ remote, owner });
}

export async function list(): Promise<string[]> {
  const { sessions } = await opened().listSessions({ ...APP, userId });
  return sessions.map(({ id }) => id).sort();
}

/** The texts of a session; `undefined` if there is no session. */
export async function read(sessionId: string): Promise<string[] | undefined> {
  return textsOf(await opened().getSession(keyOf(sessionId)));
}

/** Reads until the page is left, so that a transaction is mostly under way. */
export function readOn(sessionId: string): void {
  const readAgain = (): void => void read(sessionId).then(readAgain, readAgain);
  for (let count = 0; count < 3; count += 1) readAgain();
}

/** Appends one event after the other. Creates the session if there is none. */
export async function write(sessionId: string, texts: readonly string[]): Promise<void> {
  const known = handles.get(sessionId);
  const session = known ?? (await opened().getOrCreateSession(keyOf(sessionId)));
  handles.set(sessionId, session);
  for (const text of texts) await opened().appendEvent({ session, event: eventOf(text) });
}

/** Asks the server's agent to answer messages, one after the other. */
export async function ask(sessionId: string, texts: readonly string[]): Promise<void> {
  const known = handles.get(sessionId);
  const session = known ?? (await opened().getOrCreateSession(keyOf(sessionId)));
  handles.set(sessionId, session);
  for (const text of texts) {
    const event = createEvent({
      author: 'user',
      invocationId: crypto.randomUUID(),
      content: { role: 'user', parts: [{ text }] },
    });
    await opened().appendEvent({ session, event, run: {} });
  }
}

/** Appends events to several sessions, all at once. */
export async function writeMany(sessions: number, events: number): Promise<void> {
  await Promise.all(
    Array.from({ length: sessions }, (_, number) => {
      const texts = Array.from({ length: events }, (_, place) => `${number}:${place}`);
      return write(`many ${number}`, texts);
    }),
  );
}

/** The number of events that wait. */
export function pending(): number {
  return opened().status.pending.reduce((sum, { events }) => sum + events, 0);
}

/** Resolves with the first status for which something holds. */
export function untilStatus(holds: (status: CacheStatus) => boolean): Promise<CacheStatus> {
  return new Promise((resolve) => {
    const look = (status: CacheStatus): void => {
      if (!holds(status)) return;
      stop();
      resolve(status);
    };
    const stop = opened().watchStatus(look);
    look(opened().status);
  });
}

/** Resolves when a request of any tab has not reached the server. */
export async function untilOffline(): Promise<void> {
  await untilStatus(({ isOnline }) => !isOnline);
}

/** Resolves when nothing waits, sent or not. */
export async function untilEmpty(): Promise<void> {
  await untilStatus(({ pending }) => pending.length === 0);
}

/** Resolves when nothing waits, however long that takes. */
export async function untilSent(): Promise<void> {
  await untilStatus(
    ({ pending, lastSuccess }) => pending.length === 0 && lastSuccess !== undefined,
  );
}

/** Resolves when the copy of the session has that many events. */
export async function untilRead(sessionId: string, count: number): Promise<string[]> {
  const key = keyOf(sessionId);
  const notices = opened().watch(key);
  for (;;) {
    const texts = (await read(sessionId)) ?? [];
    if (texts.length >= count) return texts;
    await notices.next();
  }
}

export async function sync(): Promise<void> {
  await opened().sync();
}

export async function forget(): Promise<void> {
  handles.clear();
  await opened().forget();
}

export async function close(): Promise<void> {
  await opened().close();
  cache = undefined;
}

function eventOf(text: string) {
  return createEvent({ author: 'user', invocationId: 'i', content: { parts: [{ text }] } });
}

function textsOf(session: Session | undefined): string[] | undefined {
  return session?.events.map(({ content }) => String(content?.parts?.[0]?.text));
}
