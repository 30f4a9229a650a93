// What fails is shown: in the page that asked, after a reload, and on another device.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Runner } from '@google/adk';

import {
  InMemorySessionService,
  isSessionError,
  type SessionService,
} from '../../../../../../js/index.js';
import { asAdkService, runWith } from '../../../../../../js/service/adk/index.js';
import {
  liveSession,
  type LiveSession,
  type LiveSessionSnapshot,
  type RunAgent,
} from '../../../../../../js/ui/live/index.js';
import { KEY, snapshotOf } from '../../stores.js';
import { asks, echo, says, textsOf } from '../agents.js';
import { AGENTS, type Expected, STORED_BY_PYTHON } from './failures.js';
import { ServedAgent } from '../served.js';

/** A page that asks, and pages that are opened after the run. */
interface Pages {
  readonly asking: LiveSession;
  readonly reload: () => Promise<LiveSession>;
  readonly otherDevice?: () => Promise<LiveSession>;
  /** What the operator of the server got. */
  readonly errors: readonly unknown[];
}

type Open = (test: TestContext, makeRun: (service: SessionService) => RunAgent) => Promise<Pages>;

const inPage: Open = async (test, makeRun) => {
  const service = new InMemorySessionService();
  const run = makeRun(service);
  const open = async () => {
    const chat = liveSession(service, KEY, { run });
    test.after(chat.subscribe(() => undefined));
    await chat.load();
    return chat;
  };
  // Another realm knows nothing of the runs of this one.
  const reload = async () => {
    const copy = new InMemorySessionService();
    const { events = [] } = (await service.getSession(KEY)) ?? {};
    await copy.appendEvents({ session: await copy.createSession(KEY), events });
    const chat = liveSession(copy, KEY, { run });
    test.after(chat.subscribe(() => undefined));
    await chat.load();
    return chat;
  };
  return { asking: await open(), reload, errors: [] };
};

const served =
  (openService: (server: ServedAgent) => SessionService): Open =>
  async (test, makeRun) => {
    const server = new ServedAgent(undefined);
    await server.open(makeRun(server.service));
    test.after(() => server.end());
    const service = openService(server);
    const open = async (over: SessionService) => (await server.page(over)).chat;
    return {
      asking: await open(service),
      reload: async () => open(openService(server)),
      otherDevice: async () => open(server.remote()),
      errors: server.errors,
    };
  };

const PLACES: Readonly<Record<string, Open>> = {
  'a page': inPage,
  HTTP: served((server) => server.remote()),
  'a cache': served((server) => server.cache()),
};

const isOver = (count: number) => (snapshot: LiveSessionSnapshot) =>
  snapshot.events.length >= count &&
  snapshot.run?.status !== 'running' &&
  snapshot.run?.status !== 'queued';

/** Waits until a page shows a run as it should, once it knows of runs. */
async function assertShown(chat: LiveSession, count: number, { status, cause }: Expected) {
  // Resolves once the page knows.
  await chat.cancel('another message');
  const shown = await snapshotOf(
    chat,
    (snapshot) => isOver(count)(snapshot) && snapshot.run?.status === status,
  );
  assertCause(shown, { status, cause });
  return shown;
}

function assertCause({ run }: LiveSessionSnapshot, { status, cause }: Expected): void {
  if (status !== 'failed') return assert.equal(run?.error, undefined);
  assert.ok(isSessionError(run?.error, 'run_failed'));
  if (cause !== undefined) assert.deepEqual(run.error.cause, cause);
}

for (const [place, open] of Object.entries(PLACES)) {
  describe(`A run over ${place}`, () => {
    for (const [what, [makeAgent, expected]] of Object.entries(AGENTS)) {
      it(`is ${expected.status ?? 'answered'} after: ${what}`, async (test) => {
        const makeRun = (service: SessionService): RunAgent =>
          runWith(
            new Runner({
              appName: KEY.appName,
              agent: makeAgent(),
              sessionService: asAdkService(service),
            }),
          );
        const { asking, reload, otherDevice } = await open(test, makeRun);
        await asking.ask(asks('hi'));
        const shown = await snapshotOf(asking, isOver(2));
        assert.equal(shown.run?.status, expected.status);
        assertCause(shown, expected);
        assert.deepEqual(textsOf(shown.drafts), expected.draft ? [expected.draft] : []);
        const count = shown.events.length;
        await assertShown(await reload(), count, expected);
        if (otherDevice !== undefined) await assertShown(await otherDevice(), count, expected);
      });
    }

    it('whose agent throws is failed after a reload too, without what was thrown', async (test) => {
      const failing: RunAgent = async function* () {
        yield { author: 'guide', partial: true, content: says('Gre') };
        throw new Error('the key sk-1 is wrong');
      };
      const { asking, reload } = await open(test, () => failing);
      await asking.ask(asks('hi'));
      const { drafts } = await snapshotOf(asking, ({ run }) => run?.status === 'failed');
      assert.deepEqual(textsOf(drafts), ['Gre']);
      const { run, events } = await assertShown(await reload(), 2, { status: 'failed' });
      assert.ok(isSessionError(run?.error, 'run_failed'));
      assert.equal(run.error.message, 'The agent failed.');
      const [, end] = events;
      assert.equal(end?.errorCode, 'RUN_FAILED');
      assert.equal(end.author, 'guide');
      assert.equal(end.content, undefined);
      assert.doesNotMatch(JSON.stringify(events), /sk-1/);
    });
  });
}

describe('A run whose last event is an error', () => {
  const failsOnce = (): RunAgent => {
    let count = 0;
    return async function* (context) {
      count += 1;
      if (count === 1) yield { author: 'guide', errorCode: '429', errorMessage: 'quota' };
      else yield* echo(context);
    };
  };

  it('pauses the queue of the page, until the next message', async (test) => {
    const { asking } = await inPage(test, failsOnce);
    const first = asking.ask(asks('hi'));
    void asking.ask(asks('you'));
    await first;
    const { run } = await snapshotOf(asking, (shown) => shown.run?.isPaused === true);
    assert.equal(run?.status, 'failed');
    await asking.ask(asks('again'));
    await snapshotOf(asking, (shown) => shown.run === undefined && shown.events.length === 6);
  });

  it('is no error for the operator of the server', async (test) => {
    const { asking, errors } = await PLACES.HTTP!(test, failsOnce);
    await asking.ask(asks('hi'));
    await snapshotOf(asking, ({ run }) => run?.status === 'failed');
    assert.deepEqual(errors, []);
  });
});

describe('A message that google-adk has stored', () => {
  for (const [what, [events, expected]] of Object.entries(STORED_BY_PYTHON)) {
    it(`is shown as ${expected.status ?? 'answered'} after: ${what}`, async (test) => {
      const service = new InMemorySessionService();
      const session = await service.createSession(KEY);
      const stored = [{ author: 'user', content: asks('hi') }, ...events].map((event) => ({
        author: 'guide',
        ...event,
        invocationId: 'e-1',
      }));
      await service.appendEvents({ session, events: stored });
      const chat = liveSession(service, KEY, { run: echo });
      test.after(chat.subscribe(() => undefined));
      await chat.load();
      await assertShown(chat, stored.length, expected);
    });
  }

  it('is not answered by an event of another invocation', async (test) => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const events = [
      { author: 'user', invocationId: 'e-1', content: asks('hi') },
      { author: 'guide', invocationId: 'e-0', content: says('late') },
    ];
    await service.appendEvents({ session, events });
    const chat = liveSession(service, KEY, { run: echo });
    test.after(chat.subscribe(() => undefined));
    await chat.load();
    await assertShown(chat, 2, { status: 'unanswered' });
  });
});
