// The engine that gets the requests, and their credentials.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { inspect } from 'node:util';

import { httpServer } from '../../../http_server.js';
import { getSessionServiceFromUri } from '../../../../js/service/uri/index.js';
import {
  type VertexAiOptions,
  VertexAiSessionService,
} from '../../../../js/service/vertex/index.js';
import {
  EngineAddresses,
  type EngineOptions,
} from '../../../../js/stores/vertex/rest/engine_address.js';
import { startVertexServer, type VertexServer } from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';
import { failsWith } from '../../fails_with.js';

const VARIABLES = [
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
  'GOOGLE_API_KEY',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_GENAI_USE_ENTERPRISE',
  'GOOGLE_APPLICATION_CREDENTIALS',
];
const NAME = 'projects/tea/locations/eu/reasoningEngines/7';

/** Each test has its own environment. */
function ownEnvironment(): void {
  const outside = VARIABLES.map((name) => [name, process.env[name]] as const);
  const clear = (): void => {
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name);
  };
  before(clear);
  afterEach(clear);
  after(() => {
    for (const [name, value] of outside) if (value !== undefined) process.env[name] = value;
  });
}

describe('An agent engine', () => {
  ownEnvironment();
  const google = 'https://europe-west4-aiplatform.googleapis.com/v1beta1';
  const inProject = { projectId: 'tea', location: 'europe-west4' };
  const engine = 'projects/tea/locations/europe-west4/reasoningEngines/7';

  const found: [title: string, options: EngineOptions, appName: string, url: string, engine: string][] = [
    ['by its number', { ...inProject, agentEngineId: '7' }, 'shop', google, engine],
    ['by the number that an app is called', inProject, '7', google, engine],
    ['by the name that an app is called', {}, NAME, 'https://aiplatform.eu.rep.googleapis.com/v1beta1', NAME],
    ['by its name', { agentEngineId: NAME }, 'shop', 'https://aiplatform.eu.rep.googleapis.com/v1beta1', NAME],
    ['with a key', { expressModeApiKey: 'k', agentEngineId: '7' }, 'shop', 'https://aiplatform.googleapis.com/v1beta1', 'reasoningEngines/7'],
    ['in no region', { projectId: 'tea', location: 'global' }, '7', 'https://aiplatform.googleapis.com/v1beta1', 'projects/tea/locations/global/reasoningEngines/7'],
    ['at a proxy', { ...inProject, baseUrl: 'http://127.0.0.1:8080/vertex/' }, '7', 'http://127.0.0.1:8080/vertex/v1beta1', engine],
  ]; // prettier-ignore
  for (const [title, options, appName, url, name] of found) {
    it(`is found ${title}`, () => {
      assert.deepEqual(new EngineAddresses(options).addressOf(appName), { url, engine: name });
    });
  }

  it('is found in the project and the location of the environment', () => {
    process.env.GOOGLE_CLOUD_PROJECT = 'tea';
    process.env.GOOGLE_CLOUD_LOCATION = 'europe-west4';
    process.env.GOOGLE_GENAI_USE_VERTEXAI = 'true';
    process.env.GOOGLE_API_KEY = 's3cret';
    assert.equal(new EngineAddresses({}).addressOf('7').engine, engine);
    assert.equal(new EngineAddresses({}).apiKey, undefined);
  });

  for (const [variable, value] of [
    ['GOOGLE_CLOUD_PROJECT', 'tea/locations/eu'],
    ['GOOGLE_CLOUD_PROJECT', '..'],
    ['GOOGLE_CLOUD_LOCATION', 'evil.example/'],
  ] as const) {
    it(`is not found where ${variable} of the environment is ${value}`, () => {
      process.env.GOOGLE_CLOUD_PROJECT = 'tea';
      process.env.GOOGLE_CLOUD_LOCATION = 'europe-west4';
      process.env[variable] = value;
      const find = () => new EngineAddresses({ accessToken: 't' }).addressOf('7');
      assert.throws(
        find,
        failsWith('invalid_argument', new RegExp(`${variable} must consist of letters`)),
      );
    });
  }

  it("is addressed with the environment's key if the flag is set and no project is", () => {
    process.env.GOOGLE_API_KEY = 's3cret';
    assert.equal(new EngineAddresses({}).apiKey, undefined);
    process.env.GOOGLE_GENAI_USE_VERTEXAI = '1';
    assert.equal(new EngineAddresses({}).apiKey, 's3cret');
    assert.equal(new EngineAddresses(inProject).apiKey, undefined);
    assert.equal(new EngineAddresses({ accessToken: 't' }).apiKey, undefined);
  });

  const refused: [title: string, options: VertexAiOptions, appName: string, message: RegExp][] = [
    ['an app that names none', inProject, 'shop', /appName must name an agent engine/],
    ['a path in place of an engine', inProject, '../7', /appName must name an agent engine/],
    ['an invalid id', { agentEngineId: 'shop' }, 'shop', /agentEngineId must name/],
    ['no project', { location: 'eu' }, '7', /projectId must be given.*GOOGLE_CLOUD_PROJECT/],
    ['no location', { projectId: 'tea' }, '7', /location must be given/],
    ['a key beside a project', { ...inProject, expressModeApiKey: 's3cret' }, '7', /use only one of them/],
    ["a key beside an engine's project", { agentEngineId: NAME, expressModeApiKey: 's3cret' }, 'a', /give only its number/],
    ['a key beside a token', { expressModeApiKey: 's3cret', accessToken: 's3cret' }, '7', /together/],
    ['another project than its own', { agentEngineId: NAME, projectId: 'coffee' }, 'a', /must be \w+ as in the agent engine.s name; it is "coffee"/],
    ['an empty key', { expressModeApiKey: '' }, '7', /expressModeApiKey must be text/],
    ['a location with a path in it', { projectId: 'tea', location: 'a/b' }, '7', /must consist of letters/],
    ['a project that leads elsewhere', { projectId: '..', location: 'eu' }, '7', /projectId must consist of letters/],
    ['a server that is no URL', { ...inProject, baseUrl: 'ftp://s3cret' }, '7', /http/],
    ['a server with a query', { ...inProject, baseUrl: 'https://proxy/?key=s3cret' }, '7', /query/],
    ['a server with a fragment', { ...inProject, baseUrl: 'https://proxy/#s3cret' }, '7', /query/],
    ['a server with a password', { ...inProject, baseUrl: 'https://ada:s3cret@proxy' }, '7', /without user/],
    ['an empty token', { ...inProject, accessToken: '' }, '7', /token/],
    ['no time for a call', { ...inProject, callTimeoutMs: -1 }, '7', /callTimeoutMs must be a whole/],
    ['no time at all', { ...inProject, timeoutMs: 0 }, '7', /timeoutMs/],
    ['a part of a millisecond', { ...inProject, timeoutMs: 1500.5 }, '7', /timeoutMs must be a whole/],
  ]; // prettier-ignore
  for (const [title, options, appName, message] of refused) {
    it(`is not found by ${title}`, async () => {
      const open = async () => new VertexAiSessionService(options).getSession({ ...KEY, appName });
      await assert.rejects(open, failsWith('invalid_argument', message));
    });
  }
});

describe('The server', () => {
  ownEnvironment();
  let server: VertexServer;
  beforeEach(async () => {
    server = await startVertexServer({ credentials: ['s3cret'] });
  });
  afterEach(() => server.end());

  it('gets the given token', async () => {
    await serviceOn(server, { accessToken: 's3cret' }).getSession(KEY);
    assert.equal(server.requests[0]?.headers.authorization, 'Bearer s3cret');
  });

  it('gets a fresh token for each request from a function', async () => {
    let last = 0;
    const service = serviceOn(server, { accessToken: () => Promise.resolve(`${++last}`) });
    for (const token of ['1', '3']) {
      await assert.rejects(service.getSession(KEY), failsWith('remote', /invalid or expired/));
      assert.ok(server.requests.some(({ headers }) => headers.authorization === `Bearer ${token}`));
    }
  });

  it('gets the request again with a fresh token after a 401', async () => {
    const tokens = ['expired', 's3cret'];
    const service = serviceOn(server, { accessToken: () => tokens.shift() ?? 's3cret' });
    await service.createSession(KEY);
    const refused = server.requests.filter(({ code }) => code === 401);
    assert.deepEqual(
      refused.map(({ headers }) => headers.authorization),
      ['Bearer expired'],
    );
    // The same token again would be refused again.
    server.forget();
    const stubborn = serviceOn(server, { accessToken: () => 'expired' });
    await assert.rejects(
      stubborn.listSessions({ appName: KEY.appName }),
      failsWith('remote', /invalid or expired/),
    );
    assert.equal(server.requests.length, 1);
  });

  it('gets the key in express mode', async () => {
    const service = new VertexAiSessionService({
      expressModeApiKey: 's3cret',
      baseUrl: server.url,
      agentEngineId: '7',
    });
    await service.createSession(KEY);
    await service.deleteSession(KEY);
    const [first] = server.requests;
    assert.equal(first?.headers['x-goog-api-key'], 's3cret');
    assert.equal(first.headers.authorization, undefined);
    assert.equal(first.path, '/v1beta1/reasoningEngines/7/sessions/s1');
  });

  const tokens: [title: string, accessToken: () => string, message: RegExp][] = [
    ['throws', () => { throw new Error('no sign-in'); }, /accessToken threw: no sign-in/],
    ['gives nothing', () => '', /returned no token but nothing/],
    ['gives something else', () => 7 as unknown as string, /returned no token but a number/],
  ]; // prettier-ignore
  for (const [title, accessToken, message] of tokens) {
    it(`gets no request if the token function ${title}`, async () => {
      await assert.rejects(
        serviceOn(server, { accessToken }).getSession(KEY),
        failsWith('storage_unavailable', message),
      );
      assert.equal(server.requests.length, 0);
    });
  }

  it('gets no request if the token does not come in time, and the token is not awaited again', async () => {
    let asked = 0;
    const accessToken = () => {
      asked += 1;
      return new Promise<string>(() => undefined);
    };
    const service = serviceOn(server, { accessToken, timeoutMs: 50 });
    await assert.rejects(
      service.listSessions({ appName: KEY.appName }),
      failsWith('connection_lost', /access token did not answer within 50 ms/),
    );
    assert.equal(asked, 1);
    assert.equal(server.requests.length, 0);
  });

  for (const secret of ['s3cret\ns3cret', 's3cret s3cret', 's3crét']) {
    it(`gets no request with ${JSON.stringify(secret)}, and the error does not show it`, async () => {
      const byToken = serviceOn(server, { accessToken: secret });
      const byKey = new VertexAiSessionService({
        expressModeApiKey: secret,
        baseUrl: server.url,
        agentEngineId: '7',
      });
      for (const service of [byToken, byKey]) {
        await assert.rejects(service.getSession(KEY), (error) => {
          assert.doesNotMatch(inspect(error), /s3cr/);
          return failsWith('storage_unavailable', /not printable ASCII/)(error);
        });
      }
      assert.equal(server.requests.length, 0);
    });
  }

  it('gets a token without its trailing line break', async () => {
    await serviceOn(server, { accessToken: () => 's3cret\r\n' }).getSession(KEY);
    assert.equal(server.requests[0]?.headers.authorization, 'Bearer s3cret');
  });

  it('gets no request without Application Default Credentials', async () => {
    process.env.GOOGLE_APPLICATION_CREDENTIALS = '/there/is/no/such/file.json';
    const service = serviceOn(server, { accessToken: undefined });
    await assert.rejects(
      service.getSession(KEY),
      failsWith('storage_unavailable', /gcloud auth application-default login/),
    );
  });

  it('is the only one that gets the key, despite redirects', async () => {
    const proxy = httpServer((_, response) => {
      response.writeHead(307, { location: server.url }).end();
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    const service = new VertexAiSessionService({
      expressModeApiKey: 's3cret',
      baseUrl: `http://127.0.0.1:${port}`,
      agentEngineId: '7',
    });
    await assert.rejects(service.getSession(KEY), failsWith('remote', /307/));
    assert.equal(server.requests.length, 0);
    proxy.closeAllConnections();
    await once(proxy.close(), 'close');
  });

  it('is that of a URI, with the other options', async () => {
    const service = getSessionServiceFromUri('agentengine://7', {
      expressModeApiKey: 's3cret',
      baseUrl: server.url,
    });
    const session = await service.createSession({ appName: 'shop', userId: 'ada' });
    assert.match(session.id, /^[a-f][0-9a-f]{7}-/);
    assert.equal(server.requests[0]?.path, `/v1beta1/reasoningEngines/7/sessions/${session.id}`);
    await service.close();
  });
});
