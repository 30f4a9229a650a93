import type { Event } from '../model/event/event.js';
import type { HostAbortSignal } from '../model/host.js';
import {
  NO_REVISIONS,
  type Backend,
  type CreatedSession,
  type CreateRequest,
  type ReadSession,
} from '../storage/backend.js';
import type { StateOwner } from '../storage/scopes.js';
import { type Connection, pathOf, type ReadResponse } from './connection/connection.js';
import type { AgentRun } from './run/run_request.js';

/** What one kind of server does. */
export interface ServerBackend extends Backend {
  /**
   * Runs an agent and yields its events.
   *
   * @param stopped fires when the caller wants no more events
   */
  run(run: AgentRun, stopped: HostAbortSignal): AsyncGenerator<Event, void, undefined>;
}

/** Returns the path of a session, a user or an app, and of what is below it. */
export function pathTo(
  { appName, userId, sessionId }: StateOwner & { readonly sessionId?: string },
  end = '',
): string {
  const user = userId === undefined ? '' : pathOf('users', userId);
  const session = sessionId === undefined ? '' : pathOf('sessions', sessionId);
  return pathOf('apps', appName) + user + session + end;
}

/**
 * Creates a session by a request to the path of a user's sessions.
 *
 * @returns `undefined` if it exists
 */
export async function createAt(
  connection: Connection,
  path: string,
  request: CreateRequest,
  read: ReadResponse<ReadSession>,
): Promise<CreatedSession | undefined> {
  const body = createBody(request);
  const { ifAbsent, call, operation } = request;
  // If the response is lost, the session is read instead.
  const none = ifAbsent ? 'already_exists' : undefined;
  const post = { method: 'POST', path, body, isIdempotent: ifAbsent, none, operation } as const;
  const created = await connection.request(post, call, read);
  return created && { ...created, shared: NO_REVISIONS };
}

/** Returns the body of a request to create a session. */
function createBody(request: CreateRequest): string {
  const { key, state, events, delta, description, lastUpdateTime, sharesState } = request;
  const title = absentIfEmpty(description.title);
  const labels = absentIfEmpty(description.labels);
  const stateDelta = delta === '{}' ? undefined : delta;
  const texts = {
    state,
    events: events.length > 0 ? listText(events) : undefined,
    stateDelta,
    labels,
    parent: description.parent,
  };
  const sharedState = sharesState ? undefined : 'keep';
  const initialState = description.initialState === undefined ? 'unknown' : undefined;
  const { sessionId } = key;
  return bodyOf(texts, { sessionId, title, lastUpdateTime, sharedState, initialState });
}

/**
 * Returns the JSON of an object.
 *
 * @param texts members that are JSON already; they go into it as they are
 * @param others further members
 */
export function bodyOf(
  texts: Readonly<Record<string, string | undefined>>,
  others: object = {},
): string {
  const members = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : [`"${name}":${text}`],
  );
  const rest = JSON.stringify(others).slice(1, -1);
  return `{${[...members, ...(rest === '' ? [] : [rest])].join()}}`;
}

/** Returns the JSON list of events. */
export function listText(events: readonly { readonly text: string }[]): string {
  return `[${events.map(({ text }) => text).join()}]`;
}

/** Returns the text; `undefined` if it is empty. */
export function absentIfEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
