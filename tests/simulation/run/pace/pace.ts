/** Decides when a request at the boundary continues, and when time passes. */
export interface Pace {
  /** Resolves when the request may continue. */
  turn(): Promise<void>;
  /**
   * Lets one request or timer continue.
   *
   * @param idle the number of preceding calls that found nothing
   * @returns `false` if there was nothing
   */
  next(idle: number): Promise<boolean>;
  /** The maximum number of calls of `next` in a row that may find nothing. Then pending calls count as stuck. */
  readonly patience: number;
  /** Whether a request waits for its turn. */
  readonly isBusy: boolean;
}

/**
 * Lets requests and timers continue until `isDone`.
 *
 * @throws StuckError if nothing continues
 */
export async function until(pace: Pace, isDone: () => boolean): Promise<void> {
  for (let idle = 0; !isDone();) {
    idle = (await pace.next(idle)) ? 0 : idle + 1;
    if (idle > pace.patience && !isDone()) throw new StuckError();
  }
}

/** Nothing continues, although something still waits. */
export class StuckError extends Error {
  override readonly message = 'no request and no timer is left, but a call is pending';
}
