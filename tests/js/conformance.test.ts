// The conformance suite in TypeScript: over memory, and over adapters that are synchronous, that are slow, and that
// retry every write.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { mapAdapter } from '../../js/examples/map_adapter.js';
import { type Found, InMemorySessionService, type StorageAdapter } from '../../js/index.js';
import { cutPage } from '../../js/storage/cut_page.js';
import { sortList } from '../../js/storage/list_place.js';
import type { Case } from '../../js/testing/case.js';
import { type OpenStorage, runCase, runVerbCase } from '../../js/testing/run_case.js';
import { verbCases } from '../../js/testing/verb_cases.js';

const file = new URL('../../src/conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

function conforms(title: string, openStorage: OpenStorage): void {
  describe(title, { concurrency: 8 }, () => {
    for (const testCase of cases) it(testCase.name, () => runCase(testCase, openStorage));
    for (const testCase of verbCases) it(testCase.name, () => runVerbCase(testCase, openStorage));
  });
}

/** Makes each verb asynchronous, so that others run in between. */
function late(): StorageAdapter {
  const adapter = mapAdapter();
  const pause = () => new Promise((done) => setTimeout(done, Math.random() * 3));
  const later = async <T>(verb: () => T): Promise<Awaited<T>> => {
    await pause();
    const answer = await verb();
    await pause();
    return answer;
  };
  return {
    create: (request, decide) => later(() => adapter.create(request, decide)),
    append: (request, decide) => later(() => adapter.append(request, decide)),
    read: (request) => later(() => adapter.read(request)),
    list: (request) => later(() => adapter.list(request)),
    describe: (request) => later(() => adapter.describe?.(request) ?? false),
    delete: (request) => later(() => adapter.delete(request)),
  };
}

/** Makes each write call `decide` three times: only the last result counts. */
function retrying(): StorageAdapter {
  const adapter = mapAdapter();
  const write: StorageAdapter['append'] = (request, decide) =>
    adapter.append(request, (found) => {
      decide({ user: undefined, app: undefined, events: [], changed: [], floor: 0 });
      decide(found);
      return decide(found);
    });
  return { ...adapter, create: write, append: write };
}

/** Reads pages of events, and of lists after a place, by verbs of their own. */
function paging(): StorageAdapter {
  const adapter = mapAdapter();
  return {
    ...adapter,
    async readPage(request) {
      const { session, events } = await adapter.read({ key: request.key, window: {} });
      return { session, events: cutPage(events, request), eventCount: events.length };
    },
    async listAfter({ limit, ...request }) {
      const all = await adapter.list({ ...request, offset: 0 });
      return { ...all, sessions: sortList(all.sessions, request).slice(0, limit) };
    },
  };
}

/** Stores appends of several sessions together. Now and then it leaves one to be stored alone, or fails. */
function grouping(adapter: StorageAdapter, isMoody: boolean): StorageAdapter {
  let count = 0;
  return {
    ...adapter,
    appendMany: async (writes) => {
      for (const { request, decide } of writes) {
        count += 1;
        if (isMoody && count % 5 === 0) continue;
        if (isMoody && count % 7 === 0) throw new Error('moody');
        await adapter.append(request, decide);
      }
    },
  };
}

conforms('memory', () => 'memory');
conforms('memory, as a service', (options) => new InMemorySessionService(options));
conforms('a map that answers at once', mapAdapter);
conforms('a map that answers late', late);
conforms('a map that starts writes over', retrying);
conforms('a map that reads pages of events', paging);
conforms('a map that stores groups', () => grouping(mapAdapter(), false));
conforms('a map that stores groups and answers late', () => grouping(late(), false));
conforms('a map that stores parts of groups', () => grouping(mapAdapter(), true));

/** Writes states as they are printed after parsing. */
function reparsing(): StorageAdapter {
  const adapter = mapAdapter();
  const reparsed = <Row extends { state: string }>(row: Row | undefined) =>
    row && { ...row, state: JSON.stringify(JSON.parse(row.state)) };
  const write: StorageAdapter['append'] = (request, decide) =>
    adapter.append(request, (found) => {
      const changes = decide(found);
      if (changes === undefined) return undefined;
      const { session, user, app } = changes;
      return { ...changes, session: reparsed(session), user: reparsed(user), app: reparsed(app) };
    });
  return { ...adapter, create: write, append: write };
}

/** Shows `decide` other rows than the stored ones. */
function showing(change: (found: Found) => Partial<Found>, adapter = mapAdapter()): StorageAdapter {
  const write: StorageAdapter['append'] = (request, decide) =>
    adapter.append(request, (found) => decide({ ...found, ...change(found) }));
  return { ...adapter, create: write, append: write };
}

/** A floor that leaves out deleted states. */
function forgetsStates(): StorageAdapter {
  const adapter = mapAdapter();
  let floor = 0;
  const showingFloor = showing(() => ({ floor }), adapter);
  return {
    ...showingFloor,
    async delete(request) {
      const deleted = await adapter.delete(request);
      if (request.what === 'session' || request.what === 'user') floor = deleted?.floor ?? 0;
    },
  };
}

/** A wrong adapter, a case that finds it, and what the message says. */
const WRONG: [name: string, make: () => StorageAdapter, testCase: string, message: RegExp][] = [
  [
    'parses states and writes them again',
    reparsing,
    'verbs: a write is stored whole, and texts come back as they were written',
    /state text is .* but should be .*\n {2}hint: rule 5 in docs\/writing_an_adapter\.md/,
  ],
  [
    'has a floor below deleted states',
    forgetsStates,
    'verbs: floor is not below a deleted state',
    /floor is 0, but revision 40 was deleted\n {2}hint: rule 7/,
  ],
  [
    'has a floor of 0',
    () => showing(() => ({ floor: 0 })),
    'verbs: floor is not below a deleted session',
    /floor is 0, but revision 50 was deleted\n {2}hint: rule 7/,
  ],
  [
    'has a floor of 0',
    () => showing(() => ({ floor: 0 })),
    'a handle of a deleted session cannot append, even if the id exists again',
    /appendEvent ended with ok.*\n {2}call: appendEvent .* through handle \w+\n {2}hint: .*`floor`.*rule 7/,
  ],
  [
    'has an appendMany that rejects',
    () => ({ ...mapAdapter(), appendMany: () => Promise.reject(new Error('busy')) }),
    'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    /appendMany failed: Error: busy/,
  ],
  [
    'has an appendMany that decides nothing',
    () => ({ ...mapAdapter(), appendMany: () => undefined }),
    'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    /appendMany called no decide/,
  ],
  [
    'has an appendMany that stores nothing',
    () => {
      const adapter = mapAdapter();
      const appendMany: StorageAdapter['appendMany'] = async (writes) => {
        for (const { request, decide } of writes) {
          await adapter.append(request, (found) => void decide(found));
        }
      };
      return { ...adapter, appendMany };
    },
    'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    /revision and events of s1 is \[1,0\], but should be \[2,1\]/,
  ],
  [
    'writes although decide refuses',
    () => {
      const adapter = mapAdapter();
      const write: StorageAdapter['append'] = (request, decide) =>
        adapter.append(request, (found) => {
          const { session } = found;
          const row = session && { ...session, revision: 9 };
          return decide(found) ?? { session: row, user: undefined, app: undefined, events: [] };
        });
      return { ...adapter, create: write, append: write };
    },
    'verbs: a refusal writes nothing',
    /the session is \[1,9,1000\.25\], but should be \[1,1,1000\.25\]\n {2}hint: rule 2/,
  ],
  [
    'does not look up event ids',
    () => showing(() => ({ events: [] })),
    'verbs: decide gets the stored rows that the request asks for',
    /events is \[\], but should be/,
  ],
  [
    'returns changes from since on',
    () => {
      const adapter = mapAdapter();
      const append: StorageAdapter['append'] = (request, decide) =>
        adapter.append({ ...request, since: request.since - 1 }, decide);
      return { ...adapter, append };
    },
    'verbs: changed holds the new and replaced events since a revision',
    /changed since 1 is .*"e1"/,
  ],
  [
    'keeps revisions as 32-bit integers',
    () =>
      showing(({ session }) => ({
        session: session && { ...session, revision: session.revision | 0 },
      })),
    'verbs: revisions may be as large as safe integers',
    /the revision of session is -2, but should be 9007199254740990/,
  ],
  [
    'stores a state only beside a session',
    () => {
      const adapter = mapAdapter();
      const append: StorageAdapter['append'] = (request, decide) =>
        adapter.append(request, (found) => {
          const changes = decide(found);
          return found.session === undefined ? undefined : changes;
        });
      return { ...adapter, append };
    },
    'verbs: a state can be written without a session',
    /the user's state text is undefined/,
  ],
  [
    'lists a user once for each session',
    () => {
      const adapter = mapAdapter();
      return {
        ...adapter,
        async list(request) {
          const listing = await adapter.list(request);
          const users = listing.sessions.flatMap(({ userId }) =>
            listing.users.filter((user) => user.userId === userId),
          );
          return { ...listing, users };
        },
      };
    },
    'verbs: a list has each user once',
    /the users is \[\["user",1\],\["user",1\]\], but should be/,
  ],
];

describe('the conformance suite', () => {
  for (const [what, make, name, message] of WRONG) {
    it(`finds an adapter that ${what}: ${name}`, async () => {
      const testCase = cases.find((testCase) => testCase.name === name);
      const verbCase = verbCases.find((testCase) => testCase.name === name);
      const run = async () => {
        if (testCase !== undefined) await runCase(testCase, make);
        if (verbCase !== undefined) await runVerbCase(verbCase, make);
      };
      await assert.rejects(run, message);
    });
  }

  it('has an example that refuses a scope and a deletion of a later version', async () => {
    const adapter = mapAdapter();
    const later = 'org' as string;
    const request = { key: { appName: 'app' }, scopes: [later as 'app'], eventIds: [], since: 0 };
    const unknown = /does not know 'org'/;
    await assert.rejects(async () => adapter.append(request, () => undefined), unknown);
    const deletion = { what: later as 'appState', key: { appName: 'app' } };
    await assert.rejects(async () => adapter.delete(deletion), unknown);
  });

  it('reports faults of an adapter', async () => {
    const keepsAll = (): StorageAdapter => ({ ...mapAdapter(), delete: () => undefined });
    const failed: string[] = [];
    for (const testCase of cases) {
      await runCase(testCase, keepsAll).catch(() => failed.push(testCase.name));
    }
    assert.ok(failed.includes('a session that is created again starts empty'));
    assert.ok(!failed.includes('a created session is returned completely'));
  });

  it('names the failed step and the reason', async () => {
    const testCase: Case = {
      name: 'wrong',
      steps: [{ op: 'createSession' }, { op: 'getSession', expect: { state: { a: 1 } } }],
    };
    await assert.rejects(
      runCase(testCase, () => 'memory'),
      {
        message: 'step 2: getSession: .state has no key "a", but should\n  call: getSession {}',
      },
    );
  });
});
