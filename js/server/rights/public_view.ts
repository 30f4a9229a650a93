import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { defineMember } from '../../values/members/member.js';
import { snakeName } from '../../values/python/names.js';

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
 * secrets of credentials. The rule for credentials is that of google-adk 2.13. What has no such part is the same object.
 *
 * @param maySeeCredentials whether the secrets stay
 */
export function publicView<Value>(value: Value, maySeeCredentials: boolean): Value {
  return viewOf(value, maySeeCredentials, false) as Value;
}

/** Returns whether a client without the right to see credentials sees only a part of a value. */
export function hasSecrets(value: unknown): boolean {
  const visible = publicView(value, true);
  return publicView(visible, false) !== visible;
}

/** @param isCredential whether the value is a credential, or lies in one */
function viewOf(value: unknown, maySeeCredentials: boolean, isCredential: boolean): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => viewOf(item, maySeeCredentials, isCredential));
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
        : viewOf(
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
