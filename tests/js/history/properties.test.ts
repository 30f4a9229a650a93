import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { isSessionError } from '../../../js/errors/errors.js';
import { fork, rewind, stateAt, switchBranch, undoRewind } from '../../../js/history/index.js';
import { viewOf } from '../../../js/history/view.js';
import {
  createEventActions,
  type Event,
  InMemorySessionService,
  type Session,
  State,
  type StateShape,
} from '../../../js/index.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const KEYS = ['initial', 'a', 'b', '__proto__'];

const delta = fc.dictionary(
  fc.constantFrom(...KEYS, 'user:u'),
  fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(null), fc.constant(State.REMOVED)),
  { maxKeys: 3 },
);
const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('append' as const), delta }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('rewind' as const, 'switch' as const),
      at: fc.nat(30),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('undo' as const, 'compaction' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('replace' as const), at: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('fork' as const), at: fc.nat(30) }) },
);

/** A state without keys that are `null`: a rewind leaves `null` where there was no key, as Python does. */
function known(state: StateShape): StateShape {
  const entries = Object.entries(state).filter(
    ([key, value]) => value !== null && !key.startsWith('user:'),
  );
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function applied(state: StateShape, changes: Readonly<StateShape>): StateShape {
  const next = new Map(Object.entries(state));
  for (const [key, value] of Object.entries(changes)) {
    if (value === State.REMOVED) next.delete(key);
    else next.set(key, value);
  }
  return Object.fromEntries(next);
}

/** What the session must be: the transcript and the state before each event, and now. */
class Model {
  readonly #before: { turns: string[]; state: StateShape }[] = [];
  readonly invocations: string[] = [];
  turns: string[] = [];
  state: StateShape = { initial: 0 };

  add(invocationId: string, state: StateShape, turns: string[]): void {
    this.#before.push({ turns: this.turns, state: this.state });
    this.invocations.push(invocationId);
    this.turns = turns;
    this.state = state;
  }

  rewind(marker: string, target: string): void {
    const { turns, state } = this.#before[this.invocations.indexOf(target)]!;
    this.add(marker, state, turns);
  }

  /** The state after the event at an index. */
  after(index: number): StateShape {
    return this.#before[index + 1]?.state ?? this.state;
  }
}

async function read(service: InMemorySessionService): Promise<Session> {
  const session = await service.getSession(key);
  assert.ok(session);
  return session;
}

const transcript = (events: Event[]): string[] =>
  viewOf(events, 'transcript').events.map(({ id }) => id);

describe('Any order of appends, rewinds, switches, forks, compactions and replacements', () => {
  it('has the state and the transcript of a model', async () => {
    const commands = fc.array(command, { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(commands, async (commands) => {
        const service = new InMemorySessionService();
        const handle = await service.createSession({ ...key, state: { initial: 0 } });
        const model = new Model();
        const markers: string[] = [];
        for (const [number, step] of commands.entries()) {
          const { events, state } = await read(service);
          const pick = 'at' in step ? step.at % Math.max(events.length, 1) : 0;
          const target = events[pick];
          const id = `e${number}`;
          if (step.type === 'append') {
            const event = {
              id,
              invocationId: `i${number}`,
              timestamp: number,
              content: { role: 'model', parts: [{ text: id }] },
              actions: createEventActions({ stateDelta: step.delta }),
            };
            await service.appendEvent({ session: handle, event });
            const next = applied(model.state, step.delta);
            model.add(event.invocationId, next, [...model.turns, id]);
          } else if (step.type === 'compaction') {
            const compaction = {
              startTimestamp: 0,
              endTimestamp: number - 1,
              compactedContent: { role: 'model', parts: [] },
            };
            const actions = createEventActions({ compaction } as object);
            const event = { id, invocationId: `s${number}`, timestamp: number, actions };
            await service.appendEvent({ session: handle, event });
            model.add(event.invocationId, model.state, model.turns);
          } else if (step.type === 'replace' && target !== undefined) {
            const event = { ...target, content: { role: 'model', parts: [{ text: id }] } };
            // A replacement applies its delta again. It tells nothing of the state if others wrote its keys since.
            const again = applied(model.state, target.actions.stateDelta);
            const isSame = JSON.stringify(known(again)) === JSON.stringify(known(model.state));
            if (target.content === undefined || !isSame) continue;
            await service.appendEvent({ session: await read(service), event });
          } else if (step.type === 'rewind' && target !== undefined) {
            const { invocationId } = target;
            const { event } = await rewind(service, { ...key, before: { eventId: target.id } });
            model.rewind(event.invocationId, invocationId);
            markers.push(event.invocationId);

            const undone = await undoRewind(service, key);
            assert.deepEqual(known((await read(service)).state), known(state), 'undo');
            model.rewind(undone.event.invocationId, event.invocationId);
            markers.push(undone.event.invocationId);
            const again = await rewind(service, { ...key, before: { invocationId } });
            model.rewind(again.event.invocationId, invocationId);
            markers.push(again.event.invocationId);
          } else if (step.type === 'switch' && markers.length > 0) {
            const branch = markers[step.at % markers.length]!;
            const { event } = await switchBranch(service, { ...key, branch });
            model.rewind(event.invocationId, branch);
            markers.push(event.invocationId);
          } else if (step.type === 'undo') {
            const undone = undoRewind(service, key);
            const last = markers.at(-1);
            if (last === undefined) {
              await assert.rejects(undone, (error) => isSessionError(error, 'not_found'));
            } else {
              const { invocationId } = (await undone).event;
              model.rewind(invocationId, last);
              markers.push(invocationId);
            }
          } else if (step.type === 'fork' && target !== undefined) {
            const place = { eventId: target.id };
            const forked = await fork(service, { ...key, at: place });
            const at = await stateAt(service, { ...key, ...place });
            assert.deepEqual(at.unknownKeys, []);
            assert.deepEqual(known(at.state), known(model.after(pick)));
            assert.deepEqual(known(forked.state), known(at.state));
            assert.equal(forked.events.length, pick + 1);
          }
        }
        const session = await read(service);
        assert.deepEqual(known(session.state), known(model.state));
        assert.deepEqual(transcript(session.events), model.turns);
        assert.equal(session.events.length, model.invocations.length);
      }),
      { numRuns: 300 },
    );
  });
});
