// Runs of an agent on the real `adk api_server`, through the remote client.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { type Event, isSessionError, type Session } from '../../../js/index.js';
import type { RemoteContext } from './remote_context.js';
import { firstText } from '../shared_session.js';

const USER = { appName: 'script', userId: 'ada' };

/** What the agent does; see tests/interop/python/agents/script. */
interface Step {
  readonly say?: string;
  readonly partial?: boolean;
  readonly state?: Readonly<Record<string, unknown>>;
  readonly artifacts?: Readonly<Record<string, number>>;
  /** Seconds by which the event's clock is late. */
  readonly behind?: number;
  readonly wait?: number;
  readonly fail?: string;
}

const message = (...steps: readonly Step[]) => ({
  role: 'user',
  parts: [{ text: JSON.stringify(steps) }],
});

/** The texts of events; the user's message is shown as `…`. */
const textsOf = (events: readonly Event[]) =>
  events.map((event) => (event.author === 'user' ? '…' : firstText(event)));

export function remoteRuns(context: RemoteContext): void {
  const open = (sessionId: string) => context.remote.createSession({ ...USER, sessionId });

  /** The handle must have what the server has, in the same order, and nothing twice. */
  async function assertCurrent(session: Session): Promise<void> {
    const stored = await context.remote.getSession({ ...USER, sessionId: session.id });
    assert.deepEqual({ ...session }, { ...stored });
  }

  it('yields the events, and gives the handle the message and the events in order', async () => {
    const session = await open('order');
    const { events, state } = session;
    const newMessage = message(
      { say: 'one ', partial: true },
      { say: 'two', partial: true },
      { say: 'one two', state: { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'KRW' } },
      { say: 'three', state: { topic: { is: 'milk' } } },
    );
    const stored = ['…', 'one two', 'three'];
    const seen: unknown[] = [];
    const stateDelta = { asked: 1 };
    for await (const event of context.remote.run({
      session,
      newMessage,
      stateDelta,
      streaming: true,
    })) {
      seen.push([firstText(event), event.partial === true]);
      // The server may be ahead of the stream.
      const texts = textsOf(session.events);
      assert.deepEqual(texts, stored.slice(0, texts.length));
      assert.ok(texts.length > 0);
      const isThere = session.events.some(({ id }) => id === event.id);
      assert.equal(isThere, event.partial !== true);
    }
    assert.deepEqual(seen, [
      ['one ', true],
      ['two', true],
      ['one two', false],
      ['three', false],
    ]);
    assert.deepEqual(textsOf(events), stored);
    assert.deepEqual(state, {
      asked: 1,
      topic: { is: 'milk' },
      'user:name': 'Ada',
      'app:currency': 'KRW',
    });
    assert.ok(session.events === events && session.state === state, 'the same objects');
    assert.deepEqual(events[0]?.actions.stateDelta, stateDelta);
    await assertCurrent(session);
    const first = events[0];
    for await (const event of context.remote.run({
      session,
      newMessage: message({ say: 'four' }),
    })) {
      assert.equal(session.events.at(-1)?.id, event.id);
    }
    assert.deepEqual(textsOf(events), ['…', 'one two', 'three', '…', 'four']);
    assert.equal(events[0], first);
    await assertCurrent(session);
  });

  it('yields the events without a handle', async () => {
    const { id: sessionId } = await open('key');
    const newMessage = message({ say: 'one' }, { say: 'two' });
    const events: Event[] = [];
    for await (const event of context.remote.run({ ...USER, sessionId, newMessage }))
      events.push(event);
    assert.deepEqual(textsOf(events), ['one', 'two']);
    const stored = await context.remote.getSession({ ...USER, sessionId });
    assert.deepEqual(stored?.events.slice(1), events);
  });

  it('keeps the window that the handle was read with', async () => {
    const { id: sessionId } = await open('window');
    const run = async (request: { session: Session } | { sessionId: string }, say: string) => {
      const newMessage = message({ say });
      const given = 'session' in request ? request : { ...USER, ...request };
      for await (const { author } of context.remote.run({ ...given, newMessage })) {
        assert.equal(author, 'script');
      }
    };
    await run({ sessionId }, 'one');
    for (const [numRecentEvents, expected] of [
      [1, ['one', '…', 'two']],
      [0, ['…', 'three']],
    ] as const) {
      const config = { numRecentEvents };
      const session = (await context.remote.getSession({ ...USER, sessionId, config }))!;
      await run({ session }, expected.at(-1)!);
      assert.deepEqual(textsOf(session.events), expected);
    }
  });

  it('has events of a late clock and events with artifacts once, where the server has them', async () => {
    const session = await open('late');
    const newMessage = message(
      { say: 'one' },
      { say: 'two' },
      { say: 'late', behind: 0.001, state: { n: 1 } },
      { say: 'file', artifacts: { 'tea.txt': 3 } },
      { say: 'end' },
    );
    const ids = new Set<string>();
    for await (const { id } of context.remote.run({ session, newMessage })) {
      ids.add(id);
      const known = session.events.map((event) => event.id);
      assert.equal(new Set(known).size, known.length);
      const stored = await context.remote.getSession({ ...USER, sessionId: session.id });
      // The server may be ahead of the stream.
      const order = stored!.events.map((event) => event.id).filter((id) => known.includes(id));
      assert.deepEqual(known, order);
    }
    assert.equal(ids.size, 5);
    const file = session.events.find((event) => firstText(event) === 'file');
    assert.deepEqual(file?.actions.artifactDelta, { 'tea.txt': 3 });
    await assertCurrent(session);
  });

  it('that fails has a code, and the handle has what was stored', async () => {
    const session = await open('fails');
    const newMessage = message({ say: 'one', state: { n: 1 } }, { fail: 'no tea left' });
    const said: unknown[] = [];
    await assert.rejects(
      async () => {
        for await (const event of context.remote.run({ session, newMessage }))
          said.push(firstText(event));
      },
      (error) => {
        assert.ok(isSessionError(error, 'remote'), String(error));
        assert.match(error.message, /RuntimeError: no tea left/);
        return true;
      },
    );
    assert.deepEqual(said, ['one']);
    assert.deepEqual(textsOf(session.events), ['…', 'one']);
    await assertCurrent(session);
  });

  it('of a session or an agent that does not exist is refused', async () => {
    const newMessage = message({ say: 'one' });
    const { id: sessionId } = await open('there');
    for (const [key, code] of [
      [{ ...USER, sessionId: 'none' }, 'not_found'],
      [{ ...USER, appName: 'none', sessionId }, 'remote'],
    ] as const) {
      await assert.rejects(context.remote.run({ ...key, newMessage }).next(), { code });
    }
  });

  it('ends when its consumer stops, or its signal fires, and the next run brings the rest', async () => {
    const session = await open('ends');
    const newMessage = message({ say: 'one' }, { wait: 600 }, { say: 'never' });
    /** The server stores an event of its own when it has ended a run. */
    const ended = async (runs: number): Promise<void> => {
      const stored = await context.remote.getSession({ ...USER, sessionId: session.id });
      if (stored!.events.length < 3 * runs) await ended(runs);
    };
    for await (const event of context.remote.run({ session, newMessage })) {
      assert.equal(firstText(event), 'one');
      break;
    }
    await ended(1);
    const stop = new AbortController();
    const run = context.remote.run({ session, newMessage, signal: stop.signal });
    await run.next();
    const pending = run.next();
    stop.abort(new Error('enough'));
    await assert.rejects(pending, { code: 'aborted' });
    assert.deepEqual(await run.next(), { done: true, value: undefined });
    await ended(2);
    const returned = context.remote.run({ session, newMessage });
    await returned.next();
    const last = returned.next();
    assert.deepEqual(await returned.return(), { done: true, value: undefined });
    assert.deepEqual(await last, { done: true, value: undefined });
    await ended(3);
    for await (const event of context.remote.run({
      session,
      newMessage: message({ say: 'end' }),
    })) {
      assert.equal(firstText(event), 'end');
    }
    assert.equal(session.events.length, 11);
    await assertCurrent(session);
  });

  it('through one handle at once has nothing twice', async () => {
    const session = await open('twice');
    const texts = ['a', 'b', 'c'];
    const runs = texts.map(async (text) => {
      const newMessage = message({ say: `${text}1` }, { say: `${text}2` });
      // The server may refuse one, because another changed the session.
      const run = context.remote.run({ session, newMessage });
      try {
        for await (const { id } of run) {
          const same = session.events.filter((event) => event.id === id);
          assert.ok(same.length <= 1);
        }
      } catch (error) {
        assert.ok(isSessionError(error), String(error));
      }
    });
    await Promise.all(runs);
    for await (const { author } of context.remote.run({
      session,
      newMessage: message({ say: 'd' }),
    })) {
      assert.equal(author, 'script');
    }
    await assertCurrent(session);
  });
}
