// Files as a page shows them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, type SessionService } from '../../../../js/index.js';
import { showArtifact, type ShownArtifact } from '../../../../js/ui/live/index.js';
import { KEY } from './stores.js';

async function withFile(filename: string, mimeType: string) {
  const service = new InMemorySessionService({ artifacts: true });
  await service.createSession(KEY);
  await service.artifacts.put({ ...KEY, filename, data: new Blob(['<p>']), mimeType });
  return service;
}

/** Shows a file until it is open or has failed. */
async function shown(service: SessionService, filename: string) {
  const all: ShownArtifact[] = [];
  let stop = (): void => undefined;
  await new Promise<void>((done) => {
    stop = showArtifact(service, { ...KEY, filename }, (artifact) => {
      all.push(artifact);
      if (artifact.status !== 'loading') done();
    });
  });
  return { all, last: all.at(-1)!, stop };
}

describe('A shown file', () => {
  it('is loading, then has a URL, which is revoked at the end', async () => {
    const { all, last, stop } = await shown(await withFile('tea.png', 'image/png'), 'tea.png');
    assert.deepEqual(
      all.map(({ status }) => status),
      ['loading', 'ready'],
    );
    assert.equal((await fetch(last.url!)).headers.get('content-type'), 'image/png');
    stop();
    await assert.rejects(fetch(last.url!));
  });

  for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/xml']) {
    it(`of the type ${type} is downloaded, and never runs as a document of the page`, async () => {
      const { last, stop } = await shown(await withFile('page', type), 'page');
      const { headers } = await fetch(last.url!);
      assert.equal(headers.get('content-type'), 'application/octet-stream');
      stop();
    });
  }

  it('that is a text has its type, also if it was saved as a part', async () => {
    const service = await withFile('a.txt', 'text/plain; charset=utf-8');
    await service.artifacts.saveArtifact({ ...KEY, filename: 'b.txt', artifact: { text: 'b' } });
    for (const name of ['a.txt', 'b.txt']) {
      const { last, stop } = await shown(service, name);
      assert.match((await fetch(last.url!)).headers.get('content-type')!, /^text\/plain/);
      stop();
    }
  });

  it('that does not exist has failed with not_found', async () => {
    const { last } = await shown(await withFile('tea.png', 'image/png'), 'cup.png');
    assert.equal(last.status, 'failed');
    assert.equal((last.error as { code?: string }).code, 'not_found');
  });

  it('of a service without files has failed with artifact_service_missing', async () => {
    const { last } = await shown(new InMemorySessionService(), 'tea.png');
    assert.equal((last.error as { code?: string }).code, 'artifact_service_missing');
  });

  it('that is no longer wanted is not shown', async () => {
    const service = await withFile('tea.png', 'image/png');
    const all: ShownArtifact[] = [];
    showArtifact(service, { ...KEY, filename: 'tea.png' }, (one) => all.push(one))();
    await service.artifacts.open({ ...KEY, filename: 'tea.png' });
    assert.deepEqual(
      all.map(({ status }) => status),
      ['loading'],
    );
  });
});
