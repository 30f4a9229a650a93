import type { Difference, Scenario } from './scenario.js';

/** By path. */
export type Differences = Record<string, { ours: unknown; theirs: unknown }>;

/** Returns the deepest differences of two JSON values. `undefined` stands for a missing value. */
export function differences(ours: unknown, theirs: unknown): Differences {
  return Object.fromEntries(find(ours, theirs, '').map(([path, found]) => [path, found]));
}

/** Those that a scenario names, to compare with what {@link differences} finds. */
export function expectedDifferences({ differs = [] }: Scenario): Differences {
  return Object.fromEntries(differs.map(({ path, ours, theirs }) => [path, { ours, theirs }]));
}

/** For a scenario that gives one value on our service and another on theirs. */
export function whatItSaw(ours: unknown, theirs: unknown, why: string): Difference[] {
  return find(ours, theirs, 'saw').map(([path, found]) => ({ path, ...found, why }));
}

function find(ours: unknown, theirs: unknown, path: string): [string, Differences[string]][] {
  if (!isObject(ours) || !isObject(theirs) || Array.isArray(ours) !== Array.isArray(theirs)) {
    return ours === theirs ? [] : [[path, { ours, theirs }]];
  }
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) =>
    find(member(ours, name), member(theirs, name), path === '' ? name : `${path}.${name}`),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function member(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
