// Web Locks for the tests of Node 20, which has none: those that tabs of one page would have.

interface Held {
  readonly name: string;
  readonly mode: LockMode;
  readonly reject: (error: unknown) => void;
}

interface Waiting extends Held {
  readonly run: () => void;
}

/** The members of a `LockManager` that `TabLock` uses. */
export class FakeLocks {
  readonly #held = new Set<Held>();
  readonly #waiting: Waiting[] = [];

  async request<T>(
    name: string,
    ...given: [LockOptions, () => Promise<T>] | [() => Promise<T>]
  ): Promise<T> {
    const work = given.at(-1) as () => Promise<T>;
    const options: LockOptions = given.length > 1 ? (given[0] as LockOptions) : {};
    const { mode = 'exclusive', steal = false, signal } = options;
    if (steal) this.#steal(name);
    return new Promise<T>((resolve, reject) => {
      const end = (): void => {
        this.#held.delete(held);
        this.#grant();
      };
      const run = (): void => {
        void Promise.resolve().then(work).then(resolve, reject).finally(end);
      };
      const held: Waiting = { name, mode, reject, run };
      signal?.addEventListener('abort', () => {
        const at = this.#waiting.indexOf(held);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        reject(new DOMException('It was aborted.', 'AbortError'));
      });
      this.#waiting.push(held);
      this.#grant();
    });
  }

  query(): Promise<{ held: { name: string; mode: LockMode }[] }> {
    return Promise.resolve({ held: [...this.#held].map(({ name, mode }) => ({ name, mode })) });
  }

  #steal(name: string): void {
    for (const held of this.#held) {
      if (held.name !== name) continue;
      this.#held.delete(held);
      held.reject(new DOMException('The lock was stolen.', 'AbortError'));
    }
  }

  #grant(): void {
    for (const next of [...this.#waiting]) {
      const others = [...this.#held].filter(({ name }) => name === next.name);
      const isFree = others.every(({ mode }) => mode === 'shared' && next.mode === 'shared');
      if (!isFree) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#held.add(next);
      next.run();
    }
  }
}
