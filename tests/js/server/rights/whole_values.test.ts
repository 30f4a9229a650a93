// A client that sees a credential without its secrets does not store that part in place of the whole.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CachedSessionService } from '../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { fetchFrom } from '../../stores/remote/fixture.js';
import { APP, KEY, serve, SESSION, SESSIONS, USER } from '../fixture.js';

const OAUTH = { clientId: 'c', tokenUri: 'https://login.example' };
const MAIL = { authType: 'oauth2', oauth2: { ...OAUTH, clientSecret: 'SECRET' } };
const SHOWN = { authType: 'oauth2', oauth2: OAUTH };
const CHANGED = { authType: 'oauth2', oauth2: { ...OAUTH, tokenUri: 'https://evil.example' } };
const RENEWED = { authType: 'oauth2', oauth2: { ...OAUTH, clientSecret: 'NEW' } };
const NESTED = { logins: [MAIL], n: 1 };

const STATE = { mail: MAIL, nested: NESTED, 'user:mail': MAIL, 'app:mail': MAIL };
const KEYS = ['mail', 'user:mail', 'app:mail'] as const;

const RIGHTS = { mayWriteUserState: true, mayWriteAppState: true };

async function serveCredentials() {
  const served = serve({ authorize: () => RIGHTS });
  const { service, handler } = served;
  await service.createSession({ ...KEY, state: STATE });
  const remote = new RemoteSessionService({ url: 'http://localhost', fetch: fetchFrom(handler) });
  const stored = async () => (await service.getSession(KEY))!.state;
  return { ...served, remote, stored };
}

type Ask = ReturnType<typeof serve>['ask'];

/** Each way in which a client changes a key of a state. */
const WAYS: Readonly<Record<string, (ask: Ask, key: string, value: unknown) => Promise<number>>> = {
  async 'an update'(ask, key, value) {
    const body = { stateDelta: { [key]: value } };
    return (await ask(SESSION, { method: 'PATCH', body })).status;
  },
  async 'an append'(ask, key, value) {
    const event = { author: 'user', invocationId: 'i1', actions: { stateDelta: { [key]: value } } };
    return (await ask(`${SESSION}/events`, { body: { events: [event] } })).status;
  },
};

for (const [way, change] of Object.entries(WAYS)) {
  describe(`A credential that a client has seen in part, in ${way}`, () => {
    it('stays whole if the client sends it as it was shown', async () => {
      const { ask, stored } = await serveCredentials();
      for (const key of KEYS) assert.equal(await change(ask, key, SHOWN), 200);
      assert.equal(await change(ask, 'nested', { logins: [SHOWN], n: 2 }), 200);
      assert.deepEqual(await stored(), { ...STATE, nested: { logins: [MAIL], n: 2 } });
    });

    it('is not changed with the hidden secrets in it', async () => {
      const { ask, stored } = await serveCredentials();
      for (const key of KEYS) assert.equal(await change(ask, key, CHANGED), 403);
      assert.equal(await change(ask, 'nested', { logins: [SHOWN, SHOWN] }), 403);
      assert.deepEqual(await stored(), STATE);
    });

    it('may be replaced by one with secrets of its own, or removed', async () => {
      const { ask, stored } = await serveCredentials();
      assert.equal(await change(ask, 'mail', RENEWED), 200);
      assert.deepEqual((await stored()).mail, RENEWED);
      assert.equal(await change(ask, 'mail', null), 200);
      assert.deepEqual((await stored()).mail, null);
    });
  });
}

describe('A credential that a client has seen in part', () => {
  it('stays whole in the states of a user and an app', async () => {
    const { ask, stored } = await serveCredentials();
    for (const [path, key] of [
      [`${USER}/state`, 'user:mail'],
      [`/apps/${APP}/state`, 'app:mail'],
    ] as const) {
      const send = async (value: unknown) =>
        (await ask(path, { method: 'PATCH', body: { stateDelta: { [key]: value } } })).status;
      assert.equal(await send(SHOWN), 200);
      assert.equal(await send(CHANGED), 403);
    }
    assert.deepEqual(await stored(), STATE);
  });

  it('stays whole in the shared states when a session is created', async () => {
    const { ask, stored } = await serveCredentials();
    for (const [method, path, body] of [
      ['POST', SESSIONS, { state: { 'user:mail': SHOWN, 'app:mail': SHOWN } }],
      ['POST', SESSIONS, { stateDelta: { 'user:mail': SHOWN } }],
      ['POST', `${SESSIONS}/s2`, { 'user:mail': SHOWN }],
      ['PUT', `${SESSIONS}/s3`, { state: { 'app:mail': SHOWN } }],
    ] as const) {
      assert.equal((await ask(path, { method, body })).status, 200);
    }
    assert.equal((await ask(SESSIONS, { body: { state: { 'user:mail': CHANGED } } })).status, 403);
    assert.deepEqual(await stored(), STATE);
  });

  it('stays whole in an event that follows a rewind', async () => {
    const { ask, service, stored } = await serveCredentials();
    const session = (await service.getSession(KEY))!;
    await service.appendEvent({ session, event: { author: 'user', invocationId: 'i1' } });
    for (const [value, status] of [
      [CHANGED, 403],
      [SHOWN, 200],
    ] as const) {
      const events = [
        { author: 'user', invocationId: 'i2', actions: { stateDelta: { mail: value } } },
      ];
      const body = { place: { before: { invocationId: 'i1' } }, events };
      assert.equal((await ask(`${SESSION}/rewind`, { body })).status, status);
    }
    assert.deepEqual(await stored(), STATE);
  });

  it('stays whole if a function computes the state through a cache', async () => {
    const { remote, stored } = await serveCredentials();
    const cache = new CachedSessionService({ remote, owner: 'ada', local: 'memory' });
    const noteOn = ({ nested }: { nested?: unknown }) => ({
      nested: { ...(nested as object), n: ((nested as { n: number }).n ?? 0) + 1 },
    });
    await cache.getSession(KEY);
    await cache.updateState({ ...KEY, stateDelta: noteOn });
    await cache.sync();
    assert.deepEqual((await stored()).nested, { ...NESTED, n: 2 });
    await cache.close();
    await remote.close();
  });
});
