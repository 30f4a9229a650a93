// google-adk's own server, over a database that we share, with the agents of tests/interop/python/agents.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { python } from '../python.js';

export interface ApiServer {
  readonly url: string;
  /** The response to a request. The method is GET by default, or POST with a body. */
  ask(path: string, given?: { method?: string; body?: unknown }): Promise<ApiAnswer>;
  end(): Promise<void>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

const AGENTS = fileURLToPath(new URL('../python/agents', import.meta.url));

/**
 * @param url of the database, as SQLAlchemy has it: with the driver, or the server takes another service
 * @param origin whose pages may send requests
 * @param agents the folder with the agents
 * @param port default: one that is free
 */
export async function startApiServer(
  url: string,
  origin?: string,
  agents = AGENTS,
  port = 0,
): Promise<ApiServer> {
  const child = spawn(
    join(dirname(python), 'adk'),
    [
      ...['api_server', '--host', '127.0.0.1', '--port', String(port), '--log_level', 'error'],
      ...['--session_service_uri', url],
      ...(origin === undefined ? [] : ['--allow_origins', origin]),
      ...['--artifact_service_uri', 'memory://', '--memory_service_uri', 'memory://', agents],
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  const opened = await portOf(child);
  const ask: ApiServer['ask'] = async (path, { body, method = body ? 'POST' : 'GET' } = {}) => {
    const response = await fetch(`http://127.0.0.1:${opened}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    url: `http://127.0.0.1:${opened}`,
    ask,
    async end() {
      if (child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The port that the system has assigned: the server prints it when it is ready. */
function portOf(child: ChildProcess): Promise<number> {
  let said = '';
  const limit = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const answer = new Promise<number>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, port] = /running on http:\/\/[\d.]+:(\d+) /.exec(said) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`adk api_server does not start: ${said}`)));
  });
  return answer.finally(() => clearTimeout(limit));
}
