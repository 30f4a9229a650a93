/**
 * Scenarios of the framework with a session service, as programs for any host.
 *
 * A scenario gets a session service and the framework's module, and returns its observations. It imports
 * nothing of Node, and only types of the framework. So it runs over any service, in any host, and on
 * any copy of `@google/adk`. To run all scenarios on another service:
 *
 * ```ts
 * import * as adk from '@google/adk';
 * import { observe } from './observe.js';
 * import { differences } from './differences.js';
 * import { scenarios } from './index.js';
 * import { slowService } from './slow_service.js';
 *
 * for (const scenario of scenarios) {
 *   const ours = await observe(scenario, adk, anEmptyServiceOfOurs());
 *   // For the package's service in memory: a plain `new adk.InMemorySessionService()`.
 *   const theirs = await observe(scenario, adk, slowService(adk));
 *   // deep equal: ours.saw and scenario.shows
 *   // deep equal: differences(ours, theirs) and expectedDifferences(scenario)
 * }
 * ```
 *
 * Each scenario needs an empty service (or database). The result of `observe` is plain JSON, so that a page or
 * worker can send it to a test. In a browser, `@google/adk` lacks the features of scenarios with
 * `needs: 'node'`: omit those.
 *
 * @module
 */
import type { CompositeSessionKey, Event } from '@google/adk';
import type { Stage } from './stage.js';

/** The module `@google/adk`, whichever copy. */
export type Framework = typeof import('@google/adk');

/** The session of a scenario that needs but one. */
export const key = { appName: 'app', userId: 'u', sessionId: 's' };

/** An intended difference from the framework's own service. */
export interface Difference {
  /** Into the {@link Observation}: `stored.0.state.user:name`. */
  readonly path: string;
  /** `undefined`: it is not there. */
  readonly ours: unknown;
  readonly theirs: unknown;
  readonly why: string;
}

export interface Scenario {
  /** A sentence about both services. */
  readonly name: string;
  /** Plays it on a service that holds nothing yet; gives JSON. */
  run(stage: Stage): Promise<unknown>;
  /** The result of {@link Scenario.run} over the package's services. */
  readonly shows: unknown;
  /** The sessions that are compared afterwards; {@link key} if none are named. */
  readonly sessions?: readonly CompositeSessionKey[];
  /** All of them: any other difference is a failure, and so is one of these that is not there. */
  readonly differs?: readonly Difference[];
  /** `'node'`: it runs on a part of the framework that its browser build leaves out, or gets wrong. */
  readonly needs?: 'node';
}

/** The texts of an event, joined. */
export function textOf({ content }: Event): string {
  return (content?.parts ?? []).map(({ text = '' }) => text).join('');
}

/** The outcome of a call: its value, or its error's `code` and `path`. */
export async function outcome(call: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> {
  try {
    return await (typeof call === 'function' ? call() : call);
  } catch (error) {
    const { code, path } = error as { code?: string; path?: string };
    if (code === undefined) throw error;
    return { code, ...(path !== undefined && { path }) };
  }
}
