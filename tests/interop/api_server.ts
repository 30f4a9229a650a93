// google-adk's own server, over a database that we share, with the agent of tests/interop/python/agents.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { freePort } from '../js/database/servers.js';
import { python } from './python.js';

export interface ApiServer {
  /** What it answers; without a method it is GET, or POST where there is a body. */
  ask(path: string, given?: { method?: string; body?: unknown }): Promise<ApiAnswer>;
  end(): Promise<void>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

const agents = fileURLToPath(new URL('python/agents', import.meta.url));

/** @param url of the database, as SQLAlchemy has it: with the driver, or the server takes another service */
export async function startApiServer(url: string): Promise<ApiServer> {
  const port = await freePort();
  const child = spawn(
    join(dirname(python), 'adk'),
    [
      ...['api_server', '--host', '127.0.0.1', '--port', String(port), '--log_level', 'error'],
      ...['--session_service_uri', url],
      ...['--artifact_service_uri', 'memory://', '--memory_service_uri', 'memory://', agents],
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  const ask: ApiServer['ask'] = async (path, { body, method = body ? 'POST' : 'GET' } = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  if (!(await answers(child, () => ask('/health')))) {
    child.kill('SIGKILL');
    throw new Error(`adk api_server does not start: ${said}`);
  }
  return {
    ask,
    async end() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function answers(child: ChildProcess, ask: () => Promise<unknown>): Promise<boolean> {
  for (let tries = 0; tries < 600 && child.exitCode === null; tries += 1) {
    try {
      await ask();
      return true;
    } catch {
      await pause(100);
    }
  }
  return false;
}
