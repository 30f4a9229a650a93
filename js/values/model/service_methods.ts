import type { SessionService } from './session_service.js';

/** The name of a method of a service. */
export type MethodName = Exclude<keyof SessionService, 'storage' | symbol>;

/** What else than its own code depends on a method. */
interface MethodUse {
  /** Whether it returns a promise. Otherwise it returns an iterator or a value. */
  readonly isAsync: boolean;
  /** Whether a diagnostic reports its calls. A method that calls others does not: they report themselves. */
  readonly isReported: boolean;
  /** Whether `authorize` is asked about it. The others lead to requests that have the name of another method. */
  readonly isAction: boolean;
}

const CALL = { isAsync: true, isReported: true, isAction: true } as const;
const WITHOUT_ACTION = { ...CALL, isAction: false } as const;
const COMPOSED = { isAsync: true, isReported: false, isAction: false } as const;
const AT_ONCE = { isAsync: false, isReported: false, isAction: false } as const;

/**
 * All methods of a service. The wrappers for `@google/adk` forward them, diagnostics name them, and `authorize` is
 * asked about them.
 */
export const SERVICE_METHODS = {
  createSession: CALL,
  getSession: CALL,
  getOrCreateSession: CALL,
  listSessions: CALL,
  sessions: AT_ONCE,
  listEvents: CALL,
  events: AT_ONCE,
  loadOlder: WITHOUT_ACTION,
  getEvents: WITHOUT_ACTION,
  listChanges: WITHOUT_ACTION,
  deleteSession: CALL,
  deleteSessions: CALL,
  appendEvent: WITHOUT_ACTION,
  appendEvents: CALL,
  updateSession: CALL,
  sessionInfo: CALL,
  updateState: CALL,
  getUserState: CALL,
  getAppState: CALL,
  deleteUser: CALL,
  deleteUserState: CALL,
  deleteAppState: CALL,
  watch: { ...AT_ONCE, isAction: true },
  revisionOf: AT_ONCE,
  ping: WITHOUT_ACTION,
  close: COMPOSED,
} as const satisfies Record<MethodName, MethodUse>;

/** The methods with a use. */
export type MethodsWith<Use extends keyof MethodUse> = {
  [Name in MethodName]: (typeof SERVICE_METHODS)[Name][Use] extends true ? Name : never;
}[MethodName];
