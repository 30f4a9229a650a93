/**
 * The protocol between the HTTP handler and the remote client: the REST interface of `adk api_server`, and routes of
 * this package. `messages.ts` and `request_bodies.ts` have its schemas.
 *
 * Times are milliseconds, and names are those of this package, so that nothing is lost on the way. A request without
 * {@link PROTOCOL_HEADER} does not come from the remote client: the routes that `adk api_server` has too then speak its
 * form.
 */

/**
 * Version of the protocol: a change that the other side has to know raises the first number. Each side ignores
 * members that it does not know, except in `run`.
 */
export const PROTOCOL_VERSION = '1.0';
/** Each response of the handler has it. Its absence tells a client that the server is not the handler. */
export const PROTOCOL_HEADER = 'adk-session-protocol';
/** The revision at which the session of a response was created. */
export const CREATED_HEADER = 'adk-session-created';
/** The revision of the session of a response. */
export const REVISION_HEADER = 'adk-session-revision';

/**
 * Of the answer to a message with `run`: the start of the server and the number of the run, with a space between them.
 * A feed of the same start that has told this number tells everything of the run.
 */
export const RUN_HEADER = 'adk-session-run';

/**
 * Of a message with `run` whose client accepts a stream of events: the start of the process whose runs the client's feed
 * reports. That process answers with JSON, since the feed reports this run too.
 */
export const FEED_HEADER = 'adk-session-feed';

/** The media type of a stream of events. A client that accepts it gets the reports of a run behind the answer. */
export const EVENT_STREAM = 'text/event-stream';

/**
 * Of the answer to a read of the newest events of a session, and to a message with `run`: the message that a
 * process of the server may be answering, as {@link openText} writes it. Absent if the server is one process.
 */
export const OPEN_HEADER = 'adk-session-open';

/** A message that a process of a server may be answering. */
export interface OpenMessage {
  readonly messageId: string;
  /** The milliseconds after which its run is over, if nothing has told its end. */
  readonly leftMs: number;
}

/** Returns the value of {@link OPEN_HEADER}: `LEFT_MS MESSAGE_ID`, or `-` if nothing runs elsewhere. */
export function openText(open: OpenMessage | undefined): string {
  return open === undefined ? '-' : `${open.leftMs} ${encodeURIComponent(open.messageId)}`;
}

/** Reads the value of {@link OPEN_HEADER}. Anything else than a message counts as none. */
export function parseOpen(text: string): OpenMessage | undefined {
  const [, leftMs, id] = /^(\d{1,15}) (\S+)$/.exec(text) ?? [];
  if (id === undefined) return undefined;
  try {
    return { messageId: decodeURIComponent(id), leftMs: Number(leftMs) };
  } catch {
    return undefined;
  }
}

/** Of a request: the number of the mutation and the client, with a space between them; see `MutationId`. */
export const MUTATION_HEADER = 'adk-session-mutation';

/** Tells a client what answers, whether it `keepsMutations`, and its `maxBodyBytes`. */
export const VERSION_PATH = '/version';

/** Returns whether the other side speaks this version, or another one with the same first number. */
export function isCompatible(version: string): boolean {
  return version.split('.')[0] === PROTOCOL_VERSION.split('.')[0];
}

/**
 * Returns a name as it stands in a path, not yet encoded. URLs drop the segments `.` and `..`, however these are
 * encoded, so names that begin with a dot get a `~`.
 */
export function toPathName(name: string): string {
  return /^[.~]/.test(name) ? `~${name}` : name;
}

/** Returns the name that {@link toPathName} was called with. */
export function fromPathName(name: string): string {
  return name.startsWith('~') ? name.slice(1) : name;
}
