// Files whose operations are steps: a seed decides which of those that wait is next, whatever program waits for it.

import { createHash } from 'node:crypto';
import files from 'node:fs';

import { type Node, nodeModules } from '../../../js/stores/artifacts/node_files.js';
import type { Random } from '../run/random.js';

/** Runs one operation at a time, in an order that the seed decides. */
export class Steps {
  count = 0;
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(random: Random) {
    this.#random = random;
  }

  run<T>(operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(operation());
        } catch (error) {
          reject(error);
        }
      });
      void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (;;) {
      // All that can go on by itself does.
      for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
      if (this.#waiting.length === 0) break;
      const [operation] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1);
      this.count += 1;
      operation!();
    }
    this.#isRunning = false;
  }
}

/** A program that uses the files, until it is killed. */
export class Program {
  isKilled = false;
  readonly node: Node;
  readonly #steps: Steps;

  constructor(steps: Steps) {
    this.#steps = steps;
    const node = nodeModules();
    const members = {
      rm: (path: string, options: object) => this.#remove(path, options),
      open: async (path: string, flags: string) => {
        const file = await this.#step(() => files.openSync(path, flags));
        return {
          writeFile: (bytes: Uint8Array) => this.#step(() => files.writeFileSync(file, bytes)),
          close: () => this.#step(() => files.closeSync(file)),
        };
      },
    };
    const fs = new Proxy(node.fs, {
      get: (_, name: string) => {
        if (Object.hasOwn(members, name)) return members[name as keyof typeof members];
        // Operations of the host end at a time of their own; these end within the step.
        const operation = files[`${name}Sync` as 'statSync'] as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => this.#step(() => operation(...values));
      },
    });
    this.node = { ...node, fs };
  }

  #step<T>(operation: () => T): Promise<T> {
    return this.#steps.run(() => {
      if (this.isKilled) throw new Error('the program was killed');
      return operation();
    });
  }

  /** Removes a folder as Node does: one operation for each entry, again if another program has stored one meanwhile. */
  async #remove(path: string, { maxRetries = 0 }: { maxRetries?: number }): Promise<void> {
    const { path: paths } = nodeModules();
    for (let attempt = 0; ; attempt += 1) {
      try {
        const stats = await this.#step(() => files.lstatSync(path));
        if (!stats.isDirectory()) return await this.#step(() => files.unlinkSync(path));
        for (const name of await this.#step(() => files.readdirSync(path))) {
          await this.#remove(paths.join(path, name), { maxRetries });
        }
        return await this.#step(() => files.rmdirSync(path));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') return;
        if (code !== 'ENOTEMPTY' || attempt === maxRetries) throw error;
      }
    }
  }
}

/** Makes digests in one task: those of the host end at a time of their own. @returns makes it the host's again */
export function digestAtOnce(): () => void {
  const { subtle } = crypto;
  const { digest } = subtle;
  subtle.digest = (_, data) => {
    const bytes = createHash('sha256')
      .update(new Uint8Array(data as ArrayBuffer))
      .digest();
    return Promise.resolve(new Uint8Array(bytes).buffer);
  };
  return () => void (subtle.digest = digest);
}
