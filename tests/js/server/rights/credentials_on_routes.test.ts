// Every route of the OpenAPI document, asked by a client that may do everything but see credentials.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent } from '../../../../js/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { ALL_RIGHTS, feedEvents, KEY, requestTo, serve } from '../fixture.js';

const SECRET = 'a-secret';
const CREDENTIAL = { authType: 'oauth2', oauth2: { clientId: 'c', clientSecret: SECRET } };
const AUTH_CONFIG = {
  authScheme: { type: 'oauth2', flows: {} } as const,
  credentialKey: 'mail',
  exchangedAuthCredential: CREDENTIAL,
};
const STATE = { mail: CREDENTIAL, 'user:mail': CREDENTIAL, 'app:mail': CREDENTIAL };
const CALL = { id: 'c1', name: 'adk_request_credential' };

/** Valid in seconds and in milliseconds: the two forms of clients. */
const timestamp = 1_700_000_000;

/** A call that asks for a credential, its answer, deltas, requests and metadata: each has a secret. */
const EVENTS = [
  createEvent({
    id: 'e1',
    author: 'shop',
    invocationId: 'i1',
    timestamp,
    content: {
      role: 'model',
      parts: [{ functionCall: { ...CALL, args: { authConfig: AUTH_CONFIG } } }],
    },
    longRunningToolIds: ['c1'],
    actions: { stateDelta: STATE, requestedAuthConfigs: { c0: AUTH_CONFIG } },
    customMetadata: { login: CREDENTIAL, __adk_internal_login: SECRET },
  }),
  createEvent({
    id: 'e2',
    author: 'user',
    invocationId: 'i1',
    timestamp,
    content: {
      role: 'user',
      parts: [{ functionResponse: { ...CALL, response: { ...AUTH_CONFIG, token: SECRET } } }],
    },
  }),
];
const LABELS = { auth_type: 'http', token: SECRET };

const message = (id: string) => createEvent({ id, author: 'user', invocationId: 'i2', timestamp });
const USERS = '/apps/{appName}/users/{userId}';
const SESSIONS = `${USERS}/sessions`;
const SESSION = `${SESSIONS}/{sessionId}`;
const APP = '/apps/{appName}';
const FILE = `${SESSION}/artifacts/{filename}`;
const FILE_OF_SECRETS = {
  filename: 'a',
  artifact: { text: 'a' },
  customMetadata: { login: CREDENTIAL },
};

/** Answers each message with a call that asks for a credential. */
const asksForLogin: RunAgent = async function* () {
  const { content, actions } = EVENTS[0]!;
  const customMetadata = { login: CREDENTIAL };
  yield { author: 'shop', content: content!, actions, longRunningToolIds: ['c1'], customMetadata };
};

const RUN = { ...KEY, newMessage: { parts: [{ text: 'Tea?' }] } };

/** The bodies that make the routes succeed, the queries that some need, and the statuses if it is not 200. */
const REQUESTS: Readonly<
  Record<
    string,
    { readonly body?: unknown; readonly query?: string; readonly statuses?: readonly number[] }
  >
> = {
  [`GET ${SESSIONS}`]: {},
  [`POST ${SESSIONS}`]: { body: { sessionId: 's2', state: STATE, labels: LABELS, events: EVENTS } },
  [`GET ${SESSION}`]: {},
  [`POST ${SESSION}`]: { body: STATE },
  [`PUT ${SESSION}`]: { body: {} },
  [`PATCH ${SESSION}`]: { body: { stateDelta: { n: 1 } } },
  [`DELETE ${SESSION}`]: {},
  [`PATCH ${SESSION}/description`]: { body: { labels: LABELS } },
  [`GET ${SESSION}/info`]: {},
  [`POST ${SESSION}/rewind`]: { body: { place: { before: { invocationId: 'i1' } } } },
  [`POST ${SESSION}/fork`]: { body: { newSessionId: 's3', at: { eventId: 'e2' } } },
  [`GET ${SESSION}/branches`]: {},
  [`GET ${SESSION}/state`]: { query: '?eventId=e1' },
  [`GET ${SESSION}/events`]: { query: '?withCount=true' },
  [`POST ${SESSION}/events/by-id`]: { body: { eventIds: ['e1', 'e2'] } },
  [`POST ${SESSION}/events`]: {
    body: { events: [message('e3')], stale: 'merge', position: {} },
  },
  [`POST ${SESSION}/delete-unchanged`]: { body: { revision: 1 } },
  [`DELETE ${SESSION}/run`]: { query: '?messageId=e1' },
  [`GET ${SESSION}/changes`]: { query: '?since=1' },
  [`GET ${USERS}/state`]: {},
  [`PATCH ${USERS}/state`]: { body: { stateDelta: { 'user:n': 1 } } },
  [`DELETE ${USERS}/state`]: {},
  [`DELETE ${USERS}`]: {},
  [`GET ${APP}/sessions`]: {},
  [`DELETE ${APP}/sessions`]: { query: '?olderThan=1' },
  [`GET ${APP}/state`]: {},
  [`PATCH ${APP}/state`]: { body: { stateDelta: { 'app:n': 1 } } },
  [`DELETE ${APP}/state`]: {},
  [`GET ${APP}/changes`]: {},
  [`GET ${USERS}/changes`]: {},
  [`GET ${USERS}/search`]: { query: '?query=tea' },
  // Memory keeps no marks.
  [`PATCH ${USERS}/memory`]: { body: { session_id: KEY.sessionId }, statuses: [400, 501] },
  [`GET ${SESSION}/artifacts`]: {},
  [`POST ${SESSION}/artifacts`]: { body: FILE_OF_SECRETS },
  [`GET ${FILE}`]: {},
  [`PUT ${FILE}`]: {
    body: 'a',
    query: `?customMetadata=${encodeURIComponent(JSON.stringify({ login: CREDENTIAL }))}`,
  },
  [`DELETE ${FILE}`]: {},
  [`GET ${FILE}/versions`]: {},
  [`GET ${FILE}/versions/metadata`]: {},
  [`GET ${FILE}/versions/{version}`]: {},
  [`GET ${FILE}/versions/{version}/metadata`]: {},
  [`GET ${SESSION}/artifact-usage`]: {},
  [`GET ${USERS}/artifact-usage`]: {},
  'GET /list-apps': {},
  [`GET ${APP}/app-info`]: {},
  'POST /run': { body: RUN },
  'POST /run_sse': { body: { ...RUN, streaming: true } },
};

async function serveSecrets() {
  const served = serve({
    authorize: () => ({ ...ALL_RIGHTS, maySeeCredentials: false }),
    run: asksForLogin,
    apps: [KEY.appName],
  });
  const { service } = served;
  const session = await service.createSession({ ...KEY, state: STATE, labels: LABELS });
  await service.appendEvents({ session, events: structuredClone(EVENTS) });
  await service.artifacts.saveArtifact({ ...KEY, ...FILE_OF_SECRETS });
  return served;
}

/** Reads a response; of a feed the notice of a change. */
async function textOf(response: Response, change: () => Promise<unknown>): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
  const events = feedEvents(response);
  await change();
  const { value } = (await events.next()) as IteratorResult<unknown, unknown>;
  await events.return(undefined);
  return JSON.stringify(value);
}

const PROTOCOLS = [{}, { 'adk-session-protocol': '1.0' }];

describe('A client that may not see credentials', () => {
  it('is tested on every route of the OpenAPI document', async () => {
    const { ask } = serve();
    const { paths } = (await ask('/openapi.json')).body as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(routes.sort(), Object.keys(REQUESTS).sort());
  });

  for (const [route, { body, query = '', statuses = [200] }] of Object.entries(REQUESTS)) {
    const [method = '', path = ''] = route.split(' ');
    const pathOf = (sessionId: string): string =>
      path
        .replace('{appName}', KEY.appName)
        .replace('{userId}', KEY.userId)
        .replace('{sessionId}', sessionId)
        .replace('{filename}', 'a')
        .replace('{version}', '0') + query;

    it(`gets no secret from ${route}`, async () => {
      for (const headers of PROTOCOLS) {
        const { handler, service } = await serveSecrets();
        const isCreation = route === `POST ${SESSION}`;
        const target = pathOf(isCreation ? 's2' : KEY.sessionId);
        const response = await handler(requestTo(target, { method, body, headers }));
        assert.ok(statuses.includes(response.status), String(response.status));
        const session = { ...KEY, sessionId: 'changed' };
        const text = await textOf(response, () =>
          service.createSession({ ...session, state: STATE, events: EVENTS }),
        );
        assert.ok(!text.includes(SECRET), text);
      }
    });

    it(`gets no secret from an error of ${route}`, async () => {
      for (const headers of PROTOCOLS) {
        const { handler } = await serveSecrets();
        const wrong = { ...(body === undefined ? {} : { body: { events: [7], state: 7, x: {} } }) };
        for (const sessionId of [KEY.sessionId, 'none']) {
          const target = `${pathOf(sessionId)}${query === '' ? '?' : '&'}limit=x`;
          const response = await handler(requestTo(target, { method, ...wrong, headers }));
          const isFeed = response.headers.get('content-type') === 'text/event-stream';
          const text = isFeed ? '' : await response.text();
          assert.ok(!text.includes(SECRET), text);
          if (isFeed) await response.body?.cancel();
        }
      }
    });
  }

  it('gets no secret with a conflict', async () => {
    const { handler } = await serveSecrets();
    for (const body of [
      { events: [message('e3')], expectedRevision: 1 },
      { events: [{ ...EVENTS[0], author: 'other' }], expectedEvents: { e1: 1 } },
    ]) {
      for (const headers of PROTOCOLS) {
        const target = `/apps/${KEY.appName}/users/${KEY.userId}/sessions/s1/events`;
        const response = await handler(requestTo(target, { body, headers }));
        assert.ok(response.status >= 400);
        assert.ok(!(await response.text()).includes(SECRET));
      }
    }
  });
});
