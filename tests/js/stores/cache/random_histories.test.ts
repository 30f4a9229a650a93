// Random histories through a cache whose connection fails, beside the same histories over memory.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';

import { branches, rewind, switchBranch, undoRewind } from '../../../../js/core/history/index.js';
import { editTurn, regenerateTurn } from '../../../../js/core/history/turns.js';
import {
  createEvent,
  InMemorySessionService,
  isSessionError,
  type SessionService,
} from '../../../../js/index.js';
import { runs } from '../../../properties.js';
import { KEY, openCache, Server, until, untilSent } from './fixture.js';

const KINDS = ['say', 'say', 'rewind', 'undo', 'switch', 'edit', 'regenerate'] as const;
const NETWORK = ['same', 'same', 'offline', 'online', 'lost', 'sync'] as const;

const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  network: fc.constantFrom(...NETWORK),
  at: fc.nat(20),
});

const SECRET = 'a-secret-token';
const CREDENTIAL = { authType: 'http', accessToken: SECRET };

const textOf = ({ content }: { content?: { parts?: { text?: string }[] } | undefined }) =>
  content?.parts?.[0]?.text ?? '';

async function shownEvents(service: SessionService) {
  const read = await service.getSession({ ...KEY, config: { view: 'transcript' } });
  return read?.events.filter((event) => event.content !== undefined) ?? [];
}

/** What users see: the texts of the transcript, and the session's own state. */
async function seen(service: SessionService) {
  const events = await shownEvents(service);
  const { state } = (await service.getSession(KEY))!;
  const own = Object.entries(state).filter(([name]) => name !== 'credential');
  return { texts: events.map(textOf), state: Object.fromEntries(own) };
}

/** Does a step, whose place is the same for each service that shows the same. */
async function act(
  service: SessionService,
  { kind, at }: { readonly kind: (typeof KINDS)[number]; readonly at: number },
  number: number,
): Promise<void> {
  const shown = await shownEvents(service);
  const event = shown[at % Math.max(shown.length, 1)];
  if (kind === 'say' || event === undefined) {
    const session = (await service.getSession(KEY))!;
    const said = createEvent({
      id: `m${number}`,
      invocationId: `i${number}`,
      author: 'user',
      content: { role: 'user', parts: [{ text: `m${number}` }] },
      actions: { stateDelta: { last: number, [`key${at % 3}`]: at } },
    });
    await service.appendEvent({ session, event: said });
    return;
  }
  const { id: eventId } = event;
  const turn = { ...KEY, eventId } as const;
  try {
    if (kind === 'rewind') await rewind(service, { ...KEY, before: { eventId } });
    else if (kind === 'undo') await undoRewind(service, KEY);
    else if (kind === 'regenerate') await regenerateTurn(service, turn);
    else if (kind === 'edit') {
      const content = { role: 'user', parts: [{ text: `edit${number}` }] };
      await editTurn(service, { ...turn, content });
    } else {
      const places = await branches(service, KEY);
      const ended = places.flatMap(({ alternatives }) => alternatives);
      const branch = ended.filter((one) => one.branch !== undefined)[at % ended.length]?.branch;
      if (branch !== undefined) await switchBranch(service, { ...KEY, branch });
    }
  } catch (error) {
    assert.ok(isSessionError(error, 'not_found'), String(error));
  }
}

it('random histories through a cache with lost answers are those over memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const server = new Server(new InMemorySessionService(), { authorize: () => true });
      const model = new InMemorySessionService();
      for (const service of [server.service, model]) {
        await service.createSession({ ...KEY, state: { initial: 1, credential: CREDENTIAL } });
      }
      const { cache } = openCache(server);
      await cache.getSession(KEY);
      for (const [number, one] of steps.entries()) {
        if (one.network === 'offline') server.isOffline = true;
        if (one.network === 'online' || one.network === 'sync') server.isOffline = false;
        if (one.network === 'lost') server.lostResponses = 1;
        await act(cache, one, number);
        await act(model, one, number);
        if (one.network === 'sync') await cache.sync().catch(() => undefined);
        assert.deepEqual(await seen(cache), await seen(model));
      }
      server.isOffline = false;
      server.lostResponses = 0;
      await until(async () => {
        await cache.sync().catch(() => undefined);
        return untilSent(cache);
      });
      assert.deepEqual(await seen(server.service), await seen(model));
      assert.deepEqual(await seen(cache), await seen(model));
      const { state } = (await server.service.getSession(KEY))!;
      assert.deepEqual(state.credential, CREDENTIAL);
      assert.doesNotMatch(JSON.stringify(await cache.getSession(KEY)), new RegExp(SECRET));
      await cache.close();
    }),
    runs(40),
  );
});
