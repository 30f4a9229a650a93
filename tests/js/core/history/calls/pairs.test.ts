import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEventActions,
  type Event,
  InMemorySessionService,
  type Part,
} from '../../../../../js/index.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

let time = 1_795_219_000_000;

function event(id: string, author: string, parts: Part[], members: object = {}): Event {
  const role = author === 'user' || parts.some((part) => part.functionResponse) ? 'user' : 'model';
  time += 1000;
  const [invocationId = ''] = id.split('-');
  const content = { role, parts };
  return {
    id,
    invocationId,
    author,
    timestamp: time,
    content,
    actions: createEventActions(),
    ...members,
  };
}

const user = (id: string): Event => event(id, 'user', [{ text: id }]);
const answer = (id: string): Event => event(id, 'root', [{ text: id }]);
const call = (id: string, name = 'pay', args: Record<string, unknown> = {}): Part => ({
  functionCall: { id, name, args },
});
const signed = (id: string): Part => ({ ...call(id), thoughtSignature: 'c2ln' });
const response = (id: string, name = 'pay'): Part => ({
  functionResponse: { id, name, response: { done: true } },
});
const turn = (id: string): Event[] => [user(`${id}-u`), answer(`${id}-a`)];

/** A turn that waits for a confirmation. */
function waiting(id: string, subject: Record<string, unknown>): Event[] {
  const question = call(`${id}-q`, 'adk_request_confirmation', subject);
  return [
    user(`${id}-u`),
    event(`${id}-call`, 'root', [call(`${id}-c`)]),
    event(`${id}-ask`, 'root', [question], { longRunningToolIds: [`${id}-q`] }),
  ];
}

function compaction(id: string, events: readonly Event[]): Event {
  const range = {
    startTimestamp: events[0]!.timestamp,
    endTimestamp: events.at(-1)!.timestamp,
    compactedContent: { role: 'model', parts: [{ text: 'summary' }] },
  };
  const actions = createEventActions({ compaction: range } as object);
  return event(id, 'user', [], { content: undefined, actions });
}

async function stored(events: readonly Event[]): Promise<InMemorySessionService> {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  await service.appendEvents({ session, events: structuredClone([...events]) });
  return service;
}

/** Each event of the view for models, with its calls and responses. */
async function shown(events: readonly Event[], numRecentEvents?: number): Promise<string[]> {
  const service = await stored(events);
  const config = { view: 'model', numRecentEvents } as const;
  const view = (await service.getSession({ ...KEY, config }))!.events;
  const raw = (await service.getSession(KEY))!.events;
  assert.deepEqual(
    raw.map(({ content }) => content),
    events.map(({ content }) => content),
    'what is stored stays as it is',
  );
  return view.map(({ id, content }) => {
    const parts = content?.parts ?? [];
    const ids = parts.map((part) => part.functionCall?.id ?? part.functionResponse?.id ?? 'text');
    return `${id}: ${ids.join(' ')}`;
  });
}

describe('The view for models', () => {
  it('leaves out a call without a response, and keeps the other parts of its event', async () => {
    const events = [
      user('i1-u'),
      event('i1-call', 'root', [{ text: 'Paying.' }, call('c1')]),
      event('i1-other', 'root', [call('c2')]),
      ...turn('i2'),
    ];
    const expected = ['i1-u: text', 'i1-call: text', 'i2-u: text', 'i2-a: text'];
    assert.deepEqual(await shown(events), expected);
  });

  it('moves a thought signature to the next call, or leaves out the whole step', async () => {
    const events = [
      user('i1-u'),
      event('i1-call', 'root', [signed('c1'), call('c2')]),
      event('i1-r', 'root', [response('c2')]),
      event('i1-step', 'root', [{ text: 'Again.' }, signed('c3')]),
      ...turn('i2'),
    ];
    const service = await stored(events);
    const { events: view } = (await service.getSession({ ...KEY, config: { view: 'model' } }))!;
    assert.deepEqual(view[1]?.content?.parts, [signed('c2')]);
    assert.deepEqual(
      view.map(({ id }) => id),
      ['i1-u', 'i1-call', 'i1-r', 'i2-u', 'i2-a'],
    );
  });

  it('leaves out a response without a call before it', async () => {
    const events = [user('i1-u'), event('i1-r', 'user', [response('c9')]), ...turn('i2')];
    assert.deepEqual(await shown(events), ['i1-u: text', 'i2-u: text', 'i2-a: text']);
  });

  for (const subject of [
    { originalFunctionCall: { id: 'i1-c' } },
    { original_function_call: { id: 'i1-c' } },
    { functionCallId: 'i1-c' },
    { function_call_id: 'i1-c' },
  ]) {
    it(`keeps a call that an open question is about: ${JSON.stringify(subject)}`, async () => {
      const view = await shown([...waiting('i1', subject), ...turn('i2')]);
      assert.deepEqual(view.slice(0, 3), ['i1-u: text', 'i1-call: i1-c', 'i1-ask: i1-q']);
      const answered = event('i1-answer', 'user', [response('i1-q', 'adk_request_confirmation')]);
      const closed = await shown([...waiting('i1', subject), answered, ...turn('i2')]);
      assert.ok(!closed.some((text) => text.startsWith('i1-call')), closed.join());
    });
  }

  it('keeps what waits behind a compaction, after its summary, also if its answer is not read yet', async () => {
    const first = turn('i1');
    const paused = waiting('i2', { originalFunctionCall: { id: 'i2-c' } });
    const later = turn('i3');
    const covered = [...first, ...paused, ...later];
    const events = [...covered, compaction('s1', covered), ...turn('i4')];
    const expected = [
      ...['adk-view:s1: text', 'i2-u: text', 'i2-call: i2-c', 'i2-ask: i2-q'],
      ...['i4-u: text', 'i4-a: text'],
    ];
    assert.deepEqual(await shown(events), expected);
    for (const last of [3, 4, 6]) {
      assert.deepEqual(await shown(events, last), expected.slice(-last), `${last}`);
    }
    const reply = event('i2-reply', 'user', [response('i2-q', 'adk_request_confirmation')]);
    assert.deepEqual(await shown([...events, reply]), [...expected, 'i2-reply: i2-q']);
    const read = [...events, reply, event('i2-done', 'root', [response('i2-c')]), answer('i2-end')];
    assert.ok(!(await shown(read)).includes('i2-u: text'));
  });

  it('ends a summary of the framework before what waits', async () => {
    const paused = waiting('i2', { originalFunctionCall: { id: 'i2-c' } });
    const since = paused[0]!.timestamp;
    const events = [...turn('i1'), ...paused, ...turn('i3')];
    const { timestamp: last } = events.at(-1)!;
    for (const [endTime, shownEnd] of [
      [since - 2, since - 2],
      [since, since - 1],
      [last, since - 1],
    ]) {
      const summary = event('j1', 'system', [{ text: 'j1' }], { isCompacted: true, endTime });
      const service = await stored([...events, summary]);
      const view = (await service.getSession({ ...KEY, config: { view: 'model' } }))!;
      const raw = (await service.getSession(KEY))!;
      const [shown, kept] = [view, raw].map((session) => session.events.at(-1) as object);
      assert.deepEqual(shown, { ...kept, endTime: shownEnd });
      assert.equal(
        (kept as { endTime?: number }).endTime,
        endTime,
        'what is stored stays as it is',
      );
    }
  });

  it('keeps a paused workflow behind a compaction', async () => {
    const nodes = (status: number) => ({ agentState: { nodes: { ask: { status } } } });
    const paused = [
      user('i1-u'),
      event('i1-a', 'flow', [{ text: 'Which tea?' }], {
        actions: { ...createEventActions(), ...nodes(4) },
      }),
    ];
    const events = [...paused, ...turn('i2')];
    const all = [...events, compaction('s1', events), ...turn('i3')];
    assert.deepEqual((await shown(all)).slice(0, 3), [
      'adk-view:s1: text',
      'i1-u: text',
      'i1-a: text',
    ]);
    const done = event('i1-b', 'flow', [], { actions: { ...createEventActions(), ...nodes(3) } });
    assert.deepEqual((await shown([...all, done])).slice(0, 2), [
      'adk-view:s1: text',
      'i3-u: text',
    ]);
  });

  it('begins no window between a call and its response', async () => {
    const events = [
      ...turn('i1'),
      user('i2-u'),
      event('i2-call', 'root', [call('c1')]),
      event('i2-r', 'root', [response('c1')]),
      answer('i2-a'),
    ];
    assert.deepEqual(await shown(events, 2), ['i2-call: c1', 'i2-r: c1', 'i2-a: text']);
    assert.deepEqual(await shown(events, 1), ['i2-a: text']);
  });

  it('gives a call that is answered late to the handle of the append', async () => {
    const events = [user('i1-u'), event('i1-call', 'root', [call('c1')]), ...turn('i2')];
    const service = await stored(events);
    const session = (await service.getSession({ ...KEY, config: { view: 'model' } }))!;
    assert.deepEqual(session.events.length, 3);
    await service.appendEvent({ session, event: event('i3-r', 'user', [response('c1')]) });
    assert.deepEqual(
      session.events.map(({ id }) => id),
      ['i1-u', 'i1-call', 'i2-u', 'i2-a', 'i3-r'],
    );
  });
});
