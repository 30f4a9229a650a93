/** Values for the tests of `js/values/json`. */
import fc from 'fast-check';

/** Any JSON value, with keys such as `__proto__` and `toString`. */
export const jsonValue = fc.jsonValue({ depthSize: 'medium' }).map((value) => value as unknown);

/** Things that need a rule, among values that need none. No cycles. */
export const oddValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constantFrom<unknown>(undefined, null, true, -0, NaN, Infinity, 'a', 7.25, 1e300),
      fc.string({ unit: 'binary' }),
      fc.constant(Symbol('s')),
      fc.constant(() => 1),
      fc.constantFrom<unknown>(
        new Date(0),
        new Map([[1, 2]]),
        new Set([1]),
        new Uint8Array([1, 2]),
        new Number(3),
        new String('s\ud800'),
        new Boolean(false),
        Object.assign(new (class Point {})(), { x: 1 }),
        { toJSON: (key: string) => `key ${key}` },
        { toJSON: () => undefined },
        Object.assign(() => 1, { toJSON: () => [1, undefined] }),
        new Array(3),
        Object.create(null),
        Object.create({ inherited: 1 }),
        Object.defineProperty({}, 'hidden', { value: 1 }),
        JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
        { [Symbol('key')]: 1 },
      ),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string({ maxLength: 3 }), fc.constant('__proto__')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
  ),
})).value;

/** `levels` arrays, each within the one before. */
export function nested(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

/** Forty objects, each twice within the next: printed, a trillion of them. */
export function explosive(): object {
  let value: object = {};
  for (let level = 0; level < 40; level++) value = { a: value, b: value };
  return value;
}

/** A proxy whose traps all throw. */
export function revokedProxy(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}
