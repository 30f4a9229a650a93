// Programs that work with a database of a test, and may be killed.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { LOADER } from '../../../loader.js';

/** Starts a program of the folder `programs`. */
export function startProgram(
  name: 'burst' | 'counts' | 'creations' | 'deletions' | 'searches',
  ...args: string[]
) {
  const path = fileURLToPath(import.meta.resolve(`../programs/${name}.js`));
  return spawn(process.execPath, [...LOADER, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

type Program = ReturnType<typeof startProgram>;

/** Returns the lines that a program prints until it ends. */
export async function linesOf(
  program: Program,
  onLine: (line: string, lines: string[]) => void = () => undefined,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: program.stdout })) {
    lines.push(line);
    onLine(line, lines);
  }
  return lines;
}

/**
 * Starts creations.ts, and kills it in the middle of a creation.
 *
 * @returns the ids of the sessions that it acknowledged
 */
export async function killCreations(url: string, name: string, count: number, delay: number) {
  const program = startProgram('creations', url, name, `${count}`);
  const isId = (line: string) => line !== 'begins';
  const lines = await linesOf(program, (line, lines) => {
    if (isId(line) || lines.filter(isId).length !== 2) return;
    setTimeout(() => program.kill('SIGKILL'), delay);
  });
  return lines.filter(isId);
}

/**
 * Starts deletions.ts, and kills it after its first deletions.
 *
 * @returns the ids of the sessions that it deleted
 */
export function killDeletions(url: string, delay: number): Promise<string[]> {
  const program = startProgram('deletions', url);
  return linesOf(program, (_, { length }) => {
    if (length === 2) setTimeout(() => program.kill('SIGKILL'), delay);
  });
}
