// Secrets of credentials do not leave the server.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, type Event, type NewEvent } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { publicView, wholeDelta } from '../../../../js/server/rights/public_view.js';
import { fetchFrom } from '../../stores/remote/fixture.js';
import { idsIn, KEY, serve, SESSION } from '../fixture.js';

const OAUTH = {
  clientId: 'the page needs it',
  authUri: 'https://login.example',
  clientSecret: 'SECRET',
  accessToken: 'SECRET',
  refreshToken: 'SECRET',
};
const CREDENTIAL = { authType: 'oauth2', oauth2: OAUTH };
const AUTH_CONFIG = {
  authScheme: { type: 'oauth2', flows: {} } as const,
  credentialKey: 'calendar',
  rawAuthCredential: CREDENTIAL,
  exchangedAuthCredential: { authType: 'apiKey', apiKey: 'SECRET' },
};
const STATE = { calendar: CREDENTIAL, 'user:mail': CREDENTIAL, 'app:service': CREDENTIAL };

/** A tool asks for a credential, and an agent stores others. */
const REQUEST = createEvent({
  id: 'e1',
  author: 'shop',
  invocationId: 'i1',
  timestamp: 1000,
  content: {
    role: 'model',
    parts: [
      { text: 'Sign in, please.' },
      {
        functionCall: {
          id: 'c2',
          name: 'adk_request_credential',
          args: { functionCallId: 'c1', authConfig: AUTH_CONFIG },
        },
      },
    ],
  },
  longRunningToolIds: ['c2'],
  actions: { stateDelta: STATE, requestedAuthConfigs: { c1: AUTH_CONFIG } },
});

const ALL_BUT_CREDENTIALS = {
  mayWriteAgentEvents: true,
  mayWriteUserState: true,
  mayWriteAppState: true,
};

async function serveRequest(maySeeCredentials = false) {
  const authorize = () => ({ ...ALL_BUT_CREDENTIALS, maySeeCredentials });
  const served = serve({ authorize });
  const { service, handler } = served;
  await service.createSession({ ...KEY, events: [REQUEST] });
  const remote = new RemoteSessionService({ url: 'http://localhost', fetch: fetchFrom(handler) });
  return { ...served, remote };
}

describe('Secrets of credentials', () => {
  it('are left out alone: the page gets what it needs to ask the user', async () => {
    const { ask } = await serveRequest();
    const { events } = (await ask(SESSION)).body as { events: Event[] };
    const shown = events[0]!.actions.requestedAuthConfigs.c1 as typeof AUTH_CONFIG;
    assert.deepEqual(shown, {
      ...AUTH_CONFIG,
      rawAuthCredential: {
        authType: 'oauth2',
        oauth2: { clientId: OAUTH.clientId, authUri: OAUTH.authUri },
      },
      exchangedAuthCredential: { authType: 'apiKey' },
    });
  });

  it('are shown with the right maySeeCredentials', async () => {
    const { ask } = await serveRequest(true);
    const { events } = (await ask(SESSION)).body as { events: Event[] };
    assert.deepEqual(events[0]?.actions.requestedAuthConfigs.c1, AUTH_CONFIG);
  });

  it('are in no handle of a remote client that has missed the event', async () => {
    const { remote, service } = await serveRequest();
    const session = (await remote.getSession(KEY))!;
    const other = (await service.getSession(KEY))!;
    const event = { ...REQUEST, id: 'e2', timestamp: 2000 };
    await service.appendEvent({ session: other, event });
    await remote.appendEvent({ session, event: { author: 'user', invocationId: 'i2' } });
    assert.deepEqual(idsIn(session).slice(0, 2), ['e1', 'e2']);
    assert.ok(!JSON.stringify(session).includes('SECRET'));
  });

  it('stay in the stored event if a client sends the event again without them', async () => {
    const { ask, service } = await serveRequest();
    const before = await service.getSession(KEY);
    for (const headers of [{}, { 'adk-session-protocol': '1.0' }]) {
      const page = (await ask(`${SESSION}/events`, { headers })).body;
      const { events } = page as { events: object[] };
      const { status } = await ask(`${SESSION}/events`, { body: { events }, headers });
      assert.equal(status, 200);
    }
    assert.deepEqual(await service.getSession(KEY), before);
  });

  it('stay in the stored event if a client changes what it has seen of the event', async () => {
    const { ask, service } = await serveRequest();
    const before = await service.getSession(KEY);
    const { events } = (await ask(SESSION)).body as { events: object[] };
    const changed = { ...events[0], content: { role: 'model', parts: [{ text: 'Never mind.' }] } };
    const { status } = await ask(`${SESSION}/events`, { body: { events: [changed] } });
    assert.equal(status, 403);
    assert.deepEqual(await service.getSession(KEY), before);
  });

  it('of an event that a client itself has written are no reason to store it twice', async () => {
    const { ask, service } = await serveRequest();
    const event: NewEvent = { ...REQUEST, id: 'e2', timestamp: 2 };
    for (const expectedRevision of [undefined, undefined, 1]) {
      const body = { events: [event], expectedRevision };
      assert.equal((await ask(`${SESSION}/events`, { body })).status, 200);
    }
    const session = await service.getSession(KEY);
    assert.deepEqual(idsIn(session), ['e1', 'e2']);
    assert.ok(JSON.stringify(session?.events[1]).includes('SECRET'));
  });
});

describe('The public view of a value', () => {
  const secrets = { token: 'x', private_key: 'x', apiKey: 'x', additional_headers: { a: 'x' } };

  it('leaves out secrets in credentials of each type, in both casings', () => {
    for (const type of [
      'apiKey',
      'API_KEY',
      'api_key',
      'http',
      'openIdConnect',
      'SERVICE_ACCOUNT',
    ]) {
      for (const name of ['authType', 'auth_type']) {
        const shown = publicView(
          { a: [{ [name]: type, http: secrets, ...secrets, scheme: 's' }] },
          false,
        );
        assert.deepEqual(shown, { a: [{ [name]: type, http: {}, scheme: 's' }] });
      }
    }
  });

  it('leaves out secrets in requests for credentials and in answers to them, in both casings', () => {
    for (const member of [
      'requestedAuthConfigs',
      'requested_auth_configs',
      'rawAuthCredential',
      'exchanged_auth_credential',
    ]) {
      assert.deepEqual(publicView({ [member]: { c1: secrets } }, false), { [member]: { c1: {} } });
    }
    const answer = { name: 'adk_request_credential', response: { oauth2: secrets } };
    assert.deepEqual(publicView({ functionResponse: answer }, false), {
      functionResponse: { ...answer, response: { oauth2: {} } },
    });
  });

  it('is the same object where nothing is hidden', () => {
    const value = {
      token: 'mine',
      list: [{ apiKey: 1, authType: 'none' }],
      ['__proto__']: { a: 1 },
    };
    assert.equal(publicView(value, false), value);
    const hidden = JSON.parse('{"__proto__":{"authType":"http","token":"x"},"a":1}') as object;
    assert.equal(
      JSON.stringify(publicView(hidden, false)),
      '{"__proto__":{"authType":"http"},"a":1}',
    );
  });
});

describe('A change of a credential that a client has seen in part', () => {
  it('gets none of the hidden secrets, if it has secrets of its own', () => {
    const changed = {
      authType: 'oauth2',
      oauth2: { authUri: 'https://evil.example', apiKey: 'x' },
    };
    assert.deepEqual(wholeDelta({ mail: changed }, { mail: CREDENTIAL }), { mail: changed });
  });
});
