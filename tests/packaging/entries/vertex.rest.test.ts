// The service of Vertex AI as users get it: in Node, and in a page's bundle, on a server of this machine.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { type Browser, openBrowser } from '../../browser/browser.js';
import { html, serve } from '../../browser/server.js';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { bundleWithEsbuild, bundleWithVite, filesBelow } from '../bundles.js';
import { page } from '../consumer.js';
import { write } from '../installed.js';

const execute = promisify(execFile);

const main = (baseUrl: string): string => `
import { VertexAiSessionService } from 'adk-session-wasm/vertex';

async function use(options) {
  const service = new VertexAiSessionService({
    agentEngineId: 'projects/tea/locations/us-central1/reasoningEngines/7',
    baseUrl: ${JSON.stringify(baseUrl)},
    ...options,
  });
  try {
    const session = await service.createSession({ appName: 'shop', userId: 'ada', state: { topic: 'tea' } });
    await service.updateState({ appName: 'shop', userId: 'ada', sessionId: session.id, stateDelta: { n: 1 } });
    return (await service.getSession({ appName: 'shop', userId: 'ada', sessionId: session.id })).state;
  } catch (error) {
    return error.code + ': ' + error.message;
  } finally {
    await service.close();
  }
}

globalThis.report = (async () => [await use({ accessToken: 'a-token' }), await use({})])();
`;
const PRINTED = 'globalThis.report.then((report) => console.log(JSON.stringify(report)));';

const textBelow = (folder: string): string =>
  filesBelow(folder)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

/** Without credentials it names the package that would have some. */
function assertReport(report: unknown): void {
  const [state, refusal] = report as [unknown, string];
  assert.deepEqual(state, { topic: 'tea', n: 1 });
  assert.match(refusal, /^storage_unavailable: .*npm install google-auth-library/);
}

describe('the service of Vertex AI', () => {
  let server: VertexServer;
  let browser: Browser;
  before(async () => {
    server = await startVertexServer();
    browser = await openBrowser('chromium');
  });
  after(async () => {
    await browser.close();
    await server.end();
  });

  it('can be imported in Node', async () => {
    const folder = write('vertex-node', { 'main.mjs': main(server.url) + PRINTED });
    const { stdout } = await execute(process.execPath, ['main.mjs'], { cwd: folder });
    assertReport(JSON.parse(stdout));
  });

  it('works in a page bundled with esbuild', async () => {
    const out = await bundleWithEsbuild(write('vertex-esbuild', { 'main.js': main(server.url) }));
    assert.doesNotMatch(textBelow(out), /GoogleToken|SelectQueryNode/);
    const site = await serve({ '/': html(page('/out/main.js')), '/out/': out });
    try {
      assertReport(await browser.value(`${site.origin}/`));
    } finally {
      await site.close();
    }
  });

  it('works in a page built with Vite', async () => {
    const files = { 'index.html': page('/main.js'), 'main.js': main(server.url) };
    const site = await serve({ '/': await bundleWithVite(write('vertex-vite', files)) });
    try {
      assertReport(await browser.value(`${site.origin}/`));
    } finally {
      await site.close();
    }
  });
});
