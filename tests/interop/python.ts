// Runs Python with google-adk, as tests/toolchain/setup/setup.sh has installed it.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Event } from '../../js/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const python = process.env.ADK_PYTHON ?? join(root, 'target', 'python', 'bin', 'python');

/**
 * What a program of tests/interop/python prints, parsed line by line.
 *
 * @param lines its input, one JSON value a line
 */
export function linesOfPython(
  program: string,
  { args = [], lines = [] }: { args?: readonly string[]; lines?: readonly unknown[] } = {},
): unknown[] {
  const { status, stdout, stderr, error } = spawnSync(python, [fileOf(program), ...args], {
    input: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: 120_000,
  });
  assert.equal(error, undefined);
  assert.equal(status, 0, stderr);
  const printed = stdout.split('\n').filter((line) => line !== '');
  return printed.map((line): unknown => JSON.parse(line));
}

/** A program of tests/interop/python, or of another folder by its full path. It responds to each line with one line. */
export interface PythonProcess {
  /** The response as text, because its numbers may be more exact than JavaScript's. */
  ask(line: unknown): Promise<string>;
  /** Ends it; all that it has begun is done then. */
  end(): Promise<void>;
}

export function startPython(program: string, ...args: readonly string[]): PythonProcess {
  const child = spawn(python, [fileOf(program), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${JSON.stringify(line)}\n`);
      const answer = await answers.next();
      assert.ok(answer.done !== true, 'Python has ended');
      return answer.value;
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}

/** A session as google-adk's `model_dump` has it, or its refusal. */
export interface PythonSession {
  readonly id: string;
  readonly state: Record<string, unknown>;
  /** Times in seconds. */
  readonly events: readonly Event[];
  readonly lastUpdateTime: number;
  /** The marker by which Python detects changes of the session: its `update_time`. */
  readonly marker?: string;
  /** The name of the exception. */
  readonly error?: string;
}

/** google-adk's session services; see tests/interop/python/sessions.py. */
export interface PythonSessions {
  /** From now on it is for that database, by the URL that SQLAlchemy has for it, or for that server. */
  open(url: string): Promise<void>;
  ask(call: PythonCall, given: unknown): Promise<PythonSession>;
  list(given: unknown): Promise<PythonSession[]>;
  /** The same response as text. */
  askText(call: PythonCall, given: unknown): Promise<string>;
  end(): Promise<void>;
}

type PythonCall = 'create' | 'get' | 'append' | 'append all' | 'run' | 'delete';

export function startPythonSessions(): PythonSessions {
  const program = startPython('sessions.py');
  const askText: PythonSessions['askText'] = (call, given) => program.ask([call, given]);
  return {
    async open(url) {
      assert.equal(await program.ask(['open', url]), 'null');
    },
    ask: async (call, given) => JSON.parse(await askText(call, given)) as PythonSession,
    async list(given) {
      return JSON.parse(await program.ask(['list', given])) as PythonSession[];
    },
    askText,
    end: () => program.end(),
  };
}

function fileOf(program: string): string {
  return resolve(root, 'tests', 'interop', 'python', program);
}
