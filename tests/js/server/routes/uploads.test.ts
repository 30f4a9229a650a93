// Uploads that are too large, come slowly or break off.

import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import { nodeListener } from '../../../../js/server/index.js';
import { httpServer } from '../../../http_server.js';
import { answerOf, serveFiles, SESSION } from '../fixture.js';

const FILES = `${SESSION}/artifacts`;

describe('An upload', () => {
  it('above maxArtifactBytes is refused with 413, before its body is read if that says its size', async () => {
    const { put, handler, ask } = await serveFiles({ maxArtifactBytes: 10 });
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
        method: 'PUT',
        headers,
        body,
        duplex: 'half',
      } as RequestInit);
    const told = request({ 'content-length': '11' });
    assert.equal((await handler(told)).status, 413);
    assert.equal(isRead, false);
    assert.equal((await put(`${FILES}/a`, new Uint8Array(11))).status, 413);
    assert.deepEqual((await ask(FILES)).body, []);
    assert.equal((await put(`${FILES}/a`, new Uint8Array(10))).status, 200);
  });

  it('may take longer than timeoutMs while bytes come, and stores nothing once none come', async () => {
    const { handler, ask } = await serveFiles({ timeoutMs: 200 });
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
    const { handler, ask } = await serveFiles();
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
});
