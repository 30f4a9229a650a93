// Downloads leave as their clients take them.

import assert from 'node:assert/strict';
import { get as httpGet, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';

import { nodeListener, sessionHandler } from '../../../../js/server/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { httpServer } from '../../../http_server.js';
import { KEY, requestTo, SESSION } from '../fixture.js';

const MIB = 2 ** 20;
const FILE = `${SESSION}/artifacts/a.bin`;

const bytesOf = (length: number) =>
  new Uint8Array(length).map((_, at) => (at * 31 + (at >> 8) * 17 + (at >> 16)) & 255);

const open: DatabaseSessionService[] = [];

afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

/** Serves a file of so many bytes out of SQLite. */
async function served(size: number) {
  const service = new DatabaseSessionService('sqlite::memory:', { artifacts: true });
  open.push(service);
  await service.createSession(KEY);
  const data = bytesOf(size);
  const put = { ...KEY, filename: 'a.bin', data, mimeType: 'video/mp4', displayName: 'Ä"' };
  await service.artifacts.put(put);
  const handler = sessionHandler(service, { authorize: () => true });
  const get = (path: string, headers = {}) => handler(requestTo(path, { headers }));
  return { service, handler, get, data };
}

describe('A download out of SQLite', () => {
  it('has the bytes of the file, or of a range', async () => {
    const { get, data } = await served(3 * MIB + 77);
    const whole = await get(`${FILE}?alt=media`);
    assert.equal(whole.headers.get('content-length'), String(data.length));
    assert.deepEqual(new Uint8Array(await whole.arrayBuffer()), data);
    for (const [start, end] of [
      [0, 1],
      [MIB - 3, 3 * MIB + 5],
    ] as const) {
      const range = await get(`${FILE}?alt=media`, { range: `bytes=${start}-${end - 1}` });
      assert.equal(range.status, 206);
      assert.deepEqual(new Uint8Array(await range.arrayBuffer()), data.slice(start, end));
    }
  });

  it('is a part of the ADK in the base64 of the client', async () => {
    for (const size of [MIB + 1, 2 * MIB, 3 * MIB + 77]) {
      const { get, data } = await served(size);
      for (const [headers, encoding] of [
        [{}, 'base64url'],
        [{ 'adk-session-protocol': '1.0' }, 'base64'],
      ] as const) {
        const response = await get(FILE, headers);
        const text = await response.text();
        assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)));
        assert.match(response.headers.get('content-disposition')!, /attachment/);
        const { inlineData } = JSON.parse(text) as { inlineData: Record<string, string> };
        assert.deepEqual(Object.keys(inlineData).sort(), ['data', 'displayName', 'mimeType']);
        assert.deepEqual([inlineData.mimeType, inlineData.displayName], ['video/mp4', 'Ä"']);
        const expected = Buffer.from(data).toString(encoding);
        assert.equal(inlineData.data?.replace(/=+$/, ''), expected.replace(/=+$/, ''));
        assert.equal(inlineData.data.length % 4, 0);
      }
    }
  });

  it('breaks off if the file is deleted meanwhile, also if another one takes its place', async () => {
    for (const path of [`${FILE}?alt=media`, FILE]) {
      const { service, get } = await served(4 * MIB);
      const reader = (await get(path)).body!.getReader();
      assert.equal((await reader.read()).done, false);
      await service.deleteSession(KEY);
      await service.createSession(KEY);
      const data = new Uint8Array(4 * MIB);
      await service.artifacts.put({ ...KEY, filename: 'a.bin', data, mimeType: 'video/mp4' });
      await assert.rejects(async () => {
        while (!(await reader.read()).done);
      }, /deleted/);
    }
  });

  it('has a few MiB in memory while its client does not read', async (t) => {
    const size = 16 * MIB;
    const { handler } = await served(size);
    const server = httpServer((request, response) => void nodeListener(handler)(request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    for (const path of [`${FILE}?alt=media`, FILE]) {
      const before = process.memoryUsage().rss;
      // Each has its headers, and reads nothing.
      const url = `http://127.0.0.1:${port}${path}`;
      const responses = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await new Promise<IncomingMessage>((done) => httpGet(url, done));
          assert.equal(response.statusCode, 200);
          return response;
        }),
      );
      const added = (process.memoryUsage().rss - before) / MIB;
      t.diagnostic(`20 readers of 16 MiB: ${added.toFixed()} MiB`);
      for (const response of responses) response.destroy();
      // As a whole they would be 320.
      assert.ok(added < 160, `${added} MiB`);
    }
    server.close();
    server.closeAllConnections();
  });
});
