// A rewind is computed from the last events of a session as from all of them, whatever its history is, and reads few rows.

import assert from 'node:assert/strict';
import { after, describe, it, mock } from 'node:test';
import fc from 'fast-check';

import { planWithRun } from '../../../../../js/core/history/append_rewind.js';
import {
  readRewindSource,
  type RewindSource,
} from '../../../../../js/core/history/rewind_source.js';
import { findStoredMarker } from '../../../../../js/core/history/session_history.js';
import { rewind } from '../../../../../js/core/history/index.js';
import { editTurn, regenerateTurn } from '../../../../../js/core/history/turns.js';
import { answeredEvent } from '../../../../../js/core/history/repeated_message.js';
import type { RewindPlace, RunUnderWay } from '../../../../../js/core/history_types.js';
import { coreOf } from '../../../../../js/core/core_of.js';
import type { Store } from '../../../../../js/core/storage/store.js';
import type { ReadyRewind } from '../../../../../js/core/write.js';
import {
  createEvent,
  createEventActions,
  type Event,
  type EventActions,
  isSessionError,
  type NewEvent,
  openSessionService,
  State,
  type StateShape,
} from '../../../../../js/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { endEventsOf } from '../../../../../js/service/runs/agent/end_events.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { sqliteFiles } from '../../../../interop/database/shared_databases.js';
import { MapStorage } from '../../../service/map_storage.js';
import { runs } from '../../../../properties.js';

const newFile = sqliteFiles();
const { ours } = await newFile();
const service = new DatabaseSessionService(ours, { durability: 'relaxed' });
const store = await storeOf(service);
after(() => service.close());

async function storeOf(service: StoredSessionService): Promise<Store> {
  return coreOf(service).callStore<Store>({}, (store) => store);
}

const key = (sessionId: string) => ({ appName: 'shop', userId: 'ada', sessionId });

/** One event of a random history. */
const step = fc.record({
  kind: fc.constantFrom(
    'say',
    'say',
    'answer',
    'agent',
    'resume',
    'rewind',
    'rewind',
    'replace',
    'empty',
  ),
  at: fc.nat(40),
  keys: fc.subarray(['tea', 'cups', 'first', 'user:tea', 'app:tea', 'temp:tea', '__proto__']),
  isRemoved: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Makes the event of a step after others. A rewind may name any invocation, also that of a rewind. */
function eventOf({ kind, at, keys, isRemoved }: Step, number: number, before: Event[]): NewEvent {
  const other = before[at % Math.max(before.length, 1)];
  const value = isRemoved ? State.REMOVED : `${number}`;
  const stateDelta = Object.fromEntries(keys.map((name) => [name, value])) as StateShape;
  const actions = createEventActions({ stateDelta });
  const content = { role: 'user', parts: [{ text: `${number}` }] };
  const event = { id: `e${number}`, invocationId: `i${number}`, author: 'user', content, actions };
  if (other === undefined || kind === 'say') return event;
  const lastInvocation = before.at(-1)!.invocationId;
  if (kind === 'answer') return { ...event, author: 'guide', invocationId: lastInvocation };
  if (kind === 'agent') return { ...event, author: 'guide' };
  if (kind === 'resume') return { ...event, invocationId: other.invocationId };
  if (kind === 'replace') return { ...event, id: other.id };
  if (kind === 'empty') return { ...event, invocationId: '' };
  // The invocation may also begin later.
  const rewindBeforeInvocationId = at % 5 === 0 ? `i${number + 1 + (at % 3)}` : other.invocationId;
  return createEvent({
    id: event.id,
    invocationId: at % 7 === 0 ? other.invocationId : event.invocationId,
    author: 'user',
    actions: { ...actions, rewindBeforeInvocationId },
  });
}

/** A rewind of a random history: its place, the message of the run under way, and the id of its marker. */
const asked = fc.record({
  at: fc.nat(60),
  kind: fc.nat(5),
  runAt: fc.integer({ min: 1, max: 12 }),
  markerAt: fc.nat(200),
});

let sessions = 0;

/** Stores a random history, and returns its session and its events. */
async function stored(steps: readonly Step[], isInitialKnown: boolean) {
  const sessionKey = key(`s${++sessions}`);
  const state = { tea: 'initial', first: 'initial' };
  const given = { ...sessionKey, state, ...(!isInitialKnown && { initialState: 'unknown' }) };
  const session = await service.createSession(given);
  const read = async (): Promise<Event[]> => (await service.getSession(sessionKey))!.events;
  let events: Event[] = [];
  for (const [number, each] of steps.entries()) {
    await service.appendEvent({ session, event: eventOf(each, number, events) });
    events = each.kind === 'replace' ? await read() : [...session.events];
  }
  return { sessionKey, events: await read() };
}

/** The places of rewinds that a history has around an event. */
function placesAt({ id, invocationId }: Event): (readonly [RewindPlace, isEdit?: boolean])[] {
  return [
    [{ before: { eventId: id } }],
    [{ before: { invocationId: invocationId || 'none' } }],
    [{ undo: invocationId || 'none' }],
    [{ branch: invocationId || 'none' }],
    [{ turn: id }],
    [{ turn: id }, true],
  ];
}

function writeOf(
  sessionId: string,
  place: RewindPlace,
  isEdit: boolean,
  markerId: string,
): ReadyRewind {
  const content = { role: 'user', parts: [{ text: 'edited' }] };
  const message = { id: 'new', invocationId: 'i-new', ...(isEdit && { content }) };
  return {
    kind: 'rewind',
    key: key(sessionId),
    marker: { id: markerId, invocationId: 'i-marker' },
    place,
    ...('turn' in place && { message }),
  };
}

/** A store of which all events are read. */
const withoutParts: Store = { ...store, traits: { ...store.traits, readsParts: false } };

const RUN_OF = (message: Event): RunUnderWay => ({
  message,
  endEvents: (events) =>
    endEventsOf({ message, drafts: [], agentName: undefined }, events).map((event, index) => ({
      ...event,
      id: `end${index}`,
    })),
  cancel: () => Promise.resolve(),
  abort: () => Promise.resolve(),
});

async function allBefore({ events, olderEvents }: RewindSource): Promise<string[]> {
  const ids = events.map(({ id }) => id).reverse();
  if (olderEvents !== undefined) for await (const { id } of olderEvents()) ids.push(id);
  return ids;
}

/** Computes a rewind, and what its rights are decided by. */
async function computed(
  over: Store,
  write: ReadyRewind,
  run: RunUnderWay | undefined,
  sizes: [number, number],
) {
  const [first, most] = sizes;
  try {
    const given = { ...write, options: { running: () => run } };
    const { session } = await readRewindSource(over, given, {}, { first, most });
    const storedAt = findStoredMarker(session.events, write);
    if (storedAt >= 0) return { result: { storedAt }, isWhole: session.olderEvents === undefined };
    const { state, ...planned } = await planWithRun(session, write, run);
    assert.ok(state);
    const result = { planned, before: await allBefore(session), revision: session.revision };
    return { result, isWhole: session.olderEvents === undefined };
  } catch (error) {
    assert.ok(isSessionError(error), String(error));
    return { result: { code: error.code, message: error.message }, isWhole: true };
  }
}

describe('readRewindSource', () => {
  it('reads what a rewind computes the same from as from all events', async (test) => {
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2030, 0, 1) });
    test.after(() => mock.timers.reset());
    let fromTail = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 40 }),
      fc.boolean(),
      fc.array(asked, { minLength: 6, maxLength: 6 }),
      fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 })),
      async (steps, isInitialKnown, rewinds, sizes) => {
        const { sessionKey, events } = await stored(steps, isInitialKnown);
        for (const { at, kind, runAt, markerAt } of rewinds) {
          const event = events[at % events.length]!;
          const [place, isEdit = false] = placesAt(event)[kind]!;
          const markerId = events[markerAt]?.id ?? 'marker';
          const write = writeOf(sessionKey.sessionId, place, isEdit, markerId);
          const last = events.at(-runAt);
          const message = last?.author === 'user' ? last : undefined;
          const run = message?.invocationId ? RUN_OF(message) : undefined;
          const expected = await computed(withoutParts, write, run, sizes);
          const tail = await computed(store, write, run, sizes);
          const title = JSON.stringify({ place, isEdit, run: message?.id });
          assert.deepEqual(tail.result, expected.result, title);
          if (!tail.isWhole) fromTail += 1;
        }
      },
    );
    await fc.assert(property, runs(60));
    assert.ok(fromTail > 60, `${fromTail} rewinds`);
  });

  /** Makes a session of 3,000 events, and returns how many events a rewind of its last turn reads. */
  async function eventsRead(
    deltaOf: (number: number) => StateShape,
    isTurn = false,
    markerAt?: number,
    hasNewRun = false,
  ): Promise<number> {
    const sessionKey = key(`s${++sessions}`);
    const session = await service.createSession({ ...sessionKey, state: { tea: 'initial' } });
    const events = Array.from({ length: 3000 }, (_, number): NewEvent => {
      const isMarker = number === markerAt;
      const actions: EventActions = {
        ...createEventActions({ stateDelta: deltaOf(number) }),
        ...(isMarker && { rewindBeforeInvocationId: 'i10' }),
      };
      const content = { role: 'user', parts: [{ text: `${number}` }] };
      const invocationId = isMarker ? 'i-rewind' : `i${number >> 1}`;
      const author = number % 2 === 0 ? 'user' : 'guide';
      return { id: `e${number}`, invocationId, author, content, actions };
    });
    await service.appendEvents({ session, events });
    const event = createEvent({ id: 'run', invocationId: 'i-run', author: 'user' });
    const running = () => (hasNewRun ? RUN_OF(event) : undefined);
    let count = 0;
    const counting: Store = {
      ...store,
      async read(request, call) {
        const found = await store.read(request, call);
        count += (found as { events?: unknown[] } | undefined)?.events?.length ?? 0;
        if (hasNewRun && request.kind === 'window') await service.appendEvent({ session, event });
        return found;
      },
    };
    const place = isTurn ? { turn: 'e2999' } : { before: { eventId: 'e2999' } };
    const write = writeOf(sessionKey.sessionId, place, false, 'marker');
    const given = { ...write, options: { running } };
    const { session: source } = await readRewindSource(counting, given, {});
    await planWithRun(source, write, undefined);
    return count;
  }

  it('reads the last 64 events if the earlier values stand there', async () => {
    // The event that the place names and the first one of its invocation are read by themselves.
    assert.equal(await eventsRead((number) => ({ step: number })), 64 + 2);
    assert.equal(await eventsRead((number) => ({ step: number }), true), 64 + 2);
    assert.equal(await eventsRead(() => ({})), 64 + 2);
  });

  it('reads the last 64 events if a run begins after them', async () => {
    assert.equal(await eventsRead(() => ({}), false, undefined, true), 64 + 3);
  });

  for (const [title, isChanged, count] of [
    ['once for the run if all events are read after the last ones', false, 1],
    ['again for the run if the session has changed between the two reads', true, 2],
  ] as const) {
    it(`asks ${title}`, async () => {
      const sessionKey = key(`s${++sessions}`);
      const session = await service.createSession(sessionKey);
      const events = Array.from({ length: 100 }, (_, number) => ({ invocationId: `i${number}` }));
      await service.appendEvents({ session, events });
      let questions = 0;
      const running = async () => {
        questions += 1;
        if (isChanged && questions === 1)
          await service.appendEvent({ session, event: { invocationId: 'i' } });
        return undefined;
      };
      // Nothing has that invocation.
      const write = writeOf(sessionKey.sessionId, { before: { invocationId: 'none' } }, false, 'x');
      await readRewindSource(store, { ...write, options: { running } }, {});
      assert.equal(questions, count);
    });
  }

  it('reads all events once over a storage that cannot read events by their ids', async () => {
    const storage = new MapStorage();
    storage.pause = () => undefined;
    const read = storage.read.bind(storage);
    let reads = 0;
    storage.read = (request) => {
      reads += 1;
      return read(request);
    };
    const overMaps = await openSessionService({ storage });
    const session = await overMaps.createSession(key('maps'));
    const events = Array.from({ length: 100 }, (_, number) => ({ invocationId: `i${number}` }));
    await overMaps.appendEvents({ session, events });
    reads = 0;
    await rewind(overMaps, { ...key('maps'), before: { invocationId: 'i99' } });
    assert.equal(reads, 1);
    await overMaps.close();
  });

  it('reads back until each key that was written later has its earlier value', async () => {
    const tea = (number: number) => ({ ...([2800, 2999].includes(number) && { tea: number }) });
    assert.equal(await eventsRead(tea), 64 + 256 + 2);
  });

  it('reads all events for a key that is new in the undone turns', async () => {
    const isLast = (number: number) => number === 2999;
    assert.equal(await eventsRead((number) => ({ ...(isLast(number) && { tea: 1 }) })), 3000 + 3);
  });

  it('does not read what an earlier rewind has undone', async () => {
    const tea = (number: number) => ({ ...([15, 2999].includes(number) && { tea: number }) });
    // Of the marker and the first event that it names, both reads of markers have two.
    assert.equal(await eventsRead(tea, false, 2990), 64 + 20 + 1 + 1 + 2);
  });
});

describe('answeredEvent', () => {
  it('does not find a message that a rewind before older events has undone', () => {
    const actions = { ...createEventActions(), rewindBeforeInvocationId: 'older' };
    const content = { role: 'user', parts: [{ text: 'Tea?' }] };
    const events = [
      createEvent({ id: 'e1', invocationId: 'i1', author: 'user', content }),
      createEvent({ id: 'r', invocationId: 'r', actions }),
      createEvent({ id: 'e2', invocationId: 'i2', author: 'guide', content }),
    ];
    assert.equal(answeredEvent({ events }, 'e2').id, 'e1');
    const known = { events, olderInvocations: ['older'] };
    assert.throws(
      () => answeredEvent(known, 'e2'),
      (error) => isSessionError(error, 'invalid_argument'),
    );
  });
});

describe('A rewind over SQL in a long session', () => {
  it('takes the state back, and sends the message again', async () => {
    const sessionKey = { ...key('long'), userId: 'bea' };
    const session = await service.createSession({ ...sessionKey, state: { tea: 'green' } });
    const say = (number: number, stateDelta: StateShape): NewEvent => ({
      id: `e${number}`,
      invocationId: `i${number}`,
      author: 'user',
      content: { role: 'user', parts: [{ text: `${number}` }] },
      actions: createEventActions({ stateDelta }),
    });
    const filler = Array.from({ length: 400 }, (_, number) => say(number, { step: number }));
    await service.appendEvents({ session, events: filler });
    const late = { tea: 'black', step: 400, milk: true, 'user:name': 'Ada' };
    await service.appendEvent({ session, event: say(400, late) });
    const state = async () => (await service.getSession(sessionKey))!.state;

    const { event, unknownKeys } = await rewind(service, {
      ...sessionKey,
      before: { eventId: 'e400' },
    });
    assert.deepEqual(event.actions.stateDelta, { tea: 'green', step: 399, milk: null });
    assert.deepEqual(unknownKeys, []);
    assert.deepEqual(await state(), { tea: 'green', step: 399, 'user:name': 'Ada' });

    const content = { role: 'user', parts: [{ text: 'edited' }] };
    const edited = await editTurn(service, { ...sessionKey, eventId: 'e398', content });
    assert.equal((await state()).step, 398);
    const again = await regenerateTurn(service, { ...sessionKey, eventId: edited.id });
    assert.deepEqual(again.content, content);
    const config = { view: 'transcript', numRecentEvents: 2 } as const;
    const { events } = (await service.getSession({ ...sessionKey, config }))!;
    assert.deepEqual(
      events.map(({ id }) => id),
      ['e397', again.id],
    );
  });
});
