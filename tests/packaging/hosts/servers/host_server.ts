// A server that runs while a test asks it.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { cleanEnvironment, nodeBinary } from '../host.js';

/**
 * Runs a server until the work is done.
 *
 * @param args Node's, for a server that prints its port
 * @param node the path of Node
 */
export async function withServer<T>(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  work: (origin: string) => Promise<T>,
  node = nodeBinary(24),
): Promise<T> {
  const server: ChildProcess = spawn(node, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env, HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Deno runs below a program of its own: the end of the group ends both.
    detached: true,
  });
  let log = '';
  try {
    const port = await new Promise<string>((resolve, reject) => {
      const read = (text: Buffer): void => {
        log += text.toString();
        const [, port] = /https?:\/\/[\w.[\]]+:(\d+)/.exec(log) ?? [];
        if (port !== undefined) resolve(port);
      };
      server.stdout?.on('data', read);
      server.stderr?.on('data', read);
      server.once('exit', () => reject(new Error(`the server ended: ${log}`)));
    });
    const result = await work(`http://127.0.0.1:${port}`);
    assert.doesNotMatch(log, /\bwarn(ing)?s?\b/i);
    return result;
  } catch (cause) {
    throw new Error(`the server printed: ${log}`, { cause });
  } finally {
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid);
  }
}
