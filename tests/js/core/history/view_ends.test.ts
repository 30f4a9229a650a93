import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { mapStorage } from '../../../../examples/map_storage.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { isMarker, isSummarised } from '../../../../js/values/model/event/markers.js';
import { hasCallParts } from '../../../../js/values/model/event/parts.js';
import { viewOf } from '../../../../js/core/history/rules/view.js';
import {
  createEventActions,
  type Event,
  type EventActions,
  type HistoryView,
  InMemorySessionService,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import { tailOfKnown } from '../../../../js/core/history/views/view_parts.js';
import { endOf } from '../../service/read/view/view_model.js';
import { cutPage } from '../../../../js/core/storage/cut_page.js';
import { randomNumbers } from '../../service/read/list_model.js';
import { randomWait } from '../../service/read/random_wait.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

const idsOf = (events: readonly Event[] = []): string[] => events.map(({ id }) => id);

/** A service that tells how many events its last reads have loaded. */
async function recorded() {
  const storage = mapStorage();
  const read = storage.read.bind(storage);
  const loaded: number[] = [];
  storage.read = async (request) => {
    const rows = await read(request);
    loaded.push(rows.events.length);
    return rows;
  };
  return { storage, service: await openSessionService({ storage }), loaded };
}

function event(id: string, invocationId: string, members: Partial<Event> = {}): Event {
  const content = { role: 'model', parts: [{ text: id }] };
  const actions = createEventActions();
  return { id, invocationId, author: 'agent', timestamp: Date.now(), content, actions, ...members };
}

const withMember = (member: object): EventActions => ({ ...createEventActions(), ...member });

const rewound = (id: string, target: string): Event =>
  event(id, id, { actions: withMember({ rewindBeforeInvocationId: target }) });

function compaction(id: string, startTimestamp: number, endTimestamp: number): Event {
  const compactedContent = { role: 'model', parts: [{ text: `summary ${id}` }] };
  const range = { startTimestamp, endTimestamp, compactedContent };
  return event(id, id, {
    actions: withMember({ compaction: range }),
  });
}

/** A compaction of `@google/adk`. */
const compacted = (id: string, endTime: number): Event =>
  event(id, '', { isCompacted: true, endTime } as Partial<Event>);

async function shown(service: SessionService, view: HistoryView, last: number) {
  const session = await service.getSession({ ...key, config: { view, numRecentEvents: last } });
  assert.ok(session);
  return session.events;
}

describe('The end of a view', () => {
  it('gives each reader events of its own', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    const turns = Array.from({ length: 30 }, (_, turn) => event(`e${turn}`, `i${turn}`));
    await service.appendEvents({ session, events: [...turns, rewound('r', 'i20')] });
    const first = structuredClone(await shown(service, 'model', 20));
    for (let reads = 0; reads < 4; reads += 1) {
      const events = await shown(service, 'model', 20);
      assert.deepEqual(events, first);
      for (const read of events) read.content!.parts = [{ text: 'changed by a reader' }];
    }
  });

  it('is read at the cost of its events, also at the first read, if the storage finds markers', async () => {
    const { storage, service, loaded } = await recorded();
    const { read } = storage;
    storage.readMarkers = async ({ key, eventId = '' }) => {
      const { session, events } = await read({ key, window: {} });
      loaded.pop();
      const rows = events.filter(({ id }) => ['r', 'c', 'e2990', eventId].includes(id));
      loaded.push(rows.length);
      return { session, events: rows };
    };
    storage.readPage = async (request) => {
      const { session, events } = await read({ key: request.key, window: {} });
      const page = cutPage(events, request);
      loaded.splice(-1, 1, page?.length ?? 0);
      return { session, events: page };
    };
    const session = await service.createSession(key);
    const turns = Array.from({ length: 3000 }, (_, turn) => event(`e${turn}`, `i${turn}`));
    turns.forEach((turn, at) => (turn.timestamp = 1000 + at));
    await service.appendEvents({ session, events: turns });
    const end = [rewound('r', 'i2990'), compaction('c', 2900, 3980), event('a', 'j1')];
    await service.appendEvents({ session, events: end });
    loaded.length = 0;
    const ids = ['e2987', 'e2988', 'e2989', 'a'];
    assert.deepEqual(idsOf(await shown(service, 'model', 4)), ids);
    // It reads the window, the markers, and the page before what the rewind undid, with one event more.
    assert.deepEqual(loaded, [4, 3, 5]);

    const config = { view: 'transcript', numRecentEvents: 4 } as const;
    const window = (await service.getSession({ ...key, config }))!;
    loaded.length = 0;
    assert.equal(await service.loadOlder(window, 4), true);
    assert.deepEqual(idsOf(window.events), ['e2983', 'e2984', 'e2985', 'e2986', ...ids]);
    assert.deepEqual(loaded, [4, 9], 'the markers, the first event, and the page with one more');
  });

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it(`is what a whole read gives, after any writes (seed ${seed})`, async () => {
      const below = randomNumbers(seed);
      const service =
        seed % 2 === 0
          ? new InMemorySessionService()
          : new DatabaseSessionService('sqlite::memory:');
      after(() => service.close());
      const session = await service.createSession(key);
      let time = 1000;
      for (let step = 0; step < 120; step += 1) {
        time += below(3);
        const [id, invocation] = [`e${step}`, `i${Math.floor(step / 3)}`];
        const kind = below(14);
        const part =
          below(2) === 0
            ? { functionCall: { id: `call${below(20)}`, name: 'f', args: {} } }
            : { functionResponse: { id: `call${below(20)}`, name: 'f', response: {} } };
        const members = { timestamp: below(9) === 0 ? time - 9 : time };
        const written =
          kind === 0
            ? rewound(id, `i${below(1 + Math.floor(step / 3))}`)
            : kind === 1
              ? compaction(id, time - below(40), time - below(20))
              : kind === 2
                ? event(`e${below(1 + step)}`, invocation, { ...members, author: 'edited' })
                : kind === 5
                  ? compacted(id, time - below(40))
                  : kind < 5
                    ? event(id, invocation, {
                        ...members,
                        content: { role: 'model', parts: [part] },
                      })
                    : event(id, invocation, { ...members, ...(kind === 6 && randomWait(below)) });
        if (kind === 3) await service.updateSession(key, { title: `title ${step}` });
        await service.appendEvent({ session, event: written });
        const burst = Array.from({ length: below(10) === 0 ? below(40) : 0 }, (_, at) =>
          event(`${id}-${at}`, invocation, { timestamp: (time += 1) }),
        );
        if (burst.length > 0) await service.appendEvents({ session, events: burst });
        const raw = (await service.getSession(key))!.events;
        for (const view of ['model', 'transcript'] as const) {
          for (const last of [1, 5, 20, 40].slice(below(4))) {
            const end = raw.slice(-last);
            const whole = viewOf(raw, view);
            const all = endOf(whole.events, last, view);
            const events = await shown(service, view, last);
            const isPlain = view === 'transcript' || !end.some(hasCallParts);
            const known = { earlier: [], last: end, later: [], firstId: undefined };
            const tail = tailOfKnown({ ...known, isFromStart: false }, view, last);
            const decided = isPlain ? end : 'answer' in tail ? undefined : tail.events;
            const isStored = !end.some(isMarker) && decided !== undefined;
            const expected = isStored ? decided : all;
            assert.deepEqual(events, expected, `${step} ${view}`);
            const named = expected.filter(({ id }) => whole.summarised.has(id));
            if (!isStored) assert.deepEqual(idsOf(events.filter(isSummarised)), idsOf(named));
          }
        }
      }
    });
  }
});
