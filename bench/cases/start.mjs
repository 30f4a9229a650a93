// The time to the first session, in a new process.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inTurns, shown } from '../measure.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} module */
function firstCall(module) {
  const program = `
    const start = performance.now();
    const { InMemorySessionService } = await import(${JSON.stringify(module)});
    await new InMemorySessionService().createSession({ appName: 'a', userId: 'u' });
    console.log(performance.now() - start);`;
  const args = ['--input-type=module', '--eval', program];
  return Number(execFileSync(process.execPath, args, { cwd: here, encoding: 'utf8' }));
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function start() {
  const times = await inTurns(
    {
      ours: async () => firstCall('adk-session-wasm'),
      peer: async () => firstCall('@google/adk'),
    },
    { rounds: 7, warmUp: 1 },
  );
  return [shown({ case: 'import and first createSession', ...times, unit: 'ms' })];
}
