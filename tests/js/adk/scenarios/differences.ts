import type { Difference, Scenario } from './scenario.js';

/** A difference that was found: of its reason nothing is known. */
export type Found = Omit<Difference, 'why'>;

/** Where two JSON values differ, in the order of their members; the deepest places that do. */
export function differences(ours: unknown, theirs: unknown, path = ''): Found[] {
  if (!isObject(ours) || !isObject(theirs) || Array.isArray(ours) !== Array.isArray(theirs)) {
    return ours === theirs ? [] : [{ path, ours, theirs }];
  }
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) =>
    differences(member(ours, name), member(theirs, name), path === '' ? name : `${path}.${name}`),
  );
}

/** Those that a scenario names, to compare with {@link differences}. */
export function expectedDifferences({ differs = [] }: Scenario): Found[] {
  return differs.map(({ path, ours, theirs }) => ({ path, ours, theirs }));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function member(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
