// Servers in processes of their own, which may be killed.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { LOADER } from '../../../loader.js';
import type { AgentServerOptions } from './agent_server.js';

/** A server that has told its port. */
export interface ServerProcess {
  readonly port: number;
  readonly origin: string;
  readonly child: ChildProcess;
  /** Resolves when the process has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a program that sends its port to its parent. */
export async function startServer(program: string, ...args: string[]): Promise<ServerProcess> {
  const child = fork(fileURLToPath(program), args, { execArgv: LOADER });
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
  const ended = exit.then(([code, signal]) => ({ code, signal }));
  const told = await Promise.race([once(child, 'message') as Promise<[number]>, ended]);
  if (!Array.isArray(told)) throw new Error(`the server ended: ${JSON.stringify(told)}`);
  return {
    port: told[0],
    origin: `http://127.0.0.1:${told[0]}`,
    child,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The runs of servers, as they have noted them. A killed server has noted all of its own. */
export class RunLog {
  readonly #folder = mkdtempSync(join(tmpdir(), 'runs-'));
  readonly path = join(this.#folder, 'log');

  constructor() {
    writeFileSync(this.path, '');
  }

  /** How often an agent was given a message: before it was stored. */
  begun(text: string): number {
    return this.#count(`begun ${text}`);
  }

  /** How often a model was asked a message for the first time: after it was stored. */
  runs(text: string): number {
    return this.#count(`run ${text}`);
  }

  /** The calls of the model: the invocation, and the last part of what it was asked. */
  get modelCalls(): readonly (readonly [invocationId: string, asked: unknown])[] {
    const lines = readFileSync(this.path, 'utf8').split('\n');
    const calls = lines.filter((line) => line.startsWith('model '));
    return calls.map((line) => JSON.parse(line.slice('model '.length)) as [string, unknown]);
  }

  /** The URL of a database in the folder of the log. */
  get sqliteUrl(): string {
    return `sqlite:${join(this.#folder, 'sessions.db')}`;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #count(line: string): number {
    const lines = readFileSync(this.path, 'utf8').split('\n');
    return lines.filter((each) => each === line).length;
  }
}

/** Starts a server with an agent. */
export function startAgentServer(options: AgentServerOptions): Promise<ServerProcess> {
  return startServer(import.meta.resolve('./agent_server.js'), JSON.stringify(options));
}
