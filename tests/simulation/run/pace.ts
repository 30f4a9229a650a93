/** Decides when a request goes on that has come to the boundary, and when time passes. */
export interface Pace {
  /** Resolves when it is the request's turn. */
  turn(): Promise<void>;
  /**
   * Lets one thing go on.
   *
   * @param idle how many calls in a row have found nothing
   * @returns `false` if there was nothing
   */
  next(idle: number): Promise<boolean>;
  /** How many calls of `next` in a row may find nothing, before all that waits is given up. */
  readonly patience: number;
  /** Whether a request waits for its turn. */
  readonly isBusy: boolean;
}

/**
 * Lets things go on until `isDone`.
 *
 * @throws Error if nothing goes on any more
 */
export async function until(pace: Pace, isDone: () => boolean): Promise<void> {
  for (let idle = 0; !isDone();) {
    idle = (await pace.next(idle)) ? 0 : idle + 1;
    if (idle > pace.patience && !isDone()) throw new Stuck();
  }
}

/** Nothing goes on any more, and something still waits. */
export class Stuck extends Error {
  override readonly message = 'nothing goes on any more';
}
