// Tests of conversations in realms whose prototypes are poisoned.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { DEPENDENCY_NAMES } from './dependency_names.js';

export const POISONS = {
  data: 'members of Object.prototype',
  setter: 'setters of Object.prototype',
  array: 'members of Array.prototype',
  frozen: 'prototypes that are frozen',
  frozenBefore: 'prototypes that were frozen before the package was loaded',
};
export type Poison = keyof typeof POISONS;

const [onlyTarget] = (process.env.ATTACK ?? '').split(':');

/** @param run runs the conversation in a poisoned realm, and returns the failures */
export function withstands(
  over: string,
  poison: Poison,
  names: readonly string[],
  run: (names: readonly string[]) => Promise<string[]>,
): void {
  if (onlyTarget && onlyTarget !== 'poison') return;
  it(`a service over ${over} withstands ${POISONS[poison]}`, async () => {
    const excluded = DEPENDENCY_NAMES[over]?.[poison] ?? [];
    const tested = names.filter((name) => !excluded.includes(name));
    assert.deepEqual(await run(poison.startsWith('frozen') ? ['price'] : tested), []);
  });
}

/** Runs the conversation in a new thread. @returns the failures */
export async function inThread(workerData: {
  readonly storage: string;
  readonly poison: Poison;
  readonly names: readonly string[];
  /** The address of a server. */
  readonly url?: string;
  /** The source of an adapter. */
  readonly adapter?: string;
  /** Whether the realm is poisoned before the service opens, and not only while it is used. */
  readonly isReopened?: boolean;
}): Promise<string[]> {
  const worker = new Worker(new URL('worker.mjs', import.meta.url), { workerData, execArgv: [] });
  try {
    const [failures] = (await once(worker, 'message')) as [string[]];
    return failures;
  } finally {
    await worker.terminate();
  }
}
