/**
 * Refuses unknown options. A misspelt option would otherwise be ignored, and its absence noticed
 * only after a loss.
 */
import { ownMembers } from '../members/own.js';
import { invalid } from '../errors/invalid.js';
import { requireOptions } from './call.js';

/** The names of the options of one kind. The type makes the list complete. */
export type KnownOptions<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Returns the own members of options. Options must be an object with known members only. An option
 * that is `undefined` counts as absent.
 *
 * @param owner the member that holds the options, with a dot; for the `key` of the error
 * @throws SessionError `invalid_argument` with the unknown option as `key`
 */
export function takeOptions<Options extends object>(
  options: Options,
  known: Readonly<Record<string, true>>,
  owner = '',
): Options {
  requireOptions(options);
  const taken = ownMembers(options);
  for (const [name, value] of Object.entries(taken)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const names = Object.keys(known).join(', ');
    throw invalid(owner + name, `is not an option here; the options are ${names}`);
  }
  return taken;
}

/** Returns only the known options, for a service that takes fewer options than its caller. */
export function knownOf<Options extends object>(
  options: object,
  known: KnownOptions<Options>,
): Options {
  const names = Object.entries(options).filter(([name]) => Object.hasOwn(known, name));
  return ownMembers(Object.fromEntries(names)) as Options;
}
