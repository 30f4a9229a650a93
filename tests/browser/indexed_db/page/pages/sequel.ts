// Appends after a failed one: each must get its own outcome, within its own time limit.

import { IndexedDbSessionService, type Session } from 'adk-session-wasm';
import { around } from '../around.js';
import { takeId } from '../writes/atomicity.js';
import { keepAlive, openBare } from '../bare.js';
import { failure, idsOf, keyOf, mark } from '../events.js';
import { counting } from './resuming.js';
import { TIMEOUT, Watchdogs } from '../watchdogs.js';

/** How an append is brought to its end. */
export type End = 'stored' | 'violating' | 'unanswered' | 'broken';

/** The outcomes of the appends, `stored` or a code, and the stored events at the end. */
export interface AppendResult {
  outcomes: string[];
  events: string[];
}

/** A session, and what appends to it go through. */
class Stage {
  readonly watchdogs = new Watchdogs();
  readonly service: IndexedDbSessionService;
  readonly #name: string;
  #session: Session | undefined;

  constructor(name: string) {
    this.#name = name;
    this.service = new IndexedDbSessionService({ name, timeoutMs: TIMEOUT });
  }

  async session(): Promise<Session> {
    // Every row exists from the beginning, so that the second append builds on all rows of the first.
    const state = { begin: 0, 'user:begin': 0, 'app:begin': 0 };
    this.#session ??= await this.service.createSession({ ...keyOf('one'), state });
    return this.#session;
  }

  async append(id: string): Promise<string> {
    const session = await this.session();
    const append = this.service.appendEvent({ session, event: mark(id) });
    return append.then(
      () => 'stored',
      async () => (await failure(() => append)).code,
    );
  }

  /** Holds all stores with a transaction of another connection. */
  async hold(): Promise<() => Promise<void>> {
    const other = await openBare(this.#name);
    const transaction = other.transaction([...other.objectStoreNames], 'readwrite');
    const release = keepAlive(transaction, 'meta');
    return async () => {
      await release();
      other.close();
    };
  }

  readonly ends: Record<End, (id: string) => Promise<string>> = {
    stored: (id) => this.append(id),
    violating: async (id) => {
      const thief = takeId(id);
      const outcome = await this.append(id);
      thief.stop();
      return outcome;
    },
    unanswered: async (id) => {
      await this.session();
      const release = await this.hold();
      const appended = this.append(id);
      // It is tried again after the first time.
      for (let times = 0; times < 2; times += 1) {
        await this.watchdogs.started();
        this.watchdogs.pass();
      }
      const outcome = await appended;
      await release();
      return outcome;
    },
    broken: async (id) => {
      const stop = abortWhatStores(id);
      const outcome = await this.append(id);
      stop();
      return outcome;
    },
  };

  async close(outcomes: string[]): Promise<AppendResult> {
    const events = idsOf(await this.service.getSession(keyOf('one')));
    await this.service.close();
    this.watchdogs.stop();
    return { outcomes, events };
  }
}

/** From now on, each transaction that stores the event `id` ends as one whose connection broke. */
function abortWhatStores(id: string): () => void {
  return around(IDBObjectStore.prototype, 'add', (store, values, proceed) => {
    const request = proceed(...values);
    const { ids } = values[0] as { ids: string[] };
    if (ids.some((entry) => entry.endsWith(`/${id}`))) store.transaction.abort();
    return request;
  });
}

/** One append a way to end, one after the other, by the same handle. */
export async function appendInTurn(name: string, ends: End[]): Promise<AppendResult> {
  const stage = new Stage(name);
  const outcomes: string[] = [];
  for (const [place, end] of ends.entries()) {
    outcomes.push(await stage.ends[end](`${place} ${end}`));
  }
  return stage.close(outcomes);
}

/** The first transaction of an append is given up; the way is free before the second one is. */
export async function giveUpOnce(name: string): Promise<AppendResult> {
  const stage = new Stage(name);
  await stage.session();
  const release = await stage.hold();
  const appended = stage.append('one');
  await stage.watchdogs.started();
  stage.watchdogs.pass();
  await stage.watchdogs.started();
  await release();
  return stage.close([await appended]);
}

/** The timer of a stored append goes off while the next one has time left; and how many are given up over that. */
export async function goOffEarly(name: string): Promise<AppendResult & { aborted: number }> {
  const stage = new Stage(name);
  const outcomes = [await stage.append('one')];
  const release = await stage.hold();
  const aborted = await counting(async () => {
    const appended = stage.append('two');
    await stage.watchdogs.started();
    stage.watchdogs.goOff();
    await release();
    outcomes.push(await appended);
  });
  return { ...(await stage.close(outcomes)), aborted };
}

/** The timer of a stored append fires before the next append, which gets no event. */
export async function runOutBetween(name: string): Promise<AppendResult> {
  const stage = new Stage(name);
  const outcomes = [await stage.append('one')];
  stage.watchdogs.pass();
  outcomes.push(await stage.ends.unanswered('two'));
  return stage.close(outcomes);
}

/** Another service writes in between, so what the last append left is mistaken; then the next one comes to that end. */
export async function mistakeThenEnd(name: string, end: End): Promise<AppendResult> {
  const stage = new Stage(name);
  const outcomes = [await stage.append('one')];
  const other = new IndexedDbSessionService({ name });
  const session = await other.getSession(keyOf('one'));
  await other.appendEvent({ session: session!, event: mark('other') });
  await other.close();
  outcomes.push(await stage.ends[end]('two'), await stage.append('three'));
  return stage.close(outcomes);
}
