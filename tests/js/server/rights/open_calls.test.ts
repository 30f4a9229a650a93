import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { openCallsIn } from '../../../../js/server/rights/client_append.js';
import { createEvent, type Event, InMemorySessionService } from '../../../../js/index.js';
import { openQuestions } from '../../../../js/service/runs/user_answers.js';
import { runs } from '../../../properties.js';

const IDS = ['c0', 'c1', 'c2', 'c3'];

/** What an event does: it calls, answers, or rewinds. */
interface Step {
  readonly kind:
    'question' | 'longRunning' | 'call' | 'answer' | 'response' | 'endEvent' | 'rewind';
  readonly id: string;
  readonly turn: number;
}

const step = (kinds: readonly Step['kind'][]) =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    id: fc.constantFrom(...IDS),
    turn: fc.nat({ max: 3 }),
  });

function eventOf({ kind, id, turn }: Step, number: number): Event {
  const name = kind === 'question' ? 'adk_request_input' : 'buy';
  const isCall = kind === 'question' || kind === 'longRunning' || kind === 'call';
  const part = isCall
    ? { functionCall: { id, name, args: {} } }
    : { functionResponse: { id, name, response: {} } };
  const invocationId = `i${turn}`;
  const rewindBeforeInvocationId = invocationId;
  const author = kind === 'answer' || kind === 'rewind' ? 'user' : 'agent';
  const event = createEvent({ id: `e${number}`, invocationId, author });
  if (kind === 'rewind') Object.assign(event.actions, { rewindBeforeInvocationId });
  else event.content = { parts: [part] };
  if (kind === 'longRunning') event.longRunningToolIds = [id];
  if (kind === 'endEvent') event.errorCode = 'INVOCATION_ABORTED';
  return event;
}

const KINDS = ['question', 'longRunning', 'call', 'answer', 'response', 'endEvent'] as const;

describe('The open calls of the last events', () => {
  it('are those of the whole history, or earlier events are asked for', async () => {
    await new InMemorySessionService().createSession({ appName: 'shop', userId: 'ada' });
    let [known, unknown] = [0, 0];
    const agrees = (steps: readonly Step[], asked: readonly string[]): void => {
      const events = steps.map(eventOf);
      const whole = openCallsIn(events, new Set(asked), true);
      for (const count of events.keys()) {
        const open = openCallsIn(events.slice(-count - 1), new Set(asked), false);
        if (open === undefined) unknown += 1;
        else known += 1;
        if (open !== undefined) assert.deepEqual(open, whole);
      }
    };
    const steps = fc.array(step([...KINDS, ...KINDS, 'rewind']), { maxLength: 16 });
    fc.assert(fc.property(steps, fc.subarray(IDS, { minLength: 1 }), agrees), runs(500));
    assert.ok(known > 100 && unknown > 100, `${known} known, ${unknown} unknown`);
  });

  it('are those that a live session asks, if no id is used again', async () => {
    await new InMemorySessionService().createSession({ appName: 'shop', userId: 'ada' });
    const agrees = (steps: readonly Step[]): void => {
      const called = new Set<string>();
      const isFirst = ({ kind, id }: Step): boolean => {
        const isCall = kind === 'question' || kind === 'longRunning' || kind === 'call';
        // An answer before its call answers nothing that is known.
        if (isCall ? called.has(id) : !called.has(id)) return false;
        called.add(id);
        return true;
      };
      const events = steps.filter(isFirst).map(eventOf);
      const open = openCallsIn(events, new Set(IDS), true);
      const asked = openQuestions(events).map(
        ({ callId, callName }) => [callId, callName] as const,
      );
      assert.deepEqual(open, new Map(asked));
    };
    fc.assert(fc.property(fc.array(step(KINDS), { maxLength: 16 }), agrees), runs(500));
  });
});
