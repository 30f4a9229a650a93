// Rewinds that others overtake: how often they are computed again, and what becomes of the run under way.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { requireHistory } from '../../../../../js/core/history/histories.js';
import { sendRewind } from '../../../../../js/core/history/rewind.js';
import type {
  RewindOptions,
  RewindWrite,
  RunUnderWay,
} from '../../../../../js/core/history_types.js';
import { InMemorySessionService, SessionError } from '../../../../../js/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { isSessionError } from '../../../../../js/values/errors/errors.js';
import { sqliteFiles } from '../../../../interop/database/shared_databases.js';
import { overtake } from './overtaken.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const write: RewindWrite = {
  kind: 'rewind',
  key,
  marker: { id: 'r1', invocationId: 'i-r1' },
  place: { before: { invocationId: 'i1' } },
};
const message = { id: 'm1', invocationId: 'i1', author: 'user' };

const newFile = sqliteFiles();
const services: StoredSessionService[] = [];
after(() => Promise.all(services.map((service) => service.close())));

/** A service over which all of a session is read, and one over which its last events are enough. */
const SERVICES = {
  'of a whole session': () => Promise.resolve(new InMemorySessionService()),
  'of the last events': async () => new DatabaseSessionService((await newFile()).ours),
};

/** The number of the events of an earlier run. */
const EARLIER = 100;

/** A session with the message of a run, and appends that come before each attempt to rewind. */
async function overtaken(
  open: () => Promise<StoredSessionService>,
  comeBefore: (attempt: number) => string | undefined,
) {
  const service = await open();
  services.push(service);
  const append = async (invocationId: string, members = {}): Promise<void> => {
    const session = (await service.getSession(key))!;
    await service.appendEvent({ session, event: { invocationId, author: 'guide', ...members } });
  };
  const session = await service.createSession(key);
  const earlier = Array.from({ length: EARLIER }, () => ({ invocationId: 'i0', author: 'guide' }));
  await service.appendEvents({ session, events: earlier });
  await append('i1', message);
  let attempts = 0;
  const conflict: { error?: SessionError } = {};
  await overtake(service, async () => {
    attempts += 1;
    if (conflict.error !== undefined) throw conflict.error;
    const invocationId = comeBefore(attempts);
    if (invocationId !== undefined) await append(invocationId);
  });
  const calls: string[] = [];
  let isOver = false;
  const endEvent = { invocationId: 'i1', author: 'guide', errorCode: 'INVOCATION_ABORTED' };
  const run: RunUnderWay = {
    message,
    endEvents: () => [endEvent],
    async cancel() {
      calls.push('cancel');
      await append('i1', endEvent);
      isOver = true;
    },
    abort() {
      calls.push('abort');
      return Promise.resolve();
    },
  };
  const rewind = (options: RewindOptions = {}, given = write) =>
    requireHistory(service).rewind(given, {
      running: () => (isOver ? undefined : run),
      ...options,
    });
  const names = async () =>
    (await service.getSession(key))!.events
      .slice(EARLIER)
      .map(({ id, author, errorCode }) => errorCode ?? (author === 'user' ? id : author));
  return { service, run, rewind, names, calls, conflict, attempts: () => attempts };
}

for (const [title, open] of Object.entries(SERVICES)) {
  describe(`A rewind ${title}`, () => {
    it('repeats five times when others append, and then throws stale_session', async () => {
      const { rewind, names, calls, attempts } = await overtaken(open, () => 'i2');
      await assert.rejects(rewind(), (error) => {
        assert.ok(isSessionError(error, 'stale_session'));
        assert.equal(error.staleReason, 'other_revision');
        return true;
      });
      assert.equal(attempts(), 6);
      assert.equal((await names()).includes('r1'), false);
      assert.deepEqual(calls, [], 'the run continues');
    });

    it('succeeds at its last attempt', async () => {
      const { rewind, names, calls } = await overtaken(open, (attempt) =>
        attempt < 6 ? 'i2' : undefined,
      );
      assert.equal((await rewind()).isNew, true);
      assert.deepEqual((await names()).slice(-2), ['INVOCATION_ABORTED', 'r1']);
      assert.deepEqual(calls, ['abort']);
    });

    it('does not repeat for a conflict of ids', async () => {
      const { rewind, conflict, attempts } = await overtaken(open, () => undefined);
      conflict.error = new SessionError('stale_session', 'stored', { actualEvents: { r1: 1 } });
      await assert.rejects(rewind(), conflict.error);
      assert.equal(attempts(), 1);
    });

    it('cancels the run when its own events come first three times, and is then stored', async () => {
      const { rewind, names, calls, attempts } = await overtaken(open, (attempt) =>
        attempt <= 3 ? 'i1' : undefined,
      );
      assert.equal((await rewind()).isNew, true);
      assert.deepEqual([calls, attempts()], [['cancel'], 4]);
      const run = ['m1', 'guide', 'guide', 'guide', 'INVOCATION_ABORTED'];
      assert.deepEqual(await names(), [...run, 'r1']);
    });

    it('does not cancel the run when its rights are refused after that', async () => {
      const { rewind, calls } = await overtaken(open, () => 'i1');
      let asked = 0;
      const refused = new Error('refused');
      const admit: RewindOptions['admit'] = (events) => {
        asked += 1;
        return asked > 3 ? Promise.reject(refused) : Promise.resolve([...events]);
      };
      await assert.rejects(rewind({ admit }), refused);
      assert.deepEqual([asked, calls], [4, []]);
    });

    it('does not count events of others as those of the run', async () => {
      const { rewind, calls } = await overtaken(open, (attempt) =>
        attempt <= 4 ? (attempt % 2 === 0 ? 'i1' : 'i2') : undefined,
      );
      await rewind();
      assert.deepEqual(calls, ['abort']);
    });

    it('asks for the run again at each attempt, and leaves alone one whose message it has not read', async () => {
      const { rewind, names, calls, attempts } = await overtaken(open, (attempt) =>
        attempt < 2 ? 'i2' : undefined,
      );
      const asked = new Set<number>();
      const running = (): RunUnderWay => {
        asked.add(attempts());
        const stored = attempts() === 0 ? message : { id: 'm9', invocationId: 'i9' };
        return {
          message: stored,
          endEvents: () => [
            { invocationId: 'i9', author: 'guide', errorCode: 'INVOCATION_ABORTED' },
          ],
          cancel: () => Promise.resolve(void calls.push('cancel')),
          abort: () => Promise.resolve(void calls.push('abort')),
        };
      };
      await rewind({ running });
      assert.deepEqual([[...asked], calls], [[0, 1], []]);
      assert.deepEqual(await names(), ['m1', 'guide', 'r1']);
    });

    it('ends no run that an earlier rewind has undone, and behind its marker one that it brings back', async () => {
      const { service, rewind, names } = await overtaken(open, () => undefined);
      await requireHistory(service).rewind(write);
      const place = { before: { invocationId: 'i-r1' } } as const;
      const marker = { id: 'r2', invocationId: 'i-r2' };
      await rewind({}, { ...write, marker });
      assert.deepEqual(await names(), ['m1', 'r1', 'r2']);
      await rewind({}, { ...write, marker: { id: 'r3', invocationId: 'i-r3' }, place });
      assert.deepEqual(await names(), ['m1', 'r1', 'r2', 'r3', 'INVOCATION_ABORTED']);
    });

    it('refuses the id of an event that stands there, and changes nothing', async () => {
      const { rewind, names, calls } = await overtaken(open, () => undefined);
      const taken: RewindWrite = {
        ...write,
        place: { turn: 'm1' },
        message: { id: 'm1', invocationId: 'i2' },
      };
      await assert.rejects(rewind({}, taken), (error) => {
        return isSessionError(error, 'invalid_argument') && error.key === 'message.id';
      });
      assert.deepEqual([await names(), calls], [['m1'], []]);
    });
  });

  describe(`sendRewind ${title}`, () => {
    it('ends the run under way by the append, and does not end it when it is refused', async () => {
      const { service, run, names, calls } = await overtaken(open, () => undefined);
      const running = () => run;
      const none = { before: { invocationId: 'none' } };
      const refused = sendRewind(service, key, none, { running });
      await assert.rejects(refused, (error) => isSessionError(error, 'not_found'));
      assert.deepEqual([await names(), calls], [['m1'], []]);
      const { event } = await sendRewind(service, key, write.place, { running });
      assert.deepEqual([await names(), calls], [['m1', 'INVOCATION_ABORTED', event.id], ['abort']]);
    });
  });
}
