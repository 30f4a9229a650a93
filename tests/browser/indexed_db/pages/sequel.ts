// Appends after a failed one: each must get its own outcome, within its own time limit.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type Session } from 'adk-session-wasm';
import { type Context, newName, tabOfGroup } from '../context.js';
import { around } from '../page/around.js';
import { takeId } from '../writes/atomicity.js';
import { keepAlive, openBare } from '../page/bare.js';
import { failure, idsOf, keyOf, mark } from '../page/events.js';
import { counting } from './resuming.js';
import { TIMEOUT, Watchdogs } from '../page/watchdogs.js';

/** What the tests call in the page. */
export const inPage = { appendInTurn, giveUpOnce, goOffEarly, runOutBetween, mistakeThenEnd };
type Page = typeof inPage;

/** The outcome of an append that ends in this way. */
const OUTCOMES: Record<End, string> = {
  stored: 'stored',
  violating: 'corrupt_record',
  unanswered: 'connection_lost',
  broken: 'connection_lost',
};

const WORDS: Record<End, string> = {
  stored: 'is stored',
  violating: 'violates a constraint',
  unanswered: 'is never answered',
  broken: 'loses its connection',
};

const ENDS = Object.keys(OUTCOMES) as End[];

export function sequel(context: Context): void {
  const page = tabOfGroup<Page>(context);
  for (const earlier of ENDS) {
    for (const later of ENDS) {
      it(`an append that ${WORDS[later]} is reported so after one that ${WORDS[earlier]}`, async () => {
        const ends: End[] = ['stored', earlier, later, 'stored'];
        const { outcomes, events } = await page.tab.call('appendInTurn', newName(), ends);
        assert.deepEqual(
          outcomes,
          ends.map((end) => OUTCOMES[end]),
        );
        const ids = ends.map((end, place) => `${place} ${end}`);
        const stored = ids.filter((_, place) => ends[place] === 'stored');
        assert.deepEqual(events, stored);
      });
    }
  }

  for (const end of ENDS) {
    it(`an append that ${WORDS[end]} is reported so after a write of another service`, async () => {
      const { outcomes, events } = await page.tab.call('mistakeThenEnd', newName(), end);
      assert.deepEqual(outcomes, ['stored', OUTCOMES[end], 'stored']);
      const own = end === 'stored' ? ['two'] : [];
      assert.deepEqual(events, ['one', 'other', ...own, 'three']);
    });
  }

  it('an append is stored once by its second transaction, despite late events of the first', async () => {
    const { outcomes, events } = await page.tab.call('giveUpOnce', newName());
    assert.deepEqual(outcomes, ['stored']);
    assert.deepEqual(events, ['one']);
  });

  it('the timer of a stored append does not end the next one', async () => {
    const { outcomes, events, aborted } = await page.tab.call('goOffEarly', newName());
    assert.deepEqual(outcomes, ['stored', 'stored']);
    assert.equal(aborted, 0, 'it is not even tried again');
    assert.deepEqual(events, ['one', 'two']);
  });

  it("an append has its own timer after the previous one's has fired", async () => {
    const { outcomes, events } = await page.tab.call('runOutBetween', newName());
    assert.deepEqual(outcomes, ['stored', 'connection_lost']);
    assert.deepEqual(events, ['one']);
  });
}

/** How an append is brought to its end. */
type End = 'stored' | 'violating' | 'unanswered' | 'broken';

/** The outcomes of the appends, `stored` or a code, and the stored events at the end. */
interface AppendResult {
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
async function appendInTurn(name: string, ends: End[]): Promise<AppendResult> {
  const stage = new Stage(name);
  const outcomes: string[] = [];
  for (const [place, end] of ends.entries()) {
    outcomes.push(await stage.ends[end](`${place} ${end}`));
  }
  return stage.close(outcomes);
}

/** The first transaction of an append is given up; the way is free before the second one is. */
async function giveUpOnce(name: string): Promise<AppendResult> {
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
async function goOffEarly(name: string): Promise<AppendResult & { aborted: number }> {
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
async function runOutBetween(name: string): Promise<AppendResult> {
  const stage = new Stage(name);
  const outcomes = [await stage.append('one')];
  stage.watchdogs.pass();
  outcomes.push(await stage.ends.unanswered('two'));
  return stage.close(outcomes);
}

/** Another service writes in between, so what the last append left is mistaken; then the next one comes to that end. */
async function mistakeThenEnd(name: string, end: End): Promise<AppendResult> {
  const stage = new Stage(name);
  const outcomes = [await stage.append('one')];
  const other = new IndexedDbSessionService({ name });
  const session = await other.getSession(keyOf('one'));
  await other.appendEvent({ session: session!, event: mark('other') });
  await other.close();
  outcomes.push(await stage.ends[end]('two'), await stage.append('three'));
  return stage.close(outcomes);
}
