/** Makes the request of each kind of write, for the handler of `adk-session-wasm/server`. */
import { SessionError } from '../../values/errors/errors.js';
import type { Call } from '../../core/call/call.js';
import type {
  CreateWrite,
  HandlePosition,
  NamedFile,
  ReadyAppend,
  ReadyWrite,
  WriteKind,
} from '../../core/write.js';
import { parseEventText } from '../../core/storage/stored_events.js';
import { NO_REVISIONS, type Results } from '../../core/storage/store.js';
import { filesOf, MESSAGE_FILES } from '../../values/model/event/message_files.js';
import { withFiles } from '../../values/model/event/place_files.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import {
  type HttpConnection,
  pathOf,
  type ReadResponse,
  type RemoteRequest,
  type ServerKind,
} from './connection/connection.js';
import type { AppendMember, CreationMember } from '../http/member_names.js';
import { nothingIn, readAs, responseIn, sessionReader } from './responses.js';

/** How a write is sent. */
interface WriteRequest<Result> extends RemoteRequest {
  readonly read: ReadResponse<Result>;
  /** The result of the refusal {@link RemoteRequest.none}. */
  readonly absent?: Result;
}

type WriteRequests = {
  readonly [Kind in WriteKind]: (
    write: ReadyWrite<Kind>,
    server: ServerKind | undefined,
  ) => WriteRequest<Results[Kind]>;
};

const REQUESTS: WriteRequests = {
  create(write) {
    const { appName, userId } = write.key;
    const read = sessionReader(write.key);
    return {
      ...createRequest(pathTo({ appName, userId }, '/sessions'), write),
      read(json, headers) {
        const created = read(json, headers);
        return created && { ...created, shared: NO_REVISIONS };
      },
    };
  },
  append(given) {
    const write = withFilesApart(given);
    const { key, position, stale, expectedRevision, expectedEvents, events, firstTitle } = write;
    if (write.compute !== undefined) throw noFunctions();
    const { run, runRevision, files } = write;
    const others = {
      position: positionBody(position),
      runRevision,
      stale,
      expectedRevision,
      expectedEvents,
      firstTitle,
      run,
      files,
    } satisfies Record<Exclude<AppendMember, 'events'>, unknown>;
    const body = bodyOf({ events: listText(events) }, others);
    // The ids of the events tell the handler what is stored already.
    return { ...postOnce(pathTo(key, '/events'), body), read: readAs('Appended') };
  },
  describe({ key, title, labels }) {
    // An empty text removes the title or the labels.
    const texts = { labels: labels === '' ? 'null' : labels };
    const body = bodyOf(texts, { title: title === '' ? null : title });
    const path = pathTo(key, '/description');
    return { method: 'PATCH', path, body, none: 'not_found', read: nothingIn, absent: false };
  },
  update({ key, delta }) {
    if (typeof delta !== 'string') throw noFunctions();
    const path = pathTo(key, '/state');
    const read = (json: unknown) => (nothingIn(json) ? NO_REVISIONS : undefined);
    return { method: 'PATCH', path, body: bodyOf({ stateDelta: delta }), read };
  },
  delete(write) {
    const { what, key } = write;
    if (what === 'session' && write.unchanged !== undefined) {
      const { revision, labels = '{}' } = write.unchanged;
      return {
        method: 'POST',
        path: pathTo(key, '/delete-unchanged'),
        body: bodyOf({ labels }, { revision }),
        read(json) {
          const isDeleted = responseIn<boolean>('Whether', json);
          return isDeleted === undefined ? undefined : { isDeleted };
        },
        none: 'not_found',
        absent: { isDeleted: false },
      };
    }
    return {
      method: 'DELETE',
      path: pathTo(key, what.endsWith('State') ? '/state' : ''),
      query: { created: what === 'session' ? write.created : undefined },
      read: (json) => (nothingIn(json) ? { isDeleted: true } : undefined),
    };
  },
  rewind({ key, marker, place, message, events, run }, server) {
    // Without `run`, a server that has no agent stores the edited message all the same.
    const asked = server?.runsAgents === true ? run : undefined;
    const sent = message && { ...message, files: undefined };
    const files = message?.files?.map(({ part, name, version }) => ({ part, name, version }));
    const body = JSON.stringify({ marker, place, message: sent, events, run: asked, files });
    return { ...postOnce(pathTo(key, '/rewind'), body), read: readAs('Rewound') };
  },
  fork({ key, newSessionId, end, title }) {
    const body = JSON.stringify({ newSessionId, ...end, title });
    const read = sessionReader({ ...key, sessionId: newSessionId });
    return { ...postOnce(pathTo(key, '/fork'), body), read };
  },
};

/**
 * Returns the position of a handle as the protocol has it: without a member `kind`, and none at all without a handle.
 */
function positionBody({ kind, ...position }: HandlePosition): object | undefined {
  return kind === 'latest' ? undefined : position;
}

/**
 * Sends a write, and takes its result from the response.
 *
 * @param onAnswer gets the headers of the response
 * @param more what the request has beside that of each write
 */
export async function sendWrite<Kind extends WriteKind>(
  connection: HttpConnection,
  write: ReadyWrite<Kind>,
  call: Call,
  onAnswer: (headers: Headers) => void,
  more: Pick<RemoteRequest, 'headers' | 'readText'> = {},
): Promise<Results[Kind]> {
  const requests: WriteRequests = REQUESTS;
  const { read, absent, ...request } = requests[write.kind](write, connection.kind);
  const { mutation } = write;
  const readAnswer: typeof read = (json, headers) => {
    const result = read(json, headers);
    if (result !== undefined) onAnswer(headers);
    return result;
  };
  return (await connection.request({ ...request, ...more, mutation }, call, readAnswer)) ?? absent!;
}

/** Returns a request that may be sent again: the ids of what it stores tell the server what it has already. */
function postOnce(path: string, body: string): RemoteRequest {
  return { method: 'POST', path, body, isIdempotent: true };
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
 * Makes the request that `createRequestIn` of the handler reads (js/server/routes/session_routes.ts).
 *
 * @param path that of a user's sessions
 */
export function createRequest(path: string, write: CreateWrite): RemoteRequest {
  const { key, state, events, delta, description, lastUpdateTime, sharesState, ifAbsent } = write;
  const title = absentIfEmpty(description.title);
  const labels = absentIfEmpty(description.labels);
  const texts = {
    state,
    events: events.length > 0 ? listText(events) : undefined,
    stateDelta: delta === '{}' ? undefined : delta,
    labels,
    parent: description.parent,
  };
  const sharedState = sharesState ? undefined : 'keep';
  const initialState = description.initialState === undefined ? 'unknown' : undefined;
  const { sessionId } = key;
  const others = {
    sessionId,
    title,
    lastUpdateTime,
    sharedState,
    initialState,
  } satisfies Record<Exclude<CreationMember, keyof typeof texts>, unknown>;
  const body = bodyOf(texts, others);
  // If the response is lost, the session is read instead.
  const none = ifAbsent ? 'already_exists' : undefined;
  return { method: 'POST', path, body, isIdempotent: ifAbsent, none };
}

/**
 * Returns the JSON of an object.
 *
 * @param texts members whose values are JSON text already
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
function listText(events: readonly { readonly text: string }[]): string {
  return `[${events.map(({ text }) => text).join()}]`;
}

/** Returns the text; `undefined` if it is empty. */
export function absentIfEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function noFunctions(): SessionError {
  const message = 'Over HTTP stateDelta must be an object.';
  return new SessionError('unsupported', message, { key: 'stateDelta' });
}

/**
 * Splits the files from the messages of an append: the server makes their deltas and metadata itself, and takes neither
 * from a client.
 */
function withFilesApart(write: ReadyAppend): ReadyAppend {
  const files: NamedFile[] = [];
  const events = write.events.map((sent, at) => {
    const event = sent.text.includes(MESSAGE_FILES) ? parseEventText(sent.text) : undefined;
    const customMetadata = event?.customMetadata;
    if (event === undefined || customMetadata?.[MESSAGE_FILES] === undefined) return sent;
    const own = filesOf(event);
    const bare = withFiles(event, []);
    // If all texts are gone, the server leaves the metadata out, and tells so, as of the files that it adds.
    if (own.length === 0) return { ...sent, text: JSON.stringify({ ...bare, customMetadata }) };
    for (const { part, name, version } of own)
      files.push({ ...(at > 0 && { event: at }), part, name, version });
    return { ...sent, text: JSON.stringify(bare) };
  });
  return { ...write, events, ...(files.length > 0 && { files }) };
}
