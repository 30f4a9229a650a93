/**
 * The state that an agent sees: one map of all scopes. The prefix of a key gives its scope.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, type StateShape } from 'adk-session-wasm';
 *
 * type Shop = StateShape & { topic: string; 'user:name': string };
 * const service = new InMemorySessionService<Shop>();
 * ```
 */
export type StateShape = Record<string, unknown>;
