/** The most reads that do without the order, before the server is asked for it again. */
const MOST_SKIPPED = 64;

/**
 * Whether the server is asked to list events from the newest on. One that refused may have refused something
 * else, so it is asked again: after the second refusal in a row one read later, then after 2, 4, 8 reads.
 */
export class NewestFirst {
  #refusals = 0;
  #toSkip = 0;

  isAsked(): boolean {
    if (this.#toSkip === 0) return true;
    this.#toSkip -= 1;
    return false;
  }

  succeeded(): void {
    this.#refusals = 0;
  }

  /** The server lists the same events in its own order alone. */
  failed(): void {
    this.#toSkip = Math.min(MOST_SKIPPED, Math.floor(2 ** (this.#refusals - 1)));
    this.#refusals += 1;
  }
}
