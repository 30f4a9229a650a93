import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { SessionError } from '../../../../js/index.js';
import type { SessionAccess } from '../../../../js/server/index.js';
import {
  ALL_RIGHTS,
  APP,
  eventJson,
  KEY,
  seed,
  serve,
  SESSION,
  SESSIONS,
  USER,
} from '../fixture.js';

/** A request of each kind, with what `authorize` is told of it. */
const REQUESTS: readonly [method: string, path: string, access: Partial<SessionAccess>][] = [
  ['POST', SESSIONS, { action: 'createSession', userId: 'ada' }],
  ['POST', SESSION, { action: 'createSession', userId: 'ada', sessionId: 's1' }],
  ['PUT', SESSION, { action: 'getOrCreateSession', userId: 'ada', sessionId: 's1' }],
  ['GET', SESSION, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  ['HEAD', SESSION, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  ['PATCH', SESSION, { action: 'updateState', userId: 'ada', sessionId: 's1' }],
  ['PATCH', `${SESSION}/description`, { action: 'updateSession', userId: 'ada', sessionId: 's1' }],
  ['GET', `${SESSION}/info`, { action: 'sessionInfo', userId: 'ada', sessionId: 's1' }],
  ['POST', `${SESSION}/rewind`, { action: 'rewind', userId: 'ada', sessionId: 's1' }],
  ['POST', `${SESSION}/fork`, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  ['GET', `${SESSION}/branches`, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  ['GET', `${SESSION}/state`, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  ['DELETE', SESSION, { action: 'deleteSession', userId: 'ada', sessionId: 's1' }],
  ['POST', `${SESSION}/events`, { action: 'appendEvents', userId: 'ada', sessionId: 's1' }],
  ['GET', `${SESSION}/changes?since=0`, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  ['GET', `${SESSION}/events`, { action: 'listEvents', userId: 'ada', sessionId: 's1' }],
  ['POST', `${SESSION}/events/by-id`, { action: 'getSession', userId: 'ada', sessionId: 's1' }],
  [
    'POST',
    `${SESSION}/delete-unchanged`,
    { action: 'deleteSession', userId: 'ada', sessionId: 's1' },
  ],
  ['DELETE', `${SESSION}/run`, { action: 'run', userId: 'ada', sessionId: 's1' }],
  ['GET', SESSIONS, { action: 'listSessions', userId: 'ada' }],
  ['GET', `/apps/${APP}/sessions`, { action: 'listSessions' }],
  ['GET', `/apps/${APP}/sessions?userId=ada`, { action: 'listSessions', userId: 'ada' }],
  ['DELETE', `/apps/${APP}/sessions`, { action: 'deleteSessions' }],
  ['DELETE', `/apps/${APP}/sessions?userId=ada`, { action: 'deleteSessions', userId: 'ada' }],
  ['GET', `${USER}/search?query=tea`, { action: 'search', userId: 'ada' }],
  ['PATCH', `${USER}/memory`, { action: 'addSessionToMemory', userId: 'ada' }],
  ['GET', `${USER}/state`, { action: 'getUserState', userId: 'ada' }],
  ['PATCH', `${USER}/state`, { action: 'updateState', userId: 'ada' }],
  ['DELETE', `${USER}/state`, { action: 'deleteUserState', userId: 'ada' }],
  ['DELETE', USER, { action: 'deleteUser', userId: 'ada' }],
  ['GET', `/apps/${APP}/state`, { action: 'getAppState' }],
  ['PATCH', `/apps/${APP}/state`, { action: 'updateState' }],
  ['DELETE', `/apps/${APP}/state`, { action: 'deleteAppState' }],
  ['GET', `${SESSION}/artifacts`, { action: 'listArtifacts', userId: 'ada', sessionId: 's1' }],
  ['POST', `${SESSION}/artifacts`, { action: 'saveArtifact', userId: 'ada', sessionId: 's1' }],
  ['PUT', `${SESSION}/artifacts/a`, { action: 'saveArtifact', userId: 'ada', sessionId: 's1' }],
  ['GET', `${SESSION}/artifact-usage`, { action: 'listArtifacts', userId: 'ada', sessionId: 's1' }],
  [
    'GET',
    `${SESSION}/artifacts/a/versions`,
    { action: 'listArtifacts', userId: 'ada', sessionId: 's1' },
  ],
  [
    'GET',
    `${SESSION}/artifacts/a/versions/metadata`,
    { action: 'listArtifacts', userId: 'ada', sessionId: 's1' },
  ],
  [
    'GET',
    `${SESSION}/artifacts/a/versions/0`,
    { action: 'loadArtifact', userId: 'ada', sessionId: 's1' },
  ],
  [
    'GET',
    `${SESSION}/artifacts/a/versions/0/metadata`,
    { action: 'listArtifacts', userId: 'ada', sessionId: 's1' },
  ],
  ['GET', `${SESSION}/artifacts/a/b`, { action: 'loadArtifact', userId: 'ada', sessionId: 's1' }],
  [
    'DELETE',
    `${SESSION}/artifacts/a`,
    { action: 'deleteArtifact', userId: 'ada', sessionId: 's1' },
  ],
  ['GET', `${USER}/artifact-usage`, { action: 'listArtifacts', userId: 'ada' }],
  ['GET', `/apps/${APP}/app-info`, { action: 'listApps' }],
  ['GET', `${USER}/changes`, { action: 'watch', userId: 'ada' }],
  ['GET', `/apps/${APP}/changes?userId=ada`, { action: 'watch', userId: 'ada' }],
];

/** Returns the actions that the list of routes in `docs/http_protocol.md` begins its lines with. */
function documentedActions(): string[] {
  const file = fileURLToPath(new URL('../../../../docs/http_protocol.md', import.meta.url));
  const [, routes = ''] = /^## Routes\n([^]*?)^### /m.exec(readFileSync(file, 'utf8')) ?? [];
  return [...routes.matchAll(/^- `(\w+)`: /gm)].map(([, action = '']) => action);
}

it('docs/http_protocol.md has all actions', () => {
  const actions = new Set(REQUESTS.map(([, , { action }]) => action));
  assert.deepEqual(documentedActions().sort(), [...actions].sort());
});

describe('Authorization', () => {
  it('is asked about each route, but three whose path has no app: they have tests of their own', async () => {
    const { ask } = serve();
    const { paths } = (await ask('/openapi.json')).body as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const isAsked = (route: string): boolean => {
      const names = route.replace('{filename}', '.+').replaceAll(/\{\w+\}/g, '[^/]+');
      const pattern = new RegExp(`^${names}$`);
      return REQUESTS.some(([method, path]) => pattern.test(`${method} ${path.split('?')[0]}`));
    };
    const others = ['POST /run', 'POST /run_sse', 'GET /list-apps'];
    assert.deepEqual(
      routes.filter((route) => !isAsked(route)),
      others,
    );
  });

  it('is asked what each request wants, before its body is read', async () => {
    const told: SessionAccess[] = [];
    const { ask } = serve({
      authorize: (request, access) => {
        assert.equal(request.bodyUsed, false);
        told.push(access);
        return false;
      },
    });
    for (const [method, path, access] of REQUESTS) {
      const { status } = await ask(path, { method });
      assert.equal(status, 403, path);
      const expected = { appName: APP, userId: undefined, sessionId: undefined, ...access };
      assert.deepEqual(told.pop(), expected);
    }
    assert.deepEqual(told, []);
  });

  it('refuses with the same response whether the session exists or not', async () => {
    for (const [permission, status] of [
      [false, 403],
      ['unauthenticated', 401],
      ['forget', 410],
    ] as const) {
      const { ask, service } = serve({ authorize: () => permission });
      await seed(service);
      for (const [method] of [['GET'], ['DELETE'], ['PATCH'], ['PUT']]) {
        const existing = await ask(SESSION, { method: method! });
        const missing = await ask(`${SESSIONS}/none`, { method: method! });
        assert.equal(existing.status, status);
        assert.deepEqual([missing.status, missing.body], [existing.status, existing.body]);
      }
      assert.notEqual(await service.getSession(KEY), undefined);
    }
  });

  for (const [scope, right, other] of [
    ['user', 'mayWriteUserState', 'mayWriteAppState'],
    ['app', 'mayWriteAppState', 'mayWriteUserState'],
  ] as const) {
    it(`must say that ${scope}: state may be written, wherever it is written`, async () => {
      const { ask, service } = serve({ authorize: () => ({ ...ALL_RIGHTS, [right]: false }) });
      await seed(service);
      const state = { [`${scope}:motd`]: 'mine' };
      const events = [eventJson('e2', state)];
      const snakeEvents = [{ ...events[0], actions: { state_delta: state } }];
      const requests: [string, string, unknown][] = [
        ['POST', SESSIONS, { state }],
        ['POST', SESSIONS, { events }],
        ['POST', SESSIONS, { events: snakeEvents }],
        ['POST', SESSIONS, { stateDelta: state }],
        ['POST', `${SESSIONS}/s2`, state],
        ['PUT', `${SESSIONS}/s2`, { state }],
        ['PATCH', SESSION, { stateDelta: state }],
        ['POST', `${SESSION}/events`, { events }],
        ['PATCH', `${USER}/state`, { stateDelta: state }],
        ['PATCH', `/apps/${APP}/state`, { stateDelta: state }],
        ...(scope === 'app'
          ? [['DELETE', `/apps/${APP}/state`, undefined] as [string, string, unknown]]
          : [USER, `${USER}/state`].map((path): [string, string, unknown] => [
              'DELETE',
              path,
              undefined,
            ])),
      ];
      for (const [method, path, body] of requests) {
        const { status } = await ask(path, { method, body });
        assert.equal(status, 403, `${method} ${path}`);
      }
      assert.deepEqual(await service.getAppState({ appName: APP }), {});
      assert.deepEqual(await service.getUserState(KEY), {});
      const { sessions } = await service.listSessions({ appName: APP });
      assert.deepEqual(
        sessions.map(({ id }) => id),
        ['s1'],
      );
      const allowed = serve({ authorize: () => ({ ...ALL_RIGHTS, [other]: false }) });
      const { status } = await allowed.ask(SESSIONS, { body: { state } });
      assert.equal(status, 200);
    });
  }

  it('that throws or answers something else lets nothing through', async () => {
    const heard: unknown[] = [];
    for (const authorize of [
      () => Promise.reject(new Error('the token server at 10.0.0.7 is down')),
      () => undefined as never,
      () => 'yes' as never,
      () => null as never,
      () => 1 as never,
      () => ({ id: 'ada' }) as never,
      () => ({ mayWriteAppState: 'no' }) as never,
      () => ({ mayWriteUserState: true, maySeeCredentials: 1 }) as never,
      () => ({}) as never,
    ]) {
      const { ask, service } = serve({ authorize, onError: (error) => heard.push(error) });
      await seed(service);
      const { status, body } = await ask(SESSION);
      assert.ok(status >= 400, String(status));
      assert.ok(!JSON.stringify(body).includes('10.0.0.7'));
    }
    assert.match(String(heard[0]), /10\.0\.0\.7/);
  });

  it('that throws an error of a service is answered with 500, whatever its code', async () => {
    const heard: unknown[] = [];
    for (const code of ['not_found', 'aborted', 'invalid_argument'] as const) {
      const error = new SessionError(code, 'There is no session "owner of s1".');
      const authorize = () => Promise.reject(error);
      const { ask } = serve({ authorize, onError: (thrown) => heard.push(thrown) });
      const { status, body } = await ask(SESSION);
      assert.deepEqual([status, body], [500, { detail: 'An internal error occurred.' }]);
      assert.equal(heard.pop(), error);
    }
    assert.deepEqual(heard, []);
  });
});
