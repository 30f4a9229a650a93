import type { Calls } from '../../core/call/calls.js';
import { isThenable } from '../../values/members.js';
import { invalid } from '../../values/errors/invalid.js';
import { kindOf } from '../../values/errors/describe.js';
import type { Compute, Computed } from '../../core/write.js';

/**
 * Runs a caller's function, which computes a delta, within a write.
 *
 * The core calls {@link Computation.run} while it decides the write. An exception there would pass for a
 * fault of the wasm, so the error of the function is kept until the write has ended.
 */
export class Computation {
  readonly #compute: (state: unknown) => unknown;
  readonly #take: (delta: unknown) => Computed;
  readonly #calls: Pick<Calls, 'isComputing'>;
  /** The caller may throw anything; a rejection takes it as it is. */
  #failure: { readonly error: Error } | undefined;
  #isChange = false;

  private constructor(
    compute: (state: unknown) => unknown,
    take: (delta: unknown) => Computed,
    calls: Pick<Calls, 'isComputing'>,
  ) {
    this.#compute = compute;
    this.#take = take;
    this.#calls = calls;
  }

  /**
   * @param stateDelta of a request; a computation if it is a function
   * @param take checks a delta
   * @param calls of the service that writes: it refuses calls while the function runs
   */
  static of(
    stateDelta: unknown,
    take: (delta: unknown) => Computed,
    calls: Pick<Calls, 'isComputing'>,
  ): Computation | undefined {
    if (typeof stateDelta !== 'function') return undefined;
    return new Computation(stateDelta as (state: unknown) => unknown, take, calls);
  }

  readonly run: Compute = (state) => {
    this.#failure = undefined;
    this.#calls.isComputing = true;
    try {
      const compute = this.#compute;
      const computed = this.#take(requireDelta(compute(JSON.parse(state))));
      this.#isChange = computed.delta !== '{}';
      return computed;
    } catch (error) {
      this.#failure = { error: error as Error };
      return { delta: '{}' };
    } finally {
      this.#calls.isComputing = false;
    }
  };

  /**
   * Ends the write.
   *
   * @param publish called if the function changed something
   * @throws (as a rejection) what the function threw
   */
  finish(publish: () => void): Promise<never> | void {
    // Not a throw: a service converts what is thrown at its call.
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (this.#isChange) publish();
  }
}

function requireDelta(delta: unknown): unknown {
  const isObject = typeof delta === 'object' && delta !== null;
  if (isObject && !isThenable(delta)) return delta;
  // The error below says enough. A rejection that nobody handles would end the program.
  if (isObject) void Promise.resolve(delta).catch(() => undefined);
  throw invalid(
    'stateDelta',
    `must return an object and no promise, since it runs within a transaction; it returned ${kindOf(delta)}`,
  );
}
