// The newest versions of the peer dependencies that the lock file does not have, on the versions of Node that they name.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { emptied, SERVERS } from '../../js/stores/database/servers.js';
import { root } from '../installed.js';
import { nodeBinary, projectWith, runQuietly } from '../hosts/host.js';

/** Stores a session at a URL and reads it with another service. Prints its state, or the error. */
const program = (url: string): string => `
  import { DatabaseSessionService } from 'adk-session-wasm/database';

  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  try {
    const first = new DatabaseSessionService('${url}');
    await first.createSession({ ...key, state: { topic: 'tea', 'user:name': 'Ada' } });
    await first.close();
    const second = new DatabaseSessionService('${url}');
    console.log(JSON.stringify((await second.getSession(key)).state));
    await second.deleteUser(key);
    await second.close();
  } catch ({ code, message }) {
    console.log(JSON.stringify({ code, message }));
  }`;

/** Runs a program and returns what it printed, as JSON. */
async function run(version: 20 | 22, name: string, source: string, env = {}) {
  const project = projectWith('newest_peers');
  const folder = project.write(name, { 'main.mjs': source });
  return JSON.parse(await runQuietly(nodeBinary(version), ['main.mjs'], folder, env)) as unknown;
}

const STATE = { topic: 'tea', 'user:name': 'Ada' };

describe('The newest peer dependencies', () => {
  it('are below the upper bounds of package.json, which all of them have', () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>;
    };
    for (const [name, range] of Object.entries(peerDependencies)) {
      assert.match(range, /<|\^/, `${name} has an upper bound`);
    }
  });

  it('of SQLite store sessions on Node 22', async () => {
    assert.deepEqual(await run(22, 'sqlite', program('sqlite:shop.db')), STATE);
  });

  it('of SQLite are refused on Node 20, where the driver would end the program', async () => {
    const { code, message } = (await run(20, 'sqlite-20', program('sqlite:shop.db'))) as {
      code: string;
      message: string;
    };
    assert.equal(code, 'unsupported');
    assert.match(message, /better-sqlite3 13\.2\.0 needs Node 22, and this is Node 20\.20\.2/);
  });

  for (const name of ['postgresql', 'mariadb'] as const) {
    it(`of ${name} store sessions on Node 22`, async () => {
      const server = await SERVERS[name].start();
      try {
        const url = await emptied(name, server);
        assert.deepEqual(await run(22, name, program(url)), STATE);
      } finally {
        await server.remove();
      }
    });
  }

  it('of Vertex AI look for credentials on Node 22', async () => {
    const source = `
      import { VertexAiSessionService } from 'adk-session-wasm/vertex';

      const service = new VertexAiSessionService({ agentEngineId: 'projects/tea/locations/us-central1/reasoningEngines/7' });
      await service.getSession({ appName: 'shop', userId: 'ada', sessionId: 's1' }).catch(({ code, message }) => {
        console.log(JSON.stringify({ code, message }));
      });
      await service.close();`;
    const env = { GOOGLE_APPLICATION_CREDENTIALS: '/there/is/no/such/file.json' };
    const { code, message } = (await run(22, 'vertex', source, env)) as {
      code: string;
      message: string;
    };
    assert.equal(code, 'storage_unavailable');
    assert.match(message, /gcloud auth application-default login/);
  });
});
