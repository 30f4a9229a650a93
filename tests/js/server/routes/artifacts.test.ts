// The routes of files: the answers of `adk api_server` in google-adk 2.13, the bytes as they are, and who may do what.

import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { nodeListener, sessionHandler, type SessionAccess } from '../../../../js/server/index.js';
import { httpServer } from '../../../http_server.js';
import { answerOf, KEY, requestTo, serve, SESSION, SESSIONS, USER } from '../fixture.js';

const FILES = `${SESSION}/artifacts`;
const PNG = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGg_-' } };
const MISSING = { detail: 'Artifact not found', code: 'not_found' };
const URI = 'artifact://apps/shop/users/ada';

async function served(options: Parameters<typeof serve>[0] = {}) {
  const all = serve(options);
  await all.service.createSession(KEY);
  /** Sends bytes. */
  const put = async (path: string, data: BodyInit, headers: Record<string, string> = {}) => {
    const sent = { method: 'PUT', body: data, headers, duplex: 'half' };
    return answerOf(await all.handler(new Request(`http://localhost${path}`, sent)));
  };
  const get = (path: string, headers: Record<string, string> = {}) =>
    all.handler(requestTo(path, { headers }));
  return { ...all, put, get };
}

/** A version without its time, which `adk api_server` tells in seconds. */
function withoutTime(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutTime);
  const { createTime, ...version } = body as { createTime: number };
  assert.ok(Math.abs(createTime - Date.now() / 1000) < 60);
  return version;
}

describe('The routes of files', () => {
  it('answer as adk api_server does', async () => {
    const { ask } = await served();
    const save = (filename: string, artifact: unknown, more = {}) =>
      ask(FILES, { body: { filename, artifact, ...more } });
    const version = { mimeType: 'image/png', customMetadata: {}, size: 9 };
    const uri = `${URI}/sessions/s1/artifacts/dir/ä.png/versions`;
    const first = await save('dir/ä.png', PNG, { customMetadata: { a: 1 } });
    const one = {
      ...{ ...version, version: 0, customMetadata: { a: 1 } },
      canonicalUri: `${uri}/0`,
    };
    assert.deepEqual([first.status, withoutTime(first.body)], [200, one]);
    const second = await save('dir/ä.png', { inline_data: null, text: 'ü' });
    const text = { version: 1, mimeType: 'text/plain', customMetadata: {}, size: 2 };
    const two = { ...text, canonicalUri: `${uri}/1` };
    assert.deepEqual([second.status, withoutTime(second.body)], [200, two]);
    const ofUser = await save('user:b', PNG);
    const { canonicalUri } = ofUser.body as { canonicalUri: string };
    assert.equal(canonicalUri, `${URI}/artifacts/b/versions/0`);

    for (const name of ['dir/%C3%A4.png', 'dir%2F%C3%A4.png']) {
      const file = `${FILES}/${name}`;
      const answers: readonly (readonly [path: string, status: number, body: unknown])[] = [
        [FILES, 200, ['dir/ä.png', 'user:b']],
        [file, 200, { text: 'ü' }],
        [`${file}/`, 200, { text: 'ü' }],
        [`${file}?version=0`, 200, PNG],
        [`${file}?version=2`, 404, MISSING],
        [`${file}/versions`, 200, [0, 1]],
        [`${file}/versions/0`, 200, PNG],
        [`${file}/versions/latest`, 200, { text: 'ü' }],
        [`${file}/versions/2`, 404, MISSING],
        [`${FILES}/user:b`, 200, PNG],
        [`${FILES}/user%3Ab/versions/0`, 200, PNG],
        [`${FILES}/none`, 404, MISSING],
        [`${FILES}/none/versions`, 200, []],
        [`${FILES}/none/versions/metadata`, 200, []],
      ];
      for (const [path, status, body] of answers) {
        const answer = await ask(path);
        assert.deepEqual([answer.status, answer.body], [status, body], path);
      }
      const metadata = await ask(`${file}/versions/metadata`);
      assert.deepEqual(withoutTime(metadata.body), [one, two]);
      for (const [version, expected] of [
        ['0', one],
        ['latest', two],
      ] as const) {
        const { body } = await ask(`${file}/versions/${version}/metadata`);
        assert.deepEqual(withoutTime(body), expected);
      }
      const { status, body } = await ask(`${file}/versions/7/metadata`);
      const detail = 'Artifact version not found';
      assert.deepEqual([status, body], [404, { detail, code: 'not_found' }]);
    }
    for (const name of ['dir/%C3%A4.png', 'none']) {
      const { status, body } = await ask(`${FILES}/${name}`, { method: 'DELETE' });
      assert.deepEqual([status, body], [200, null]);
    }
    assert.deepEqual((await ask(FILES)).body, ['user:b']);
  });

  it('have status 400 for what is wrong, where adk api_server has 400, 422 or 500', async () => {
    const { ask } = await served();
    const wrong: readonly (readonly [path: string, method: string, body?: unknown])[] = [
      [FILES, 'POST', { artifact: PNG }],
      [FILES, 'POST', { filename: 'a' }],
      [FILES, 'POST', { filename: 'a', artifact: {} }],
      [FILES, 'POST', { filename: 'a', artifact: { fileData: { fileUri: 'gs://a/b' } } }],
      [FILES, 'POST', { filename: 'a', artifact: { inlineData: { data: '%' } } }],
      [FILES, 'POST', { filename: '../a', artifact: PNG }],
      [`${FILES}/..%2Fa`, 'GET'],
      [`${FILES}/..%2Fa`, 'DELETE'],
      [`${FILES}/a//b`, 'GET'],
      [`${FILES}/a/versions/1`, 'DELETE'],
      [`${FILES}/a/versions/x`, 'GET'],
      [`${FILES}/a/versions/-1/metadata`, 'GET'],
      [`${FILES}/a?version=x`, 'GET'],
      [`${FILES}/a?alt=json`, 'GET'],
      [`${FILES}/%`, 'GET'],
    ];
    for (const [path, method, body] of wrong) {
      const { status } = await ask(path, { method, body });
      assert.equal(status, 400, `${method} ${path} ${JSON.stringify(body)}`);
    }
    assert.equal((await ask(FILES, { method: 'PUT' })).status, 405);
    const refused = await ask(`${FILES}/a/versions`, { method: 'PATCH' });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, PUT, DELETE']);
  });

  it('take a part as Python clients send it', async () => {
    const { ask } = await served();
    const { mimeType: mime_type, data } = PNG.inlineData;
    const parts = [
      { inline_data: { mime_type, data, display_name: null }, text: null, file_data: null },
      { inlineData: { mimeType: mime_type, data, displayName: null } },
      { inline_data: { mime_type: null, data, display_name: 'ä' } },
    ];
    for (const artifact of parts) {
      const { status } = await ask(FILES, { body: { filename: 'a', artifact } });
      assert.equal(status, 200, JSON.stringify(artifact));
    }
    const stored = await Promise.all(
      [0, 1, 2].map(async (version) => (await ask(`${FILES}/a?version=${version}`)).body),
    );
    const mimeType = 'application/octet-stream';
    assert.deepEqual(stored, [PNG, PNG, { inlineData: { mimeType, data, displayName: 'ä' } }]);
  });

  it('return base64 as google-adk does, for any number of bytes', async () => {
    const { put, ask } = await served();
    for (const [length, data] of ['_w==', '__8=', '____', '_____w=='].entries()) {
      await put(`${FILES}/a`, new Uint8Array(length + 1).fill(255));
      const { body } = await ask(`${FILES}/a`);
      assert.equal((body as typeof PNG).inlineData.data, data);
      const own = await ask(`${FILES}/a`, { headers: { 'adk-session-protocol': '1.0' } });
      const standard = data.replaceAll('_', '/');
      assert.equal((own.body as typeof PNG).inlineData.data, standard);
    }
  });

  it('do not load a file again for a client that has it', async () => {
    const { service, put, get } = await served();
    const { artifacts } = service;
    const type = { 'content-type': 'image/png' };
    await put(`${FILES}/a`, 'tea', type);
    const own = { 'adk-session-protocol': '1.0' };
    const [first, ofOwn] = [await get(`${FILES}/a`), await get(`${FILES}/a`, own)];
    const etag = first.headers.get('etag')!;
    assert.notEqual(ofOwn.headers.get('etag'), etag);
    let loads = 0;
    const { loadArtifact } = artifacts;
    artifacts.loadArtifact = (request) => {
      loads += 1;
      return loadArtifact.call(artifacts, request);
    };
    for (const path of ['/a', '/a?version=0', '/a/versions/0', '/a/versions/latest']) {
      const same = await get(FILES + path, { 'if-none-match': etag });
      assert.deepEqual([same.status, same.headers.get('etag'), await same.text()], [304, etag, '']);
      assert.equal(same.headers.get('content-security-policy'), 'sandbox');
    }
    assert.equal(loads, 0);
    // The same bytes, with another name.
    await put(`${FILES}/a?displayName=b`, 'tea', type);
    assert.equal((await get(`${FILES}/a`, { 'if-none-match': etag })).status, 200);
    assert.equal(loads, 1);
  });

  it('answer HEAD with the size of the file, whatever its range', async () => {
    const { put, handler } = await served();
    await put(`${FILES}/a`, new Uint8Array(1000));
    const headers = { range: 'bytes=0-9' };
    const path = `${FILES}/a?alt=media`;
    const response = await handler(requestTo(path, { method: 'HEAD', headers }));
    const { status } = response;
    const [length, range] = ['content-length', 'content-range'].map((name) =>
      response.headers.get(name),
    );
    assert.deepEqual([status, length, range], [200, '1000', null]);
  });

  it('tell files of 1970 apart', async () => {
    const service = new InMemorySessionService({ artifacts: true, clock: () => 0 });
    await service.createSession(KEY);
    const handler = sessionHandler(service, { authorize: () => true });
    const tags = [];
    for (const data of [new Uint8Array(1), new Uint8Array(2)]) {
      await service.artifacts.put({ ...KEY, filename: 'a', data });
      const response = await handler(requestTo(`${FILES}/a?alt=media`));
      tags.push(response.headers.get('etag'));
    }
    assert.deepEqual(tags, ['"0-0"', '"1-0"']);
  });

  it('have status 404 without the session, or without files', async () => {
    const { ask } = await served();
    const { handler } = { handler: sessionHandler(new InMemorySessionService(), allowed) };
    const requests: readonly (readonly [path: string, method: string, body?: unknown])[] = [
      ['', 'GET'],
      ['', 'POST', { filename: 'a', artifact: PNG }],
      ['', 'POST', { filename: 'user:a', artifact: PNG }],
      ['/a', 'GET'],
      ['/a?alt=media', 'GET'],
      ['/a', 'PUT', 'a'],
      ['/a/versions', 'GET'],
      ['/a/versions/metadata', 'GET'],
      ['/a', 'DELETE'],
    ];
    for (const [path, method, body] of requests) {
      const answer = await ask(`${SESSIONS}/none/artifacts${path}`, { method, body });
      const { code } = answer.body as { code: string };
      assert.deepEqual([answer.status, code], [404, 'not_found'], `${method} ${path}`);
      const response = await handler(requestTo(`${FILES}${path}`, { method, body }));
      const without = await answerOf(response);
      const detail = (without.body as { code: string }).code;
      assert.deepEqual([without.status, detail], [404, 'artifact_service_missing']);
    }
  });

  it('take and return the bytes of a file as they are', async () => {
    const { put, get, ask } = await served();
    const bytes = new Uint8Array(1000).map((_, at) => at * 7);
    const stored = await put(`${FILES}/dir/a.bin`, bytes, { 'content-type': 'image/png' });
    const { createTime, ...version } = stored.body as { createTime: number };
    assert.ok(createTime > 1e12);
    assert.deepEqual(version, { version: 0, mimeType: 'image/png', size: 1000 });
    const response = await get(`${FILES}/dir/a.bin?alt=media`);
    assert.equal(response.status, 200);
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
    const shown = Object.fromEntries(response.headers);
    const expected = {
      'content-type': 'image/png',
      'content-length': '1000',
      'content-disposition': 'attachment',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    };
    assert.deepEqual({ ...shown, ...expected }, shown);
    const { etag = '' } = shown;
    const same = await get(`${FILES}/dir/a.bin?alt=media&version=0`, { 'if-none-match': etag });
    assert.deepEqual([same.status, await same.text()], [304, '']);
    const { headers } = await ask(`${FILES}/dir/a.bin`);
    assert.equal(headers.get('content-security-policy'), 'sandbox');

    const ranges: readonly (readonly [range: string, expected: string | number])[] = [
      ['bytes=0-9', 'bytes 0-9/1000'],
      ['bytes=990-', 'bytes 990-999/1000'],
      ['bytes=-5', 'bytes 995-999/1000'],
      ['bytes=-2000', 'bytes 0-999/1000'],
      ['bytes=999-5000', 'bytes 999-999/1000'],
      ['bytes=1000-', 416],
      ['bytes=-0', 416],
      ['bytes=9-0', 200],
      ['bytes=0-1,5-6', 200],
      ['lines=0-1', 200],
      ['bytes=-', 200],
    ];
    for (const [range, answer] of ranges) {
      for (const condition of [{}, { 'if-range': etag }]) {
        const part = await get(`${FILES}/dir/a.bin?alt=media`, { range, ...condition });
        const told = part.headers.get('content-range');
        const read = new Uint8Array(await part.arrayBuffer());
        if (typeof answer === 'number') {
          assert.deepEqual(
            [part.status, told],
            [answer, answer === 416 ? 'bytes */1000' : null],
            range,
          );
          assert.equal(read.length, answer === 416 ? 0 : 1000);
          continue;
        }
        const [, start, end] = /(\d+)-(\d+)/.exec(answer) ?? [];
        assert.deepEqual([part.status, told], [206, answer]);
        assert.deepEqual(read, bytes.slice(Number(start), Number(end) + 1));
      }
      const other = await get(`${FILES}/dir/a.bin?alt=media`, { range, 'if-range': '"other"' });
      assert.equal(other.status, 200);
    }
  });

  it('store a put with an id once, with what the query says of it', async () => {
    const { put, ask } = await served();
    const facts = { displayName: 'Ä b.csv', customMetadata: '{"a":[1]}', id: 'p1' };
    const path = `${FILES}/a.csv?${String(new URLSearchParams(facts))}`;
    const answers = [await put(path, 'a'), await put(path, 'a')];
    for (const { body } of answers) {
      const { version, displayName, customMetadata } = body as Record<string, unknown>;
      const { displayName: name } = facts;
      assert.deepEqual([version, displayName, customMetadata], [0, name, { a: [1] }]);
    }
    assert.deepEqual((await ask(`${FILES}/a.csv/versions`)).body, [0]);
    for (const customMetadata of ['[]', '{', '1']) {
      const query = String(new URLSearchParams({ customMetadata }));
      assert.equal((await put(`${FILES}/a.csv?${query}`, 'a')).status, 400);
    }
  });

  it('show a type in a header only if it is one', async () => {
    const { service, get } = await served();
    for (const mimeType of ['a\r\nb: c', 'ä/b', '', 'html']) {
      await service.artifacts.put({ ...KEY, filename: 'a', data: new Uint8Array(1), mimeType });
      const response = await get(`${FILES}/a?alt=media`);
      assert.equal(response.headers.get('content-type'), 'application/octet-stream');
    }
  });

  it('count what files take', async () => {
    const { put, ask } = await served();
    await put(`${FILES}/a`, 'abc');
    await put(`${FILES}/user:a`, 'ab');
    const usage = (versions: number, bytes: number) => ({ versions, bytes });
    assert.deepEqual((await ask(`${SESSION}/artifact-usage`)).body, usage(1, 3));
    assert.deepEqual((await ask(`${USER}/artifact-usage`)).body, usage(2, 5));
  });
});

const allowed = { authorize: () => true };

describe('An upload', () => {
  it('above maxArtifactBytes is refused with 413, before its body is read if that says its size', async () => {
    const { put, handler, ask } = await served({ maxArtifactBytes: 10 });
    let isRead = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          isRead = true;
          controller.enqueue(new Uint8Array(8));
        },
      },
      { highWaterMark: 0 },
    );
    const request = (headers: Record<string, string>) =>
      new Request(`http://localhost${FILES}/a`, {
        ...{ method: 'PUT', headers, body, duplex: 'half' },
      });
    const told = request({ 'content-length': '11' });
    assert.equal((await handler(told)).status, 413);
    assert.equal(isRead, false);
    assert.equal((await put(`${FILES}/a`, new Uint8Array(11))).status, 413);
    assert.deepEqual((await ask(FILES)).body, []);
    assert.equal((await put(`${FILES}/a`, new Uint8Array(10))).status, 200);
  });

  it('may take longer than timeoutMs while bytes come, and stores nothing once none come', async () => {
    const { handler, ask } = await served({ timeoutMs: 200 });
    const upload = (pauses: readonly number[]) => {
      const left = [...pauses];
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const pause = left.shift();
          if (pause === undefined) return controller.close();
          await new Promise((resolve) => setTimeout(resolve, pause));
          controller.enqueue(new Uint8Array(1));
        },
      });
      const request = { method: 'PUT', body, duplex: 'half' };
      return handler(new Request(`http://localhost${FILES}/a`, request));
    };
    assert.equal((await upload([1, 2000])).status, 408);
    assert.deepEqual((await ask(FILES)).body, []);
    const response = await upload(Array<number>(14).fill(50));
    assert.deepEqual([response.status, (await answerOf(response)).status], [200, 200]);
    assert.deepEqual((await ask(`${FILES}/a/versions`)).body, [0]);
  });

  it('whose connection breaks stores nothing', async () => {
    const { handler, ask } = await served();
    let end: (status: number) => void;
    const ended = new Promise<number>((resolve) => (end = resolve));
    const listener = nodeListener(async (request) => {
      const response = await handler(request);
      end(response.status);
      return response;
    });
    const server = httpServer((request, response) => void listener(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-length': 100 };
    const sent = { host: '127.0.0.1', port, path: `${FILES}/a`, method: 'PUT', headers };
    const client = httpRequest(sent);
    client.on('error', () => undefined);
    client.write('the beginning', () => setTimeout(() => client.destroy(), 50));
    assert.ok([400, 408].includes(await ended));
    server.close();
    assert.deepEqual((await ask(FILES)).body, []);
  });

  it('that is shorter than it says stores nothing', async () => {
    const { put, ask } = await served();
    assert.equal((await put(`${FILES}/a`, 'abc', { 'content-length': '4' })).status, 400);
    assert.deepEqual((await ask(FILES)).body, []);
  });
});

describe('The rights of requests for files', () => {
  it('are asked for with the action of each route', async () => {
    const asked: string[] = [];
    const authorize = (_: unknown, { action, ...key }: SessionAccess) => {
      asked.push(action);
      assert.deepEqual(key, KEY);
      return false;
    };
    const { ask } = await served({ authorize });
    const actions: readonly (readonly [path: string, method: string, action: string])[] = [
      ['', 'GET', 'listArtifacts'],
      ['', 'POST', 'saveArtifact'],
      ['/a/b', 'GET', 'loadArtifact'],
      ['/a/b?alt=media', 'GET', 'loadArtifact'],
      ['/a/b/versions', 'GET', 'listArtifacts'],
      ['/a/b/versions/metadata', 'GET', 'listArtifacts'],
      ['/a/b/versions/0', 'GET', 'loadArtifact'],
      ['/a/b/versions/0/metadata', 'GET', 'listArtifacts'],
      ['/a/b', 'PUT', 'saveArtifact'],
      ['/a/b', 'DELETE', 'deleteArtifact'],
    ];
    for (const [path, method] of actions) {
      assert.equal((await ask(FILES + path, { method })).status, 403);
    }
    assert.deepEqual(
      asked,
      actions.map(([, , action]) => action),
    );
  });

  it('a client without rights is the author of its files, and replaces and deletes none of others', async () => {
    const { service, put, ask } = await served(allowed);
    await put(`${FILES}/own?author=writer`, 'a');
    await ask(FILES, { body: { filename: 'own', artifact: PNG, author: 'writer' } });
    const versions = await service.artifacts.listArtifactVersions({ ...KEY, filename: 'own' });
    const authors = versions.map(({ author }) => author);
    assert.deepEqual(authors, ['user', 'user']);
    for (const author of ['writer', undefined]) {
      const filename = `of-${author}`;
      const artifact = { text: 'by an agent' };
      await service.artifacts.saveArtifact({ ...KEY, filename, artifact, author });
      const before = await service.artifacts.listArtifactVersions({ ...KEY, filename });
      const path = `${FILES}/${filename}`;
      const statuses = [
        (await put(path, 'a')).status,
        (await ask(FILES, { body: { filename, artifact: PNG } })).status,
        (await ask(path, { method: 'DELETE' })).status,
      ];
      assert.deepEqual(statuses, [403, 403, 403]);
      assert.deepEqual(await service.artifacts.listArtifactVersions({ ...KEY, filename }), before);
      assert.deepEqual((await ask(path)).body, artifact);
    }
    assert.equal((await ask(`${FILES}/own`, { method: 'DELETE' })).status, 200);
  });

  it('are checked once more when the bytes of a put are there', async () => {
    const { service, handler } = await served(allowed);
    const save = () =>
      service.artifacts.saveArtifact({ ...KEY, filename: 'a', artifact: PNG, author: 'writer' });
    let saved: Promise<number> | undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (saved === undefined) controller.enqueue(new Uint8Array(1));
          else controller.close();
          await (saved ??= save());
        },
      },
      { highWaterMark: 0 },
    );
    const sent = { method: 'PUT', body, duplex: 'half' };
    const response = await handler(new Request(`http://localhost${FILES}/a`, sent));
    assert.equal(response.status, 403);
    const versions = await service.artifacts.listArtifactVersions({ ...KEY, filename: 'a' });
    assert.deepEqual(
      versions.map(({ author }) => author),
      ['writer'],
    );
  });

  it('are not asked for a put that is stored already, unless another has put it', async () => {
    const { service, put, ask } = await served(allowed);
    const save = (id?: string) =>
      ask(FILES, { body: { filename: 'b', artifact: { text: 'tea' }, id } });
    const saved = await save('p1');
    const artifact = { text: 'by an agent' };
    await service.artifacts.saveArtifact({ ...KEY, filename: 'b', artifact, id: 'p2' });
    const savedAgain = await save('p1');
    assert.deepEqual([savedAgain.status, savedAgain.body], [200, saved.body]);
    for (const id of ['p2', 'p3', undefined]) assert.equal((await save(id)).status, 403);
    assert.deepEqual(await service.artifacts.listVersions({ ...KEY, filename: 'b' }), [0, 1]);
    const first = await put(`${FILES}/a?id=p1`, 'a');
    const data = new Uint8Array(1);
    await service.artifacts.put({ ...KEY, filename: 'a', data, author: 'writer', id: 'p2' });
    const again = await put(`${FILES}/a?id=p1`, 'a');
    assert.deepEqual([again.status, again.body], [200, first.body]);
    for (const id of ['p2', 'p3'])
      assert.equal((await put(`${FILES}/a?id=${id}`, 'a')).status, 403);
    assert.deepEqual(await service.artifacts.listVersions({ ...KEY, filename: 'a' }), [0, 1]);
  });

  it('user: files are changed with mayWriteUserState alone, and the files of agents with mayWriteAgentEvents', async () => {
    for (const mayWriteUserState of [false, true]) {
      const { put, ask } = await served({ authorize: () => ({ mayWriteUserState }) });
      const path = `${FILES}/user:a`;
      const statuses = [
        (await put(path, 'a')).status,
        (await ask(FILES, { body: { filename: 'user:a', artifact: PNG } })).status,
        (await ask(path, { method: 'DELETE' })).status,
      ];
      const expected = mayWriteUserState ? 200 : 403;
      assert.deepEqual(statuses, [expected, expected, expected]);
    }
    const { service, put } = await served({ authorize: () => ({ mayWriteAgentEvents: true }) });
    await service.artifacts.saveArtifact({ ...KEY, filename: 'a', artifact: PNG });
    assert.equal((await put(`${FILES}/a?author=writer`, 'a')).status, 200);
    const stored = await service.artifacts.getArtifactVersion({ ...KEY, filename: 'a' });
    assert.equal(stored?.author, 'writer');
  });

  it('a stored file of another user or session is reached by no name or version that a client can write', async () => {
    const { service, put, get, ask } = await served({
      authorize: (_, { appName, userId, sessionId }) =>
        appName === 'shop' && userId === 'ada' && sessionId === 's1',
    });
    const secret = { text: 'a-secret' };
    const others = [
      { ...KEY, sessionId: 's2' },
      { ...KEY, userId: 'eve' },
      { ...KEY, appName: 'other' },
    ];
    for (const key of others) {
      await service.createSession(key);
      for (const filename of ['a', 'user:a']) {
        if (filename === 'user:a' && key.sessionId === 's2') continue;
        await service.artifacts.saveArtifact({ ...key, filename, artifact: secret });
      }
    }
    const names = [
      ...['a', 'user:a', '../s2/artifacts/a', '..%2Fs2%2Fartifacts%2Fa', '%2e%2e/s2/a'],
      ...['.%2E%2Fs2%2Fartifacts%2Fa', '..%5Cs2%5Ca', 'user:..%2F..%2Feve%2Fa', '%2Fa', 'a%00'],
      ...['user%3Aa/versions/latest', 'a/versions/0', 'a/versions/00', 'a/versions/0/versions/0'],
      ...['artifact:%2F%2Fapps%2Fshop%2Fusers%2Feve%2Fartifacts%2Fa', '~a', '~user:a', 'user:~a'],
      ...['..%2F..%2Fs2%2Fartifacts%2Fa/versions/0', 's2/a', 'a/versions/0%2F..%2F..%2Fs2'],
    ];
    for (const name of names) {
      for (const headers of [{}, { 'adk-session-protocol': '1.0' }]) {
        for (const query of ['', '?alt=media', '?version=0', '?version=0&alt=media']) {
          const response = await get(`${FILES}/${name}${query}`, headers);
          assert.ok(!(await response.text()).includes('a-secret'), name);
          assert.ok([400, 403, 404].includes(response.status), `${response.status} ${name}`);
        }
        await put(`${FILES}/${name}`, 'mine', headers);
        await ask(`${FILES}/${name}`, { method: 'DELETE', headers });
      }
    }
    assert.deepEqual((await ask(FILES)).body, []);
    for (const key of others) {
      const loaded = await service.artifacts.loadArtifact({ ...key, filename: 'a' });
      assert.deepEqual(loaded, secret);
    }
  });
});

describe('The routes of apps', () => {
  it('tell the names for which listApps is allowed, and nothing else', async () => {
    const authorize = (_: unknown, { action, appName }: SessionAccess) =>
      action === 'listApps' && appName !== 'secret';
    const { ask } = serve({ authorize, apps: ['shop', 'secret', 'tea'] });
    const info = (name: string) => ({
      ...{ name, rootAgentName: name, description: '', language: 'typescript' },
      ...{ isComputerUse: false, agents: {} },
    });
    assert.deepEqual((await ask('/list-apps')).body, ['shop', 'tea']);
    // adk-web asks in this way.
    assert.deepEqual((await ask('/list-apps?relative_path=./')).body, ['shop', 'tea']);
    const { body } = await ask('/list-apps?detailed=true');
    assert.deepEqual(body, { apps: [info('shop'), info('tea')] });
    assert.deepEqual((await ask('/apps/tea/app-info')).body, info('tea'));
    assert.equal((await ask('/apps/secret/app-info')).status, 403);
    assert.equal((await ask('/apps/none/app-info')).status, 404);
  });

  it('are status 404 without the option, and ask who sends a request', async () => {
    const { ask } = serve();
    for (const path of ['/list-apps', '/apps/shop/app-info']) {
      assert.equal((await ask(path)).status, 404);
      const unknown = serve({ authorize: () => 'unauthenticated', apps: ['shop'] });
      assert.equal((await unknown.ask(path)).status, 401);
    }
  });

  it('/health is open', async () => {
    const { ask } = serve({ authorize: () => false });
    const { status, body } = await ask('/health');
    assert.deepEqual([status, body], [200, { status: 'ok' }]);
  });
});
