// Events that are appended again: a database need not keep the order of keys, nor how numbers are written.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { createEvent, type Event, State } from '../../../../../js/index.js';
import { assertUnchanged } from '../../../service/fixture.js';
import { retrySuperseded, SUPERSEDED } from '../../../service/append/superseded_retries.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

/** An equal event at each call, as another process would make it. */
const order = (): Event =>
  createEvent({
    id: 'order',
    invocationId: 'i',
    author: 'shop',
    timestamp: 1_700_000_000_000.25,
    content: { role: 'model', parts: [{ text: 'Héllo \u{1F600} \u2028' }] },
    actions: { stateDelta: { status: 'ordered', cart: { zz: 1, b: [{ yy: 1e21, x: 0.1 }] } } },
  });

/** The same values with the keys of all objects in reverse order. */
function reversed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, reversed<unknown>(member)]);
  return Object.fromEntries(members.reverse()) as T;
}

export function knowsRetries(
  title: string,
  newUrl: () => string | Promise<string>,
  open: (url: string) => DatabaseSessionService,
): void {
  describe(`A repeated append on ${title}`, () => {
    for (const [form, repeated] of [
      ['with the same text', order()],
      ['with its keys in another order', reversed(order())],
    ] as const) {
      it(`of an event ${form} changes nothing`, async () => {
        await using service = open(await newUrl());
        const session = await service.createSession(KEY);
        await service.appendEvent({ session, event: order() });
        const paid = createEvent({ id: 'paid', actions: { stateDelta: { status: 'paid' } } });
        await service.appendEvent({ session, event: paid });
        const before = await service.getSession(KEY);
        const freshHandle = await service.getSession(KEY);
        assert.ok(before && freshHandle);
        await service.appendEvent({ session: freshHandle, event: repeated });
        const after = await service.getSession(KEY);
        assert.equal(after?.state.status, 'paid');
        assert.deepEqual(after, before);
        assert.deepEqual(freshHandle.state, before.state);
      });
    }

    it('within one call stores the event once, even with its keys in another order', async () => {
      await using service = open(await newUrl());
      const session = await service.createSession(KEY);
      const paid = createEvent({ id: 'paid', actions: { stateDelta: { status: 'paid' } } });
      await service.appendEvents({ session, events: [order(), paid, reversed(order())] });
      const after = await service.getSession(KEY);
      assert.deepEqual(
        after?.events.map(({ id }) => id),
        ['order', 'paid'],
      );
      assert.equal(after.state.status, 'paid');
    });

    for (const scene of SUPERSEDED) {
      it(`changes nothing if a later write has superseded keys of an event ${scene}`, async () => {
        await using service = open(await newUrl());
        assertUnchanged(await retrySuperseded(service, { State, createEvent }, scene));
      });
    }

    it('replaces the stored event if a value differs', async () => {
      await using service = open(await newUrl());
      const session = await service.createSession(KEY);
      await service.appendEvent({ session, event: order() });
      const other = reversed(order());
      other.actions.stateDelta = { status: 'open' };
      await service.appendEvent({ session, event: other });
      const after = await service.getSession(KEY);
      assert.equal(after?.events.length, 1);
      assert.deepEqual(after.events[0]?.actions.stateDelta, { status: 'open' });
      assert.equal(after.state.status, 'open');
    });
  });
}
