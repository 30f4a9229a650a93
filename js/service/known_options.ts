/**
 * Options that a service does not know are refused: one that is misspelt would else be passed over, and
 * what it was to switch on be missed only after a loss.
 */
import { ownMembers } from '../members/own.js';
import { invalid, requireOptions } from '../call/call.js';
import type { SessionServiceOptions } from './service_options.js';

/** The names of the options of one kind: `satisfies KnownOptions<…>` keeps the list complete. */
export type KnownOptions<Options> = Readonly<Record<keyof Options, true>>;

/** What every service takes. */
export const SERVICE_OPTIONS: KnownOptions<SessionServiceOptions> = {
  stale: true,
  history: true,
  stateSchema: true,
  clock: true,
  newId: true,
  stateWriter: true,
};

/**
 * Takes the own members of options, which must be an object and hold nothing but options that are known. An
 * option that is `undefined` counts as absent.
 *
 * @throws SessionError `invalid_argument` with the unknown option as `key`
 */
export function takeOptions<Options extends object>(
  options: Options,
  known: Readonly<Record<string, true>>,
): Options {
  requireOptions(options);
  const taken = ownMembers(options);
  for (const [name, value] of Object.entries(taken)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    throw invalid(name, `is not an option here; the options are ${Object.keys(known).join(', ')}`);
  }
  return taken;
}

/** Those of the options that are known, for a service that takes fewer than its caller may be given. */
export function knownOf<Options extends object>(
  options: object,
  known: KnownOptions<Options>,
): Options {
  const names = Object.entries(options).filter(([name]) => Object.hasOwn(known, name));
  return ownMembers(Object.fromEntries(names)) as Options;
}
