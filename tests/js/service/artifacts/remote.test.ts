// Files over HTTP: what every home does, and what a connection adds.

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { failsWith } from '../../fails_with.js';
import { passTimeUntil } from '../../mocked_time.js';
import { bytesOf, FILE_BEHAVIOURS } from './behaviours.js';
import {
  fetchFrom,
  handlerOn,
  KEY,
  openRemote,
  URL_OF_SERVER,
} from '../../stores/remote/fixture.js';

const MIB = 2 ** 20;
const filename = '~dir/.ä b.bin';

describe('Files of a RemoteSessionService', () => {
  for (const [title, run] of FILE_BEHAVIOURS) {
    it(title, () => run(openRemote().remote));
  }

  it('are put once if the answer of a put is lost, whose id is the same again', async () => {
    const { service, handler } = openRemote();
    let lost = 2;
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: async (input, init) => {
        const response = await fetchFrom(handler)(input, init);
        if (init?.method === 'GET' || lost === 0) return response;
        lost -= 1;
        throw new TypeError('socket hang up');
      },
    });
    await service.createSession(KEY);
    const put = await remote.artifacts.put({ ...KEY, filename, data: bytesOf(3) });
    assert.deepEqual([put.version, lost], [0, 0]);
    lost = 1;
    const artifact = { text: 'a' };
    assert.equal(await remote.artifacts.saveArtifact({ ...KEY, filename, artifact }), 1);
    assert.deepEqual(await service.artifacts.listVersions({ ...KEY, filename }), [0, 1]);
    await remote.close();
  });

  it('may come slower than timeoutMs, by their size, and not for ever', async (t) => {
    const { service, handler } = openRemote();
    await service.createSession(KEY);
    await service.artifacts.put({ ...KEY, filename, data: bytesOf(4 * MIB) });
    /** Opens the file over a line whose bodies take so long. */
    const openSlowly = async (bodyMs: number) => {
      const remote = new RemoteSessionService({
        url: URL_OF_SERVER,
        timeoutMs: 30_000,
        retries: 0,
        fetch: async (input, init) => {
          const response = await fetchFrom(handler)(input, init);
          const bytes = await response.arrayBuffer();
          const slow = new ReadableStream<Uint8Array>({
            async start(controller) {
              await new Promise((resolve) =>
                setTimeout(resolve, bytes.byteLength > MIB ? bodyMs : 0),
              );
              controller.enqueue(new Uint8Array(bytes));
              controller.close();
            },
          });
          const { status, headers } = response;
          return new Response(slow, { status, headers: new Headers(headers) });
        },
      });
      const blob = await remote.artifacts.open({ ...KEY, filename });
      assert.equal(blob?.size, 4 * MIB);
    };
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => mock.timers.reset());
    await passTimeUntil(openSlowly(60_000), 1000);
    const tooSlow = assert.rejects(openSlowly(600_000), failsWith('connection_lost'));
    await passTimeUntil(tooSlow, 1000);
  });

  it('are read in parts, each of which is asked for again after a failure', async () => {
    const { service, handler } = openRemote();
    const ranges: (string | null)[] = [];
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const range = request.headers.get('range');
        if (range !== null) ranges.push(range);
        if (ranges.length === 2) throw new TypeError('socket hang up');
        return handler(request);
      },
    });
    await service.createSession(KEY);
    const data = bytesOf(5 * MIB);
    await service.artifacts.put({ ...KEY, filename, data, mimeType: 'image/png' });
    ranges.length = 0;
    const blob = await remote.artifacts.open({ ...KEY, filename });
    assert.equal(blob?.type, 'image/png');
    assert.deepEqual(new Uint8Array(await blob.arrayBuffer()), data);
    const second = `bytes=${4 * MIB}-${8 * MIB - 1}`;
    assert.deepEqual(ranges, [`bytes=0-${4 * MIB - 1}`, second, second]);
    await remote.close();
  });

  for (const [title, hasTag] of [
    ['with an ETag', true],
    ['from a server that tells none', false],
  ] as const) {
    it(`are of one version, also if another is put while they are read ${title}`, async () => {
      const { service, handler } = openRemote();
      let isPut = false;
      const remote = new RemoteSessionService({
        url: URL_OF_SERVER,
        fetch: async (input, init) => {
          const response = await fetchFrom(handler)(input, init);
          if (!hasTag) response.headers.delete('etag');
          if (!isPut && response.status === 206) {
            isPut = true;
            await service.artifacts.put({ ...KEY, filename, data: bytesOf(6 * MIB).reverse() });
          }
          return response;
        },
      });
      await service.createSession(KEY);
      await service.artifacts.put({ ...KEY, filename, data: bytesOf(5 * MIB) });
      const blob = await remote.artifacts.open({ ...KEY, filename, start: 1, end: 5 * MIB });
      const expected = bytesOf(6 * MIB)
        .reverse()
        .slice(1, 5 * MIB);
      assert.ok(Buffer.from(await blob!.arrayBuffer()).equals(expected));
      await remote.close();
    });
  }

  it('above the limit of the server are refused before they are sent', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const handler = handlerOn(service, { maxArtifactBytes: 10 });
    const sent: string[] = [];
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: (input, init) => {
        sent.push(init?.method ?? '');
        return fetchFrom(handler)(input, init);
      },
    });
    await service.createSession(KEY);
    const put = remote.artifacts.put({ ...KEY, filename, data: bytesOf(11) });
    await assert.rejects(put, { code: 'remote', status: 413 });
    assert.deepEqual(sent, ['GET']);
    await remote.close();
  });

  it('fail with artifact_service_missing if the server keeps none', async () => {
    const handler = handlerOn(new InMemorySessionService());
    const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch: fetchFrom(handler) });
    await remote.createSession(KEY);
    const missing = failsWith('artifact_service_missing');
    await assert.rejects(remote.artifacts.listArtifactKeys(KEY), missing);
    await assert.rejects(remote.artifacts.open({ ...KEY, filename }), missing);
    await assert.rejects(remote.artifacts.put({ ...KEY, filename, data: bytesOf(1) }), missing);
    await remote.close();
  });

  it('are not there with artifacts: false', async () => {
    const options = { url: URL_OF_SERVER, fetch: fetchFrom(openRemote().handler) };
    const without = new RemoteSessionService({ ...options, artifacts: false });
    assert.throws(() => without.artifacts, { code: 'artifact_service_missing' });
    await without.close();
  });

  it('over adk api_server go as parts of the ADK, and come back as such', async () => {
    // The handler has the routes of that server, and its form for clients without the header of ours.
    const { service, handler } = openRemote();
    const requests: string[] = [];
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const { pathname } = new URL(request.url);
        if (pathname.endsWith('/version')) return Response.json({ language: 'python' });
        request.headers.delete('adk-session-protocol');
        requests.push(`${request.method} ${pathname.slice(pathname.indexOf('/artifacts'))}`);
        const response = await handler(request);
        response.headers.delete('adk-session-protocol');
        return response;
      },
    });
    await service.createSession(KEY);
    const data = new Uint8Array([251, 255, 1]);
    const name = '.ä/b.png';
    const put = await remote.artifacts.put({ ...KEY, filename: name, data, mimeType: 'image/png' });
    assert.equal(put.version, 0);
    const blob = await remote.artifacts.open({ ...KEY, filename: name, start: 1 });
    assert.deepEqual([...new Uint8Array(await blob!.arrayBuffer())], [255, 1]);
    assert.equal(blob?.type, 'image/png');
    const version = await remote.artifacts.getArtifactVersion({ ...KEY, filename: name });
    assert.ok(Math.abs(version!.createTime! - Date.now()) < 60_000);
    assert.equal(await remote.artifacts.open({ ...KEY, filename: 'none' }), undefined);
    assert.deepEqual(await remote.artifacts.listArtifactKeys(KEY), [name]);
    await remote.artifacts.deleteArtifact({ ...KEY, filename: name });
    assert.deepEqual(await remote.artifacts.listVersions({ ...KEY, filename: name }), []);
    await assert.rejects(remote.artifacts.usage(KEY), failsWith('unsupported'));
    const encoded = '/artifacts/.%C3%A4%2Fb.png';
    assert.deepEqual(requests.slice(0, 2), ['POST /artifacts', `GET ${encoded}/versions/latest`]);
    await remote.close();
  });
});
