/** Maximum number of reads without the order before it is tried again. */
const MOST_SKIPPED = 64;

/**
 * Decides whether to ask the server for the newest events first. A refusal may have had another cause, so the
 * order is tried again. After refusals in a row it is skipped for 0, 1, 2, 4, 8, … reads.
 */
export class NewestFirst {
  #refusals = 0;
  #toSkip = 0;

  /** Returns whether this read asks for the order, and counts a skipped one. */
  isAsked(): boolean {
    if (this.#toSkip === 0) return true;
    this.#toSkip -= 1;
    return false;
  }

  succeeded(): void {
    this.#refusals = 0;
  }

  /** Records a refusal. Call it only if the same list without the order succeeded. */
  failed(): void {
    this.#toSkip = Math.min(MOST_SKIPPED, Math.floor(2 ** (this.#refusals - 1)));
    this.#refusals += 1;
  }
}
