/**
 * A turn that was edited or regenerated, as the transcript shows it: one of several versions.
 *
 * @example
 * ```ts
 * import type { ShownTurn } from 'adk-session-wasm/live';
 *
 * const label = ({ index, count }: ShownTurn): string => `${index + 1}/${count}`;
 * ```
 */
export interface ShownTurn {
  /** Which version is shown, from 0 on. */
  readonly index: number;
  /** How many versions there are; at least 2. */
  readonly count: number;
  /** The branch of the version before, for `switchBranch`. Absent for the first one. */
  readonly previous?: string | undefined;
  /** The branch of the version after, for `switchBranch`. Absent for the last one. */
  readonly next?: string | undefined;
}

/** Turns with several versions, by `invocationId`. */
export type ShownTurns = Readonly<Record<string, ShownTurn>>;
