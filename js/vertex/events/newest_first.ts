/** Maximum number of reads without the order before it is tried again. */
const MAX_SKIPPED_READS = 64;

/**
 * Decides whether to ask the server for the newest events first. A refusal may have had another cause, so the
 * order is tried again. After refusals in a row it is skipped for 0, 1, 2, 4, 8, … reads.
 */
export class NewestFirstSupport {
  #refusals = 0;
  #readsToSkip = 0;

  /** Returns whether this read asks for the order, and counts a skipped one. */
  shouldTry(): boolean {
    if (this.#readsToSkip === 0) return true;
    this.#readsToSkip -= 1;
    return false;
  }

  recordSuccess(): void {
    this.#refusals = 0;
  }

  /** Records a refusal. Call it only if the same list without the order succeeded. */
  recordRefusal(): void {
    this.#readsToSkip = Math.min(MAX_SKIPPED_READS, Math.floor(2 ** (this.#refusals - 1)));
    this.#refusals += 1;
  }
}
