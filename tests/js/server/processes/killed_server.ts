// A server that is killed at each append of a run. Another one over the same database goes on.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { storedStatus } from '../../../../js/service/runs/agent/run_status.js';
import { textsOf } from '../../ui/live/runs/agents.js';
import { askAgent, cancel, createSession, eventsOf, untilText } from './servers/client.js';
import type { KillPoint } from './servers/agent_server.js';
import { RunLog, type ServerProcess, startAgentServer } from './servers/server_process.js';

/** The message, the call, its answer and the text. */
const APPENDS = [1, 2, 3, 4];

/** All places of a run in which a server can be killed. */
export const KILL_POINTS: readonly KillPoint[] = [
  ...APPENDS.flatMap((number) => [
    { at: 'append', number, when: 'before' } as const,
    { at: 'append', number, when: 'after' } as const,
  ]),
  { at: 'partial', number: 1 },
  { at: 'partial', number: 4 },
  { at: 'tool', number: 1 },
];

/** The places that differ most, for the gate. */
export const FIVE_KILL_POINTS: readonly KillPoint[] = [
  { at: 'append', number: 1, when: 'before' },
  { at: 'append', number: 1, when: 'after' },
  { at: 'append', number: 3, when: 'before' },
  { at: 'partial', number: 4 },
  { at: 'tool', number: 1 },
];

/** The appends, killed after so many milliseconds. */
export const killsWithin = (...delays: number[]): KillPoint[] =>
  delays.flatMap((ms) =>
    APPENDS.map((number) => ({ at: 'append', number, when: 'within', ms }) as const),
  );

/** Returns the texts of the run of `look …` up to an append; undefined: it is not known whether the append is stored. */
function storedBefore(point: KillPoint): number | undefined {
  if (point.at === 'tool') return 2;
  if (point.at === 'partial') return point.number === 1 ? 1 : 3;
  if (point.when === 'within') return undefined;
  return point.when === 'before' ? point.number - 1 : point.number;
}

export function losesNothing(
  title: string,
  urlOf: (log: RunLog) => string | Promise<string>,
  points: readonly KillPoint[],
): void {
  describe(`A server over ${title} that is killed`, () => {
    const log = new RunLog();
    let url: string;
    let next: ServerProcess;
    before(async () => {
      url = await urlOf(log);
      next = await startAgentServer({ url, log: log.path });
    });
    after(async () => {
      await next[Symbol.asyncDispose]();
      log.remove();
    });

    for (const [index, killAt] of points.entries()) {
      const { at, number, ...rest } = killAt;
      const place = [...('when' in rest ? [rest.when] : ['at']), at, number];
      it(`${place.join(' ')} loses no message, and none runs twice (${index + 1})`, async () => {
        const sessionId = `s${index}`;
        const message = `look ${index}`;
        await createSession(next.origin, sessionId);
        await using killed = await startAgentServer({ url, log: log.path, killAt });
        const isAcknowledged = await askAgent(killed.origin, sessionId, message).then(
          ({ status }) => status === 200,
          () => false,
        );
        assert.equal((await killed.ended).signal, 'SIGKILL');

        const left = await eventsOf(next.origin, sessionId);
        const expected = storedBefore(killAt);
        if (expected !== undefined) assert.equal(left.length, expected);
        if (isAcknowledged) assert.equal(left[0]?.id, message);
        assert.equal(storedStatus(left)?.status, statusAfter(left.length));

        const again = await askAgent(next.origin, sessionId, message);
        assert.equal(again.status, 200);
        const wasStored = left.length > 0;
        if (!wasStored) await untilText(next.origin, sessionId, 'Seen');
        const events = await eventsOf(next.origin, sessionId);
        const all = [message, 'Let me look', '', 'Seen'];
        assert.deepEqual(textsOf(events), wasStored ? all.slice(0, left.length) : all);
        assert.ok(log.runs(message) <= 1, `${log.runs(message)} runs`);

        const turn = `look again ${index}`;
        if (storedStatus(left)?.status === 'unanswered') {
          // As far as this server knows, the other one may still answer. A Stop frees the session.
          assert.equal((await askAgent(next.origin, sessionId, turn)).status, 409);
          const { body } = await cancel(next.origin, sessionId, message);
          assert.deepEqual(body, { cancelled: true });
        }
        // The model of the next turn fails at a request that a provider would refuse.
        assert.equal((await askAgent(next.origin, sessionId, turn)).status, 200);
        const continued = await untilText(next.origin, sessionId, 'Seen');
        assert.deepEqual(textsOf(continued.slice(-4)), [turn, ...all.slice(1)]);
        assert.equal(storedStatus(continued), undefined);
      });
    }
  });
}

/** What a page shows of a run of which so many events are stored. */
const statusAfter = (events: number): string | undefined =>
  events === 0 || events === APPENDS.length ? undefined : 'unanswered';
