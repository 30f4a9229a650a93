import type { HostRequest } from '../../values/model/host.js';
import type { MethodsWith } from '../../values/model/service_methods.js';
import { HttpRefusal } from '../http/responses.js';

/**
 * What a request wants to do: the method of the session service that it leads to, or one of the other words.
 * `'listArtifacts'` reads names and versions of files, `'loadArtifact'` their bytes. `'listApps'` tells the name of an
 * app of the option `apps`.
 * A search is decided on once as `'search'`, and for each session that has hits as `'getSession'`. A message
 * that the agent is to answer is decided on twice: as `'appendEvents'` or `'rewind'`, and as `'run'`. The cancelling of
 * a run is decided on as `'run'`.
 */
export type SessionAction =
  | MethodsWith<'isAction'>
  | 'rewind'
  | 'run'
  | 'search'
  | 'addSessionToMemory'
  | 'listArtifacts'
  | 'loadArtifact'
  | 'saveArtifact'
  | 'deleteArtifact'
  | 'listApps';

/** What a request wants to do, and with whose data. */
export interface SessionAccess {
  /** What the request wants to do. */
  readonly action: SessionAction;
  /** The app. */
  readonly appName: string;
  /** Absent: the request concerns all users of the app, or the app's own state. */
  readonly userId?: string | undefined;
  /** Absent: the request concerns all sessions of the user, or makes a session with a new id. */
  readonly sessionId?: string | undefined;
}

/**
 * What a request may do beyond reading and what a user may write: messages, answers to open calls, and the state of
 * its session. Each right is `false` unless it is `true`.
 *
 * | right | the request may also |
 * | --- | --- |
 * | `mayWriteAgentEvents` | write any event: those of agents, with calls, actions and all other fields; replace and delete files that no user has written |
 * | `mayWriteUserState` | change and delete `user:` state and `user:` files |
 * | `mayWriteAppState` | change and delete `app:` state |
 * | `maySeeCredentials` | see the secrets in requests for credentials, in answers to these, and in states |
 */
export interface Rights {
  /** Whether the request may write events and files that a user cannot make. For pages that run their agents themselves. */
  readonly mayWriteAgentEvents?: boolean | undefined;
  /** Whether the request may change `user:` state and files. */
  readonly mayWriteUserState?: boolean | undefined;
  /** Whether the request may change `app:` state. */
  readonly mayWriteAppState?: boolean | undefined;
  /** Whether the response shows secrets of credentials. */
  readonly maySeeCredentials?: boolean | undefined;
}

/**
 * The answer of {@link Authorize}:
 *
 * | answer | meaning |
 * | --- | --- |
 * | `true` | allowed, without further rights |
 * | {@link Rights} with at least one member | allowed, with these rights |
 * | `false`, or anything else | refused with status 403 |
 * | `'unauthenticated'` | refused with status 401: the request does not tell who sends it |
 * | `'forget'` | refused with status 410: a cache forgets what it has of its owner, also what is unsent |
 */
export type Permission = boolean | 'unauthenticated' | 'forget' | Rights;

/**
 * Decides whether a request is allowed. It is called before the request's body is read. Two cases differ: the bodies of
 * `/run` and `/run_sse` are read before, because they name the session. A fork is decided on twice: it reads its
 * session, and, when the body has been read, creates another one.
 *
 * If it throws, the request is answered with status 500, and `onError` gets the error.
 *
 * @example
 * ```ts
 * import type { Authorize } from 'adk-session-wasm/server';
 *
 * declare function userOf(request: Request): Promise<string | undefined>;
 *
 * const ownSessionsOnly: Authorize = async (request, { userId }) => {
 *   const user = await userOf(request);
 *   if (user === undefined) return 'unauthenticated';
 *   return userId === user;
 * };
 * ```
 */
export type Authorize = (
  request: HostRequest,
  access: SessionAccess,
) => Permission | Promise<Permission>;

/**
 * `authorize` threw the cause. That may be a `SessionError` of a service that `authorize` asked, whose code says
 * nothing about the request.
 */
export class AuthorizeFailure extends Error {
  constructor(cause: unknown) {
    super('authorize failed', { cause });
  }
}

/** The code of the order to forget, which `js/stores/cache` obeys. */
export const FORGET = 'forget';

/** All rights with their values. */
export type TakenRights = Readonly<Record<keyof Rights, boolean>>;

export const NO_RIGHTS: TakenRights = {
  mayWriteAgentEvents: false,
  mayWriteUserState: false,
  mayWriteAppState: false,
  maySeeCredentials: false,
};

/**
 * Asks `authorize`.
 *
 * @throws HttpRefusal if the request is refused; the refusal is the same whether the session exists or not
 * @throws AuthorizeFailure if `authorize` throws
 */
export async function requireRights(
  authorize: Authorize,
  request: HostRequest,
  access: SessionAccess,
): Promise<TakenRights> {
  const permission = await ask(authorize, request, access);
  if (permission === true) return NO_RIGHTS;
  if (permission === 'unauthenticated') {
    throw new HttpRefusal(401, 'This request does not tell who sends it.');
  }
  if (permission === FORGET) {
    throw new HttpRefusal(410, 'Forget all data of this owner.', {}, FORGET);
  }
  const rights = rightsIn(permission);
  if (rights === undefined) throw new HttpRefusal(403, 'This is not allowed.');
  return rights;
}

/** Returns `undefined` for a value without rights, such as a user, and for a right that is no boolean. */
function rightsIn(permission: unknown): TakenRights | undefined {
  const given = Object(permission) as Readonly<Record<string, unknown>>;
  const names = Object.keys(NO_RIGHTS).filter((name) => given[name] !== undefined);
  if (names.length === 0 || names.some((name) => typeof given[name] !== 'boolean'))
    return undefined;
  return { ...NO_RIGHTS, ...Object.fromEntries(names.map((name) => [name, given[name]])) };
}

async function ask(
  authorize: Authorize,
  request: HostRequest,
  access: SessionAccess,
): Promise<Permission> {
  try {
    return await authorize(request, access);
  } catch (cause) {
    throw new AuthorizeFailure(cause);
  }
}
