/**
 * Refuses unknown members of options and requests. A misspelt member would otherwise be ignored, and its
 * absence noticed only after a loss.
 */
import { invalid } from '../errors/invalid.js';
import type { SessionError } from '../errors/errors.js';
import { readMembers, requireOptions, requireRequest } from './call.js';
import { requireSignal } from '../errors/option_values.js';

/** The names of the members of options or of a request. The type makes the list complete. */
export type KnownOptions<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Returns the own members of options. Options must be an object with known members only. An option
 * that is `undefined` counts as absent. A `signal` must be an `AbortSignal`.
 *
 * @param owner the member that holds the options, with a dot; for the `key` of the error
 * @throws SessionError `invalid_argument` with the unknown or wrong option as `key`
 */
export function takeOptions<Options extends object>(
  options: Options,
  known: Readonly<Record<string, true>>,
  owner = '',
): Options {
  requireOptions(options);
  return takeKnown(options, known, owner);
}

/** Returns the own members of a request, by the rule of {@link takeOptions}. */
export function takeRequest<Request extends object>(
  request: Request,
  known: Readonly<Record<string, true>>,
): Request {
  requireRequest(request);
  return takeKnown(request, known, '');
}

function takeKnown<Given extends object>(
  given: Given,
  known: Readonly<Record<string, true>>,
  owner: string,
): Given {
  const taken = readMembers(given);
  for (const name of Object.keys(taken)) {
    if (Object.hasOwn(known, name) || taken[name as keyof Given] === undefined) continue;
    throw unknownMember(name, Object.keys(known), owner);
  }
  const { signal } = taken as { readonly signal?: unknown };
  requireSignal(`${owner}signal`, signal);
  return taken;
}

/** Returns the error for a member that is not one of the names. */
export function unknownMember(name: string, names: readonly string[], owner = ''): SessionError {
  const near = nearest(name, names);
  const question = near === undefined ? '' : ` Did you mean ${near}?`;
  const known = names.length === 0 ? 'none' : names.join(', ');
  return invalid(owner + name, `is unknown here.${question} Known are ${known}`);
}

/** Returns only the known options, for a service that takes fewer options than its caller. */
export function knownOf<Options extends object>(
  options: object,
  known: KnownOptions<Options>,
): Options {
  const names = Object.entries(options).filter(([name]) => Object.hasOwn(known, name));
  return Object.fromEntries(names) as Options;
}

/** The longest name that is compared with others. */
const LONGEST = 64;

/** Returns the known name with the fewest edits: at most two, or a third of a long name. */
function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > LONGEST) return undefined;
  let fewest = Math.min(Math.max(2, name.length / 3), name.length / 2);
  let near: string | undefined;
  for (const known of names) {
    const count = edits(name.toLowerCase(), known.toLowerCase());
    if (count > fewest || (count === fewest && near !== undefined)) continue;
    fewest = count;
    near = known;
  }
  return near;
}

/** Returns the Levenshtein distance: the letters to insert, delete or replace. */
function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 0; i < one.length; i += 1) {
    let last = i + 1;
    const next = [last];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = (row[j] ?? 0) + (one[i] === other[j] ? 0 : 1);
      last = Math.min(last + 1, (row[j + 1] ?? 0) + 1, replaced);
      next.push(last);
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
