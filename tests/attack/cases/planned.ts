// Parts of a case that are made again at each use, because an attack changes objects in place.

import fc from 'fast-check';

/**
 * Functions that make a value from a generated plan. A report shows the plan.
 *
 * @param name is shown before the plan
 */
export function planned<P, A extends unknown[], T>(
  name: string,
  plan: fc.Arbitrary<P>,
  make: (plan: P, ...given: A) => T,
): fc.Arbitrary<(...given: A) => T> {
  return plan.map((plan) => {
    const text = { [fc.toStringMethod]: () => name + fc.stringify(plan) };
    return Object.assign((...given: A) => make(plan, ...given), text);
  });
}

/** A value once in `times` on average, otherwise `undefined`. */
export function sometimes<T>(times: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: times - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: value },
  );
}

/** One of the values, each made again at each use. */
export function freshFrom(make: () => readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.nat(make().length - 1).map((index) => make()[index]);
}
