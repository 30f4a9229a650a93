import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import Ajv from 'ajv';

import { echo } from '../ui/live/runs/agents.js';
import { eventJson, KEY, serve, SESSION, SESSIONS, USER } from './fixture.js';

interface OpenApi {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: object }> };
}

interface Operation {
  responses: Record<string, Response>;
}

interface Response {
  content: Record<string, { schema: { $ref: string } }>;
  headers?: Record<string, { schema: object }>;
}

const FILE = '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts/{filename}';

const FILE_REQUESTS: readonly [method: string, route: string, path: string, body?: unknown][] = [
  [
    'post',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts',
    `${SESSION}/artifacts`,
    { filename: 'a', artifact: { text: 'a' } },
  ],
  ['put', FILE, `${SESSION}/artifacts/a`, 'a'],
  ['get', '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts', `${SESSION}/artifacts`],
  ['get', FILE, `${SESSION}/artifacts/a`],
  ['get', `${FILE}/versions`, `${SESSION}/artifacts/a/versions`],
  ['get', `${FILE}/versions/metadata`, `${SESSION}/artifacts/a/versions/metadata`],
  ['get', `${FILE}/versions/{version}`, `${SESSION}/artifacts/a/versions/0`],
  ['get', `${FILE}/versions/{version}/metadata`, `${SESSION}/artifacts/a/versions/0/metadata`],
  [
    'get',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifact-usage',
    `${SESSION}/artifact-usage`,
  ],
  ['get', '/apps/{appName}/users/{userId}/artifact-usage', `${USER}/artifact-usage`],
  ['delete', FILE, `${SESSION}/artifacts/a`],
];

/** Requests whose responses are compared with the document, in an order that makes them succeed. */
const REQUESTS: readonly [method: string, route: string, path: string, body?: unknown][] = [
  ['post', '/apps/{appName}/users/{userId}/sessions', SESSIONS, { sessionId: 's1' }],
  ['post', '/apps/{appName}/users/{userId}/sessions/{sessionId}', `${SESSIONS}/s2`, { a: 1 }],
  ['put', '/apps/{appName}/users/{userId}/sessions/{sessionId}', `${SESSIONS}/s3`, {}],
  [
    'post',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/events',
    `${SESSION}/events`,
    { events: [{ ...eventJson('e1', { turn: 1 }), timestamp: undefined }] },
  ],
  ['patch', '/apps/{appName}/users/{userId}/sessions/{sessionId}', SESSION, { stateDelta: {} }],
  [
    'patch',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/description',
    `${SESSION}/description`,
    { title: 'Tea', labels: { a: '1' } },
  ],
  ['get', '/apps/{appName}/users/{userId}/sessions/{sessionId}', SESSION],
  ['get', '/apps/{appName}/users/{userId}/sessions/{sessionId}/info', `${SESSION}/info`],
  ['get', '/apps/{appName}/users/{userId}/sessions/{sessionId}/events', `${SESSION}/events`],
  [
    'get',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/changes',
    `${SESSION}/changes?since=1`,
  ],
  [
    'post',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/events/by-id',
    `${SESSION}/events/by-id`,
    { eventIds: ['e1', 'missing'] },
  ],
  [
    'post',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/rewind',
    `${SESSION}/rewind`,
    {
      place: { turn: 'e1' },
      marker: { id: 'r1', invocationId: 'e-r1' },
      message: { id: 'e3', invocationId: 'i3' },
    },
  ],
  [
    'post',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/fork',
    `${SESSION}/fork`,
    { newSessionId: 's4', at: { eventId: 'e1' }, title: 'Again' },
  ],
  ['get', '/apps/{appName}/users/{userId}/sessions/{sessionId}/branches', `${SESSION}/branches`],
  [
    'get',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/state',
    `${SESSION}/state?eventId=e1`,
  ],
  [
    'post',
    '/apps/{appName}/users/{userId}/sessions/{sessionId}/delete-unchanged',
    `${SESSION}/delete-unchanged`,
    { revision: 0 },
  ],
  ['get', '/apps/{appName}/users/{userId}/sessions', SESSIONS],
  ['get', '/apps/{appName}/sessions', '/apps/shop/sessions?limit=1'],
  ['delete', '/apps/{appName}/sessions', '/apps/shop/sessions?olderThan=1&label=a:1'],
  [
    'patch',
    '/apps/{appName}/users/{userId}/state',
    `${USER}/state`,
    { stateDelta: { 'user:a': 1 } },
  ],
  ['get', '/apps/{appName}/users/{userId}/state', `${USER}/state`],
  ['delete', '/apps/{appName}/users/{userId}/state', `${USER}/state`],
  ['patch', '/apps/{appName}/state', '/apps/shop/state', { stateDelta: { 'app:a': 1 } }],
  ['get', '/apps/{appName}/state', '/apps/shop/state'],
  ['delete', '/apps/{appName}/state', '/apps/shop/state'],
  ['delete', '/apps/{appName}/users/{userId}/sessions/{sessionId}/run', `${SESSION}/run`],
  [
    'post',
    '/run',
    '/run',
    { ...KEY, newMessage: { parts: [{ text: 'Tea?' }] }, stateDelta: { asked: true } },
  ],
  ['get', '/apps/{appName}/users/{userId}/search', `${USER}/search?query=tea`],
  ...FILE_REQUESTS,
  ['get', '/list-apps', '/list-apps?detailed=true'],
  ['get', '/apps/{appName}/app-info', '/apps/shop/app-info'],
  ['delete', '/apps/{appName}/users/{userId}/sessions/{sessionId}', SESSION],
  ['delete', '/apps/{appName}/users/{userId}', USER],
];

describe('The OpenAPI document', () => {
  it('describes each route, and each response is as it says', async () => {
    const { ask } = serve({ run: echo, apps: ['shop'] });
    const document = (await ask('/openapi.json')).body as OpenApi;
    const ajv = new Ajv({ schemas: { document } });
    const left = new Set(
      Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method} ${path}`),
      ),
    );
    for (const [method, route, path, body] of REQUESTS) {
      const answer = await ask(path, { method: method.toUpperCase(), body });
      assert.equal(answer.status, 200, `${method} ${path}`);
      const { content, headers = {} } = document.paths[route]![method]!.responses['200']!;
      const { $ref } = content['application/json']!.schema;
      const isValid = ajv.validate({ $ref: `document${$ref}` }, answer.body);
      assert.ok(isValid, `${method} ${path}: ${ajv.errorsText()}`);
      const given = [...answer.headers.keys()].filter((name) => name.startsWith('adk-session-'));
      assert.deepEqual(Object.keys(headers).sort(), given.sort(), `headers of ${method} ${path}`);
      left.delete(`${method} ${route}`);
    }
    // The streams are no JSON, and a service in memory keeps no marks of sessions; their own tests have them.
    assert.deepEqual([...left].sort(), [
      'get /apps/{appName}/changes',
      'get /apps/{appName}/users/{userId}/changes',
      'patch /apps/{appName}/users/{userId}/memory',
      'post /run_sse',
    ]);
  });

  it('names the path below which the handler serves the routes', async () => {
    for (const [basePath, url] of [
      ['', '/'],
      ['/api', '/api'],
    ] as const) {
      const { ask } = serve({ basePath });
      const { servers } = (await ask(`${basePath}/openapi.json`)).body as OpenApi;
      assert.deepEqual(servers, [{ url }]);
    }
  });

  it('describes what the remote client gets beyond others', async () => {
    const { ask } = serve();
    const document = (await ask('/openapi.json')).body as OpenApi;
    // A member that is not in the document would pass without this.
    const isComplete = (name: string, value: object) => {
      const { properties } = document.components.schemas[name]!;
      const unknown = Object.keys(value).filter((member) => !Object.hasOwn(properties, member));
      assert.deepEqual(unknown, [], name);
    };
    const headers = { 'adk-session-protocol': '1.0' };
    await ask(SESSIONS, { method: 'POST', body: { sessionId: 's1' }, headers });
    await ask(`${SESSION}/events`, { method: 'POST', body: { events: [eventJson('e1')] } });
    const page = await ask(`${SESSION}/events`, { headers });
    isComplete('EventsPage', page.body as object);
    const { body } = await ask('/apps/shop/sessions', { headers });
    isComplete('SessionsPage', body as object);
    const { revisions } = body as { revisions: object[] };
    assert.deepEqual(revisions.map(Object.keys), [['created', 'revision']]);
  });

  it('describes errors', async () => {
    const { ask } = serve();
    const document = (await ask('/openapi.json')).body as OpenApi;
    const ajv = new Ajv({ schemas: { document } });
    for (const path of [`${SESSIONS}/none`, `${SESSIONS}?x=1`]) {
      const { body } = await ask(path);
      assert.ok(ajv.validate({ $ref: 'document#/components/schemas/Error' }, body), path);
    }
  });
});
