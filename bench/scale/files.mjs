// Files that are put at once: 16 of a MiB beside one.

import { shown } from '../measure.mjs';
import { turnsOf } from './loop_delay.mjs';

const MIB = 2 ** 20;

/** @param {string} storage @param {import('adk-session-wasm/database').DatabaseSessionService} service @returns {Promise<import('../measure.mjs').Result[]>} */
export async function putsAtOnce(storage, service) {
  const key = { appName: 'bench', userId: 'user', sessionId: 'files' };
  await service.createSession(key);
  const bytes = new Uint8Array(MIB).fill(97);
  const { artifacts } = service;
  if (artifacts === undefined) throw new Error('the service has no files');
  const put = (/** @type {number} */ count) => () =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        artifacts.put({ ...key, filename: `f${n}`, data: bytes, mimeType: 'text/plain' }),
      ),
    );
  await put(1)();
  const one = await turnsOf(put(1));
  const all = await turnsOf(put(16));
  const title = `${storage}: 16 puts of a MiB at once`;
  return [
    shown({ case: title, ours: all.time, peer: one.time, unit: 'ms' }),
    shown({ case: `${title}, longest turn`, ours: all.longest, peer: one.longest, unit: 'ms' }),
  ];
}
