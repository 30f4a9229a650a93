/** What clients see of events and states, and what they may write of that. */
import { isEqualJson } from '../../values/json/equal.js';
import { isPlainObject, type JsonObject, isObject } from '../../values/json/rules.js';
import { defineMember } from '../../values/members.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { snakeName } from '../../values/python/names.js';
import { HttpRefusal } from '../http/responses.js';

/** google-adk's own keys of `customMetadata` begin so. Clients neither set nor see them. */
const INTERNAL_PREFIX = '__adk_internal_';

/** google-adk's key for an event that came from outside. Its plugin never runs the calls of such an event. */
export const GIVEN_KEY = `${INTERNAL_PREFIX}restored_event`;

/** The function by which a tool asks the user for a credential. */
const CREDENTIAL_CALL = 'adk_request_credential';

/** A name in the two casings in which the ADKs store it. */
const inBothCasings = (names: string): Set<string> =>
  new Set(names.split(' ').flatMap((name) => [name, snakeName(name)]));

/** The members of a credential that are secret. A page needs the others, such as `authUri`. */
const SECRETS = inBothCasings(
  'password token additionalHeaders clientSecret authResponseUri authCode accessToken refreshToken idToken ' +
    'codeVerifier privateKeyId privateKey apiKey',
);

/** The members that contain credentials, at any depth. */
const CARRIERS = inBothCasings('requestedAuthConfigs rawAuthCredential exchangedAuthCredential');

const METADATA = inBothCasings('customMetadata');

/** The types of credentials, as values and as names of Python's enumeration. */
const AUTH_TYPES = new Set<unknown>(
  ['apiKey', 'http', 'oauth2', 'openIdConnect', 'serviceAccount'].flatMap((type) => {
    const name = snakeName(type);
    return [type, name, name.toUpperCase()];
  }),
);

/**
 * Returns the part of a JSON value that a client may see: without google-adk's internal metadata, and without the
 * secrets of credentials. The rule for credentials is that of google-adk 2.13. What has no such part is the same
 * object.
 *
 * @param maySeeCredentials whether the secrets stay
 */
export function publicView<Value>(value: Value, maySeeCredentials: boolean): Value {
  return visibleValue(value, maySeeCredentials, false) as Value;
}

/** Returns whether a client without the right to see credentials sees only a part of a value. */
export function hasSecrets(value: unknown): boolean {
  const visible = publicView(value, true);
  return publicView(visible, false) !== visible;
}

/** @param isCredential whether the value is a credential, or lies in one */
function visibleValue(value: unknown, maySeeCredentials: boolean, isCredential: boolean): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => visibleValue(item, maySeeCredentials, isCredential));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isPlainObject(value)) return value;
  const hidesSecrets = !maySeeCredentials && (isCredential || isTypedCredential(value));
  const isRequest = !maySeeCredentials && value.name === CREDENTIAL_CALL;
  // Most values are seen as they are, and are not copied.
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    // Outside of credentials only objects have a part that is hidden.
    if (!hidesSecrets && typeof member !== 'object') continue;
    const isCarrier = CARRIERS.has(key) || (isRequest && (key === 'args' || key === 'response'));
    const shown =
      hidesSecrets && SECRETS.has(key)
        ? undefined
        : visibleValue(
            METADATA.has(key) ? shownMetadata(member) : member,
            maySeeCredentials,
            hidesSecrets || isCarrier,
          );
    if (shown === member) continue;
    copy ??= { ...value };
    if (shown === undefined) Reflect.deleteProperty(copy, key);
    else defineMember(copy, key, shown);
  }
  return copy ?? value;
}

function isTypedCredential({ authType, auth_type: snakeType }: JsonObject): boolean {
  return AUTH_TYPES.has(authType) || AUTH_TYPES.has(snakeType);
}

/** Returns metadata without internal keys. */
export function withoutInternal(metadata: JsonObject): JsonObject {
  const entries = Object.entries(metadata);
  const shown = entries.filter(([key]) => !key.startsWith(INTERNAL_PREFIX));
  return shown.length === entries.length ? metadata : Object.fromEntries(shown);
}

/** Returns metadata as clients see it; `undefined` if it has nothing but internal keys. */
function shownMetadata(metadata: unknown): unknown {
  if (!isPlainObject(metadata)) return metadata;
  const shown = withoutInternal(metadata);
  return shown !== metadata && Object.keys(shown).length === 0 ? undefined : shown;
}

// Values of a state that a client has seen in part: the secrets of credentials were hidden.

/** Whether a change of a state has a value that may be one that a client has seen in part. */
export function mayBeInPart(delta: unknown): boolean {
  return isPlainObject(delta) && Object.values(delta).some(isObject);
}

/** Returns an event with {@link wholeDelta}. */
export function withWholeDelta(event: NewEvent, state: JsonObject): NewEvent {
  const { actions } = event;
  const delta: unknown = actions?.stateDelta;
  if (!isPlainObject(delta) || !mayBeInPart(delta)) return event;
  return { ...event, actions: { ...actions!, stateDelta: wholeDelta(delta, state) } };
}

/**
 * Returns a client's change of a state without any value in part: a value that the client sends as it was shown is the
 * stored one, with what was hidden.
 *
 * A credential that the client has changed is refused, unless it has secrets of its own. The hidden ones are not put
 * into it: a client could send them to another server that way, by changing only the server's address.
 *
 * @param state the stored state, with the keys of the delta
 * @throws HttpRefusal 403 naming the path
 */
export function wholeDelta(delta: JsonObject, state: JsonObject): JsonObject {
  const entries = Object.entries(delta).map(([key, value]): [string, unknown] => {
    if (!isObject(value) || !Object.hasOwn(state, key)) return [key, value];
    // The name of the key may say that its value is a credential.
    const [stored, given] = [{ [key]: state[key] }, { [key]: value }].map((member) => ({
      value: member[key],
      shown: publicView<JsonObject>(member, false)[key],
    }));
    return [key, wholeValue(given!, stored!, key)];
  });
  return Object.fromEntries(entries);
}

/** A value, and what a client sees of it: the same object if that is all. */
interface SeenValue {
  readonly value: unknown;
  readonly shown: unknown;
}

function wholeValue(given: SeenValue, stored: SeenValue, path: string): unknown {
  if (stored.shown === stored.value || !isObject(given.value)) return given.value;
  if (isEqualJson(stored.shown, given.value)) return stored.value;
  const hasOwnSecrets = given.shown !== given.value;
  if (Array.isArray(given.value) && Array.isArray(stored.value)) {
    if (given.value.length !== stored.value.length && !hasOwnSecrets) throw inPart(path);
    return given.value.map((_, at) =>
      wholeValue(memberOf(given, at), memberOf(stored, at), `${path}[${at}]`),
    );
  }
  if (!isPlainObject(given.value) || !isPlainObject(stored.value)) return given.value;
  const seen = Object(stored.shown) as object;
  if (Object.keys(stored.value).some((name) => !Object.hasOwn(seen, name))) {
    if (hasOwnSecrets) return given.value;
    throw inPart(path);
  }
  const entries = Object.keys(given.value).map((name): [string, unknown] => [
    name,
    wholeValue(memberOf(given, name), memberOf(stored, name), `${path}.${name}`),
  ]);
  return Object.fromEntries(entries);
}

function memberOf({ value, shown }: SeenValue, name: string | number): SeenValue {
  const own = (object: unknown): unknown => {
    const members = Object(object) as Readonly<Record<string | number, unknown>>;
    return Object.hasOwn(members, name) ? members[name] : undefined;
  };
  return { value: own(value), shown: own(shown) };
}

function inPart(path: string): HttpRefusal {
  const message = `This request may not change ${path}, whose secrets it does not see: send it as it was read, with secrets of its own, or without it.`;
  return new HttpRefusal(403, message);
}
