import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { takeContent } from '../../values/model/event/parts.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { isStored } from '../../values/model/event/stored.js';
import type { RevisionCheck } from '../../values/model/session.js';
import { MAX_FILES } from '../../values/model/event/place_files.js';
import { joinScopes } from '../../values/state/keys.js';
import { type SharedScope, storedScopeOf } from '../../values/state/scope.js';
import { snakeName } from '../../values/python/names.js';
import { mismatchIn } from '../../stores/http/messages.js';
import type { Schema } from '../../stores/http/schema.js';
import { HttpRefusal } from '../http/responses.js';
import { unknownMember } from '../http/request_body.js';
import { appendOfClient, type Expected } from '../rights/client_append.js';
import type { NamedFile } from '../../core/write.js';
import { mayBeInPart, wholeDelta } from '../rights/public_view.js';
import { keyOf, type RouteCall } from './route.js';

/**
 * Takes the members of a body, which the schema of its route checks. `null` counts as absent where the schema does not
 * admit it: Python's clients send it so.
 *
 * @param isOwnClient whether unknown members are left out, because our own client may be of a later version; else they
 *   are refused
 * @param hasPythonNames whether the names may also be in snake_case
 * @throws SessionError `invalid_argument` naming the wrong member
 */
export function takeBody(
  body: JsonObject,
  schema: Schema,
  isOwnClient: boolean,
  hasPythonNames: boolean,
): JsonObject {
  const { properties = {} } = schema;
  const known = Object.keys(properties);
  const members: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(body)) {
    const name = known.find(
      (name) => name === given || (hasPythonNames && snakeName(name) === given),
    );
    if (name === undefined) {
      if (isOwnClient) continue;
      throw unknownMember(given, known);
    }
    const member = properties[name]!;
    // Of both names, Python takes the camelCase one too.
    if (isAbsent(value, member) || (name !== given && Object.hasOwn(body, name))) continue;
    members[name] = withoutAbsent(value, member);
  }
  const wrong = mismatchIn(members, schema, '');
  if (wrong !== undefined) throw invalidValue(wrong.path, wrong.rule, wrong.value);
  return members;
}

/** Whether a member counts as absent: it is null, and its schema does not admit that. */
function isAbsent(value: unknown, schema: Schema): boolean {
  return value === null && mismatchIn(value, schema, '') !== undefined;
}

/** Returns a member without those of its own that count as absent. */
function withoutAbsent(value: unknown, { properties }: Schema): unknown {
  if (!isPlainObject(value) || properties === undefined) return value;
  const isGiven = ([name, member]: [string, unknown]): boolean =>
    !Object.hasOwn(properties, name) || !isAbsent(member, properties[name]!);
  return Object.fromEntries(Object.entries(value).filter(isGiven));
}

/** The right that the keys of a shared state need. */
const RIGHTS = { user: 'mayWriteUserState', app: 'mayWriteAppState' } as const;

/**
 * Takes a state from the body of a call.
 *
 * @param member its name in the body, for the error
 * @throws HttpRefusal 403 if it has `user:` or `app:` keys and the request may not change them
 * @throws SessionError `invalid_argument` if it is not an object
 */
export function stateIn(call: RouteCall, value: unknown, member: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  if (!isPlainObject(value)) throw invalidValue(member, 'must be an object', value);
  for (const key of Object.keys(value)) {
    const scope = storedScopeOf(key);
    if (scope !== 'session') requireRightTo(call, scope);
  }
  return value;
}

/** A change of a state, or a function that computes it from the stored state. */
type StateChange = JsonObject | ((state: JsonObject) => JsonObject);

/** Takes the `stateDelta` of a body for an update, without any value that the client has seen only in part. */
export function changeIn(call: RouteCall): StateChange {
  const delta = stateIn(call, call.body.stateDelta, 'stateDelta')!;
  if (call.rights.maySeeCredentials || !mayBeInPart(delta)) return delta;
  return (state) => wholeDelta(delta, state);
}

/**
 * Reads the shared states that a session is created with, for {@link wholeDelta}.
 *
 * @param changes what the client sends; without a value that it may have seen in part, nothing is read
 */
export async function sharedStateFor(
  { service, appName, userId, rights, signal }: RouteCall,
  changes: readonly unknown[],
): Promise<JsonObject> {
  if (rights.maySeeCredentials || !changes.some(mayBeInPart)) return {};
  const [user, app] = await Promise.all([
    service.getUserState({ appName, userId, signal }),
    service.getAppState({ appName, signal }),
  ]);
  return joinScopes({ user, app });
}

/** Takes the state of a session to create, by the rules of {@link stateIn} and {@link wholeDelta}. */
export async function initialStateIn(
  call: RouteCall,
  value: unknown,
  member: string,
): Promise<JsonObject | undefined> {
  const state = stateIn(call, value, member);
  return state && wholeDelta(state, await sharedStateFor(call, [state]));
}

/**
 * Takes the events of a body, in the form of the service.
 *
 * @throws HttpRefusal 403 if one changes a shared state that the request may not change
 * @throws SessionError `invalid_argument` if there are too many
 */
export function eventsIn(call: RouteCall): NewEvent[] {
  const events = call.body.events as readonly JsonObject[];
  if (events.length > call.maxEvents) {
    throw invalid(
      'events',
      `has ${events.length} events; send at most ${call.maxEvents} at once, or raise maxEvents at the server`,
    );
  }
  return events.map((json, at) => {
    const path = `events[${at}]`;
    const event = call.form.readEvent(json);
    const { author, content } = event as { author?: unknown; content?: unknown };
    if (content !== undefined && content !== null)
      event.content = takeContent(content, author, `${path}.content`);
    const delta: unknown = event.actions?.stateDelta;
    // The service refuses a delta that is not an object.
    if (isPlainObject(delta)) stateIn(call, delta, path);
    return event;
  });
}

/**
 * Takes the files of a body: for each event, or for the only message, those that the client names.
 *
 * @param messages the number of messages that may have files
 * @throws SessionError `invalid_argument` if a file names no message, or a message has more than {@link MAX_FILES}
 */
export function filesIn({ body }: RouteCall, messages: number): NamedFile[][] {
  const files = Array.from({ length: messages }, (): NamedFile[] => []);
  const given = (body.files ?? []) as readonly NamedFile[];
  for (const [at, { event = 0, part, name, version }] of given.entries()) {
    const ofEvent = files[event];
    if (ofEvent === undefined) {
      throw invalidValue(`files[${at}].event`, 'must be an index of the events', event);
    }
    if (ofEvent.push({ part, name, version }) > MAX_FILES) {
      throw invalid('files', `has more than ${MAX_FILES} files of one message`);
    }
  }
  return files;
}

/** @throws HttpRefusal 403 if the request may not change the state of this scope */
export function requireRightTo({ rights }: RouteCall, scope: SharedScope): void {
  if (rights[RIGHTS[scope]]) return;
  throw new HttpRefusal(403, `${scope}: state cannot be changed by this request.`);
}

/**
 * Appends the events of a body that are stored, if the rights of the request admit them.
 *
 * @param append appends the events that the rights admit, of those that were sent and are stored; called again after
 *   others have appended
 * @throws HttpRefusal 403 if the rights do not admit an event; SessionError `invalid_argument` if none is stored
 */
export async function appendBody<Result>(
  call: RouteCall,
  append: (events: NewEvent[], expected: Expected, sent: readonly NewEvent[]) => Promise<Result>,
): Promise<Result> {
  const { service, rights, body } = call;
  const { expectedRevision, expectedEvents } = body as RevisionCheck;
  const given = eventsIn(call);
  const events = given.filter(isStored);
  if (events.length === 0) throw invalid('events', 'must have an event that is not partial');
  const files = filesIn(call, given.length).filter((_, at) => isStored(given[at]!));
  return appendOfClient({
    service,
    key: keyOf(call),
    rights,
    events,
    files,
    expectedRevision,
    expectedEvents,
    append: (admitted, expected) => append(admitted, expected, events),
  });
}
