import type { ServiceCore } from '../service/service_core.js';
import type {
  CreatedSession,
  CreateRequest,
  ReadSession,
  SessionStore,
} from '../storage/session_store.js';
import type { Event } from '../model/event/event.js';
import type { HostAbortSignal } from '../model/host.js';
import type { Connection, ReadResponse } from './connection/connection.js';
import type { RunRequest } from './run/run_request.js';

/** Stores at one kind of server. */
export interface ServerStore extends Required<
  Omit<SessionStore, 'open' | 'free' | 'appendMany' | 'truncates'>
> {
  /**
   * Runs an agent and yields its events.
   *
   * @param core that of the service
   * @param stopped fires when the caller wants no more events
   */
  run<S extends object>(
    core: ServiceCore,
    request: RunRequest<S>,
    stopped: HostAbortSignal,
  ): AsyncGenerator<Event, void, undefined>;
}

/**
 * Creates a session by a request to the path of a user's sessions.
 *
 * @param ifAbsent whether an existing session is no error
 * @returns `undefined` if it exists
 */
export async function createAt(
  connection: Connection,
  path: string,
  request: CreateRequest,
  ifAbsent: boolean,
  read: ReadResponse<ReadSession>,
): Promise<CreatedSession | undefined> {
  const body = createBody(request);
  // If the response is lost, the session is read instead.
  const none = ifAbsent ? { none: 'already_exists' as const } : {};
  const post = { method: 'POST', path, body, isIdempotent: ifAbsent, ...none } as const;
  const created = await connection.request(post, request, read);
  if (created === undefined) return undefined;
  const [createdRevision, revision, time, state, fragments] = created;
  return [createdRevision, revision, time, state, fragments, 0, 0];
}

/** Returns the body of a request to create a session. The texts go into it as they are. */
function createBody(request: CreateRequest): string {
  const { key, state, events, delta, description, lastUpdateTime, sharesState } = request;
  const { title, labels } = description;
  const members = {
    sessionId: key.sessionId,
    title: title === '' ? undefined : title,
    lastUpdateTime,
    sharedState: sharesState ? undefined : 'keep',
  };
  const texts = [`{"state":${state}`];
  if (events.length > 0) texts.push(`"events":[${events.map(({ text }) => text).join()}]`);
  if (delta !== '{}') texts.push(`"stateDelta":${delta}`);
  if (labels) texts.push(`"labels":${labels}`);
  texts.push(JSON.stringify(members).slice(1));
  return texts.join();
}
