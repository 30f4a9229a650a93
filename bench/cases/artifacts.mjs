// A session whose messages have files: what a read costs, and what the model's bytes add to it.

import { InMemorySessionService } from 'adk-session-wasm';
import { asAdkService } from 'adk-session-wasm/adk';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { limited, timesInTurns, median } from '../measure.mjs';

const MESSAGES = 16;
const FILE_BYTES = 2 ** 20;
const KEY = { appName: 'bench', userId: 'u', sessionId: 's' };
/** Milliseconds of a read. Its files must not be read with it. */
const MOST = 5;

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function artifacts() {
  const services = {
    memory: new InMemorySessionService({ artifacts: true }),
    SQLite: new DatabaseSessionService('sqlite::memory:', { artifacts: true }),
  };
  const results = [];
  for (const [name, service] of Object.entries(services)) {
    await fill(service);
    const framework = asAdkService(service);
    const { read, withFiles } = await timesInTurns({
      read: () => timeOfRead(service),
      withFiles: () => timeOfRead(framework),
    });
    const what = `${MESSAGES} messages with a file of 1 MiB each, ${name}`;
    results.push(
      limited({ case: `getSession of ${what}`, ours: median(read), most: MOST, unit: 'ms' }),
      {
        case: `the same by asAdkService, which adds 15 MiB of them for the model, ${name}`,
        ours: median(withFiles),
        peer: median(read),
        unit: 'ms',
        goal: '–',
      },
    );
    await service.close();
  }
  return results;
}

/** @param {{ getSession(request: typeof KEY): Promise<unknown> }} service */
async function timeOfRead(service) {
  const start = performance.now();
  await service.getSession(KEY);
  return performance.now() - start;
}

/** @param {InMemorySessionService | DatabaseSessionService} service */
async function fill(service) {
  const session = await service.createSession(KEY);
  const mimeType = 'image/png';
  for (let at = 0; at < MESSAGES; at += 1) {
    const name = `picture ${at}.png`;
    const data = new Uint8Array(FILE_BYTES).fill(at);
    const { version } = await service.artifacts.put({ ...KEY, filename: name, data, mimeType });
    const file = { part: 0, name, version, mimeType, size: FILE_BYTES };
    await service.appendEvent({
      session,
      event: {
        author: 'user',
        invocationId: `i${at}`,
        content: { role: 'user', parts: [{ text: `[Uploaded Artifact: "${name}"]` }] },
        customMetadata: { adk_session_wasm_files: [file] },
      },
    });
  }
}
