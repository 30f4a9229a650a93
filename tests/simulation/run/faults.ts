import type { Random } from './random.js';

/** A fault of a boundary: its name, and whether a call may fail by it. */
export type FaultKinds = Readonly<Record<string, { readonly fails: boolean }>>;

/** Decides for every request at the boundary whether a fault happens, and which. */
export class Faults<K extends string = string> {
  readonly #random: Random;
  readonly #kinds: Readonly<Record<K, { readonly fails: boolean }>>;
  /** The faults that this seed uses: a few together find more defects than all. */
  readonly #enabled: readonly K[];
  readonly #rate: number;
  readonly #counts = new Map<number, number>();
  readonly #note: (text: string) => void;
  isOn = false;
  /** The number of each client's faults that still last. */
  readonly #lasting = new Map<number, number>();

  constructor(
    random: Random,
    kinds: Readonly<Record<K, { readonly fails: boolean }>>,
    note: (text: string) => void,
  ) {
    this.#random = random;
    this.#kinds = kinds;
    this.#note = note;
    const names = Object.keys(kinds) as K[];
    this.#enabled = random.isLikely(0.3) ? names : random.some(names, 0.4);
    this.#rate = random.pick([0, 0.03, 0.1, 0.2, 0.4]);
  }

  /** @param possible the faults that can happen at this request */
  at(client: number, request: string, possible: readonly K[]): K | undefined {
    // The seed's sequence must not depend on which faults are enabled.
    const isFault = this.#random.isLikely(this.#rate);
    if (!this.isOn || !isFault) return undefined;
    const kinds = possible.filter((kind) => this.#enabled.includes(kind));
    if (kinds.length === 0) return undefined;
    const kind = this.#random.pick(kinds);
    this.#note(`client ${client}: ${kind} at ${request}`);
    if (this.#kinds[kind].fails) this.#counts.set(client, this.countOf(client) + 1);
    return kind;
  }

  /** Makes a fault of the client last until `end`. Every call that the client begins until then may fail by it. */
  async lastUntil(client: number, end: Promise<unknown>): Promise<void> {
    const change = (by: number) => this.#lasting.set(client, (this.#lasting.get(client) ?? 0) + by);
    change(1);
    await end;
    change(-1);
  }

  /** Like {@link countOf}, without the faults that still last. */
  overOf(client: number): number {
    return this.countOf(client) - (this.#lasting.get(client) ?? 0);
  }

  /** The number of the client's faults by which a call may fail. */
  countOf(client: number): number {
    return this.#counts.get(client) ?? 0;
  }
}
