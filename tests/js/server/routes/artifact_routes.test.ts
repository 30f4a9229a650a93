// The routes of files: the answers of `adk api_server` in google-adk 2.13, and the bytes as they are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { sessionHandler } from '../../../../js/server/index.js';
import { failsWith } from '../../fails_with.js';
import { answerOf, KEY, requestTo, serveFiles, SESSION, SESSIONS, USER } from '../fixture.js';

const FILES = `${SESSION}/artifacts`;
const PNG = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGg_-' } };
const MISSING = { detail: 'Artifact not found', code: 'not_found' };
const URI = 'artifact://apps/shop/users/ada';
const allowed = { authorize: () => true };

/** A version without its time, which `adk api_server` tells in seconds. */
function withoutTime(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutTime);
  const { createTime, ...version } = body as { createTime: number };
  assert.ok(Math.abs(createTime - Date.now() / 1000) < 60);
  return version;
}

describe('The routes of files', () => {
  it('answer as adk api_server does', async () => {
    const { ask } = await serveFiles();
    const save = (filename: string, artifact: unknown, more = {}) =>
      ask(FILES, { body: { filename, artifact, ...more } });
    const version = { mimeType: 'image/png', customMetadata: {}, size: 9 };
    const uri = `${URI}/sessions/s1/artifacts/dir/ä.png/versions`;
    const first = await save('dir/ä.png', PNG, { customMetadata: { a: 1 } });
    const one = {
      ...version,
      version: 0,
      customMetadata: { a: 1 },
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
    const { ask } = await serveFiles();
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
    const { ask } = await serveFiles();
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
    const { put, ask } = await serveFiles();
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
    const { service, put, get } = await serveFiles();
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
    const { put, handler } = await serveFiles();
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
    const { ask } = await serveFiles();
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
    const { put, get, ask } = await serveFiles();
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

    const part = await get(`${FILES}/dir/a.bin?alt=media`, { range: 'bytes=990-' });
    assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 990-999/1000']);
    assert.deepEqual(new Uint8Array(await part.arrayBuffer()), bytes.slice(990));
  });

  it('store a put with an id once, with what the query says of it', async () => {
    const { put, ask } = await serveFiles();
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

  it('refuse a put over a file that an agent has stored while the bytes came', async () => {
    const { service, handler } = await serveFiles(allowed);
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

  it('show a type in a header only if it is one, without parameters but the charset of a text', async () => {
    const { service, get } = await serveFiles();
    const binary = 'application/octet-stream';
    for (const [mimeType, shown] of [
      ['ä/b', binary],
      ['', binary],
      ['html', binary],
      ['image/png,text/html', binary],
      ['video/webm;codecs=vp8,opus', 'video/webm'],
      ['video/webm;codecs=vp8,text/html', 'video/webm'],
      ['text/plain;,text/html', 'text/plain'],
      ['Text/Plain; charset=UTF-8', 'text/plain;charset=utf-8'],
    ] as const) {
      await service.artifacts.put({ ...KEY, filename: 'a', data: new Uint8Array(1), mimeType });
      const response = await get(`${FILES}/a?alt=media`);
      assert.equal(response.headers.get('content-type'), shown);
      assert.equal(response.headers.get('content-disposition'), 'attachment');
    }
  });

  it('refuse a type with control characters or more than 255 bytes, by each way to store one', async () => {
    const { service, ask } = await serveFiles();
    for (const mimeType of ['a\r\nb: c', 'a/b\0', `a/${'b'.repeat(254)}`]) {
      const put = { ...KEY, filename: 'a', data: new Uint8Array(1), mimeType };
      await assert.rejects(service.artifacts.put(put), failsWith('invalid_argument', /^mimeType /));
      const artifact = { inlineData: { mimeType, data: 'AAAA' } };
      const save = service.artifacts.saveArtifact({ ...KEY, filename: 'a', artifact });
      await assert.rejects(save, failsWith('invalid_argument', /mimeType /));
      const body = { filename: 'a', artifact };
      assert.equal((await ask(FILES, { method: 'POST', body })).status, 400);
    }
    assert.deepEqual((await ask(FILES)).body, []);
  });

  it('count what files take', async () => {
    const { put, ask } = await serveFiles();
    await put(`${FILES}/a`, 'abc');
    await put(`${FILES}/user:a`, 'ab');
    const usage = (versions: number, bytes: number) => ({ versions, bytes });
    assert.deepEqual((await ask(`${SESSION}/artifact-usage`)).body, usage(1, 3));
    assert.deepEqual((await ask(`${USER}/artifact-usage`)).body, usage(2, 5));
  });
});
