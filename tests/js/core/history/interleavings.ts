// Any interleaving of appends, rewinds, switches, forks, compactions and replacements, against a model.
import assert from 'node:assert/strict';
import fc from 'fast-check';

import { isSessionError } from '../../../../js/values/errors/errors.js';
import {
  branches,
  fork,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../js/core/history/index.js';
import {
  createEventActions,
  type Event,
  type Session,
  type SessionService,
  State,
  type StateShape,
} from '../../../../js/index.js';

const KEYS = ['initial', 'a', 'b', '__proto__'];

const delta = fc.dictionary(
  fc.constantFrom(...KEYS, 'user:u'),
  fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(null), fc.constant(State.REMOVED)),
  { maxKeys: 3 },
);
const at = fc.nat(30);

/** `at` picks an event of the session, or a marker. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('append' as const), delta }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('late' as const), delta, at }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('rewind', 'switch'), at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('replace', 'fork'), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom('undo', 'summary', 'compacted') }),
  },
);
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
export const STEPS = fc.array(step, { maxLength: 20 });

/** The session's own keys of a state, in an order that does not depend on the writes. */
function own(state: StateShape): StateShape {
  const entries = Object.entries(state).filter(([key]) => !key.startsWith('user:'));
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

/** A moment of a session: its transcript and its state. */
interface Moment {
  readonly turns: readonly string[];
  readonly state: StateShape;
}

/** What the session must be: before each of its events, and now. */
class Model {
  readonly #before: Moment[] = [];
  readonly invocations: string[] = [];
  now: Moment = { turns: [], state: { initial: 0 } };

  add(invocationId: string, next: Moment): void {
    this.#before.push(this.now);
    this.invocations.push(invocationId);
    this.now = next;
  }

  rewind(marker: string, target: string): void {
    this.add(marker, this.#before[this.invocations.indexOf(target)]!);
  }

  /** The moment with this many of the events. */
  at(count: number): Moment {
    return this.#before[count] ?? this.now;
  }
}

/** One session that is changed step by step, and its model. */
class Interleaving {
  readonly #key = { appName: 'shop', userId: 'ada', sessionId: crypto.randomUUID() };
  readonly #model = new Model();
  readonly #markers: string[] = [];

  constructor(
    readonly service: SessionService,
    /** An old handle, which learns of the others' events by its own appends. */
    readonly handle: () => Promise<Session>,
  ) {}

  static async of(service: SessionService): Promise<Interleaving> {
    const run: Interleaving = new Interleaving(service, () => handle);
    const handle = service.createSession({ ...run.#key, state: { initial: 0 } });
    await handle;
    return run;
  }

  async read(view: 'raw' | 'transcript' = 'raw'): Promise<Session> {
    const session = await this.service.getSession({ ...this.#key, config: { view } });
    assert.ok(session);
    return session;
  }

  async check(title: string): Promise<void> {
    const { turns, state } = this.#model.now;
    const { events } = await this.read('transcript');
    assert.deepEqual(idsOf(events), turns, title);
    const session = await this.read();
    assert.deepEqual(own(session.state), own(state), title);
    assert.equal(session.events.length, this.#model.invocations.length);
  }

  async take(step: Step, number: number): Promise<void> {
    const { service } = this;
    const { events } = await this.read();
    const pick = 'at' in step ? step.at % Math.max(events.length, 1) : 0;
    const target = events[pick];
    const id = `e${number}`;
    if (step.type === 'append') {
      const event = message(id, `i${number}`, number, step.delta);
      const session = await this.handle();
      await service.appendEvent({ session, event });
      this.#add(event);
      // The append has brought it what others have rewound since.
      assert.deepEqual(own(session.state), own(this.#model.now.state));
    } else if (step.type === 'late' && target?.invocationId) {
      const event = message(id, target.invocationId, number, step.delta);
      await service.appendEvent({ session: await this.read(), event });
      this.#add(event);
    } else if (step.type === 'summary' || step.type === 'compacted') {
      await this.#compact(step.type, id, number);
    } else if (step.type === 'replace' && target !== undefined) {
      await this.#replace(target, id);
    } else if (step.type === 'rewind' && target !== undefined) {
      await this.#rewind(target);
    } else if (step.type === 'switch' && this.#markers.length > 0) {
      const branch = this.#markers[pick % this.#markers.length]!;
      const { event } = await switchBranch(service, { ...this.#key, branch });
      this.#noteRewind(event, branch);
    } else if (step.type === 'undo') {
      await this.#undo();
    } else if (step.type === 'fork' && target !== undefined) {
      await this.#fork(events, pick);
    }
    await this.check(`after step ${number}, ${step.type}`);
  }

  #add({ id, invocationId, actions }: Event): void {
    const { turns, state } = this.#model.now;
    const next = { turns: [...turns, id], state: applied(state, actions.stateDelta) };
    this.#model.add(invocationId, next);
  }

  #noteRewind(marker: Event, target: string): void {
    this.#model.rewind(marker.invocationId, target);
    this.#markers.push(marker.invocationId);
  }

  /** A compaction of Python or of `@google/adk`, of all events before it. */
  async #compact(type: 'summary' | 'compacted', id: string, number: number): Promise<void> {
    const range = { startTimestamp: 0, endTimestamp: number - 1 };
    const compaction = { ...range, compactedContent: { role: 'model', parts: [] } };
    const event =
      type === 'summary'
        ? { invocationId: `s${number}`, actions: createEventActions({ compaction } as object) }
        : { invocationId: '', isCompacted: true, startTime: 0, endTime: number - 1 };
    const stored = { id, author: 'user', timestamp: number, ...event };
    await this.service.appendEvent({ session: await this.read(), event: stored });
    this.#model.add(event.invocationId, this.#model.now);
  }

  /** A replacement applies its delta again. Where others have written its keys since, no order of events shows that. */
  async #replace(target: Event, text: string): Promise<void> {
    const { state } = this.#model.now;
    const again = applied(state, target.actions.stateDelta);
    if (target.content === undefined) return;
    if (JSON.stringify(own(again)) !== JSON.stringify(own(state))) return;
    const event = { ...target, content: { role: 'model', parts: [{ text }] } };
    await this.service.appendEvent({ session: await this.read(), event });
  }

  /** A rewind, its undoing, and the undoing of that. */
  async #rewind({ id: eventId, invocationId }: Event): Promise<void> {
    const rewound = rewind(this.service, { ...this.#key, before: { eventId } });
    if (invocationId === '') {
      await assert.rejects(rewound, (error) => isSessionError(error, 'invalid_argument'));
      return;
    }
    const before = this.#model.now;
    const { event } = await rewound;
    this.#noteRewind(event, invocationId);
    await this.check('rewound');
    await this.#undo();
    assert.deepEqual(this.#model.now, before);
    await this.check('undone');
    await this.#undo();
  }

  async #undo(): Promise<void> {
    const undone = undoRewind(this.service, this.#key);
    const last = this.#markers.at(-1);
    if (last === undefined) {
      await assert.rejects(undone, (error) => isSessionError(error, 'not_found'));
    } else {
      this.#noteRewind((await undone).event, last);
    }
  }

  /** Forks at an event and before it. */
  async #fork(events: readonly Event[], pick: number): Promise<void> {
    const place = { eventId: events[pick]!.id };
    const { state, unknownKeys } = await stateAt(this.service, { ...this.#key, ...place });
    assert.deepEqual(unknownKeys, []);
    const forked = await fork(this.service, { ...this.#key, at: place });
    assert.deepEqual(own(forked.state), own(state));
    await this.#checkFork(forked, events.slice(0, pick + 1));
    const earlier = await fork(this.service, { ...this.#key, before: place });
    await this.#checkFork(earlier, events.slice(0, pick));
  }

  async #checkFork(forked: Session, events: readonly Event[]): Promise<void> {
    const expected = this.#model.at(events.length);
    assert.deepEqual(own(forked.state), own(expected.state));
    assert.deepEqual(forked.events, events);
    const { appName, userId, id: sessionId } = forked;
    const config = { view: 'transcript' } as const;
    const read = await this.service.getSession({ appName, userId, sessionId, config });
    assert.deepEqual(idsOf(read?.events ?? []), expected.turns);
    // A branch of the fork can be switched to if its marker was copied.
    for (const { alternatives } of await branches(this.service, { appName, userId, sessionId })) {
      for (const { branch } of alternatives) {
        if (branch !== undefined) {
          await switchBranch(this.service, { appName, userId, sessionId, branch });
        }
      }
    }
  }
}

const idsOf = (events: readonly Event[]): string[] => events.map(({ id }) => id);

function message(id: string, invocationId: string, timestamp: number, delta: StateShape): Event {
  const content = { role: 'model', parts: [{ text: id }] };
  const actions = createEventActions({ stateDelta: delta });
  return { id, invocationId, author: 'guide', timestamp, content, actions };
}

/** Takes the steps in a new session of the service. */
export async function takeSteps(service: SessionService, steps: readonly Step[]): Promise<void> {
  const run = await Interleaving.of(service);
  for (const [number, step] of steps.entries()) await run.take(step, number);
}
