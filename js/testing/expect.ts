/** Compares results with expected values, and reports the first difference. Counterpart of `expect.rs`. */
import type { Found } from '../core/storage/rows.js';
import { messageOf } from '../values/errors/describe.js';
import { isPlainObject, type JsonObject } from '../values/json/rules.js';

/** Compares `null` or a session. Only the expected members are compared. */
export function expectSession(expected: unknown, actual: unknown, at = ''): void {
  if (!isPlainObject(expected) || !isPlainObject(actual)) {
    expectEqual(at, expected, actual ?? null);
    return;
  }
  const events = listOf(actual.events);
  for (const [part, value] of Object.entries(expected)) {
    const place = `${at}.${part}`;
    if (part === 'events') {
      compareIds(place, listOf(value), events);
      listOf(value).forEach((parts, number) => {
        if (isPlainObject(parts))
          compareParts(`${place}[${number}]`, parts, events[number] as JsonObject);
      });
    } else if (part === 'eventSet') {
      const ids = events.map((event) => (event as JsonObject).id as string);
      expectEqual(place, [...(value as string[])].sort(), ids.sort());
    } else if (part === 'keys') {
      const keys = value as string[];
      const named = Object.keys(actual.state as JsonObject).filter((key) => keys.includes(key));
      expectEqual(place, keys, named);
    } else if (part === 'state' || (part === 'labels' && value !== null)) {
      expectState(value, actual[part], place);
    } else {
      expectEqual(place, value, actual[part] ?? null);
    }
  }
}

/** Compares a page of sessions. Only the expected members are compared. */
export function expectPage(expected: unknown, actual: unknown): void {
  if (!isPlainObject(expected) || !isPlainObject(actual)) {
    expectEqual('', expected, actual);
    return;
  }
  for (const [part, value] of Object.entries(expected)) {
    if (part !== 'sessions') {
      expectEqual(`.${part}`, value, actual[part]);
      continue;
    }
    const sessions = listOf(actual.sessions);
    compareIds('.sessions', listOf(value), sessions);
    listOf(value).forEach((parts, number) => {
      if (isPlainObject(parts)) expectSession(parts, sessions[number], `.sessions[${number}]`);
    });
  }
}

/** Compares a state exactly, with its keys in any order. */
export function expectState(expected: unknown, actual: unknown, at = 'the state'): void {
  if (!isPlainObject(expected) || !isPlainObject(actual)) {
    expectEqual(at, expected, actual);
    return;
  }
  for (const [key, value] of Object.entries(expected)) {
    if (!Object.hasOwn(actual, key)) {
      throw new Error(`${at} has no key ${JSON.stringify(key)}, but should`);
    }
    expectEqual(`${at}[${JSON.stringify(key)}]`, value, actual[key]);
  }
  for (const key of Object.keys(actual)) {
    if (!Object.hasOwn(expected, key)) {
      throw new Error(`${at} has the key ${JSON.stringify(key)}, but should not`);
    }
  }
}

function compareParts(at: string, expected: JsonObject, actual: JsonObject): void {
  for (const [part, value] of Object.entries(expected))
    expectEqual(`${at}.${part}`, value, actual[part]);
}

/** Compares the ids of a list and their order. An item that is expected without an id matches any id. */
function compareIds(at: string, expected: readonly unknown[], actual: readonly unknown[]): void {
  const ids = actual.map((thing) => (thing as JsonObject).id);
  const expectedIds = expected.map((thing, number) =>
    isPlainObject(thing) ? (thing.id ?? ids[number] ?? '(any)') : thing,
  );
  expectEqual(at, expectedIds, ids);
}

/** Compares values as JSON text: the order of members matters. */
export function expectEqual(at: string, expected: unknown, actual: unknown): void {
  const [should, is] = [expected, actual].map((value) => JSON.stringify(value) ?? 'undefined');
  if (should === is) return;
  throw new Error(`${at || 'the answer'} is ${short(is)}, but should be ${short(should)}`);
}

/** Expects of rows that they lack these. */
export function expectAbsent(rows: object, ...names: (keyof Found)[]): void {
  for (const name of names) {
    expectEqual(name, undefined, (rows as Partial<Found>)[name] ?? undefined);
  }
}

export function expectFloor(found: Pick<Found, 'floor'>, atLeast: number): void {
  if (found.floor >= atLeast) return;
  throw new Error(`floor is ${found.floor}, but revision ${atLeast} was deleted`);
}

/** Expects a verb to reject with an error that names what it does not know. */
export async function expectUnknown(verb: string, name: string, work: Promise<unknown>) {
  const message = await work.then(() => 'success', messageOf);
  if (message.includes(name)) return;
  throw new Error(`${verb} ended with ${message}, but should reject and name '${name}'`);
}

function short(text = ''): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
