/**
 * Checks whether Python accepts the credentials that a tool requests from a user.
 *
 * These models differ from all others of an event: they keep unknown fields, and read both casings. So an
 * auth config is treated as data, which is written unchanged or not at all.
 */
import { snakeName } from './names.js';
import { isPlainObject } from '../json/rules.js';

/** Whether a value that is not `null` is accepted. */
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isTextList: Check = (value) => Array.isArray(value) && value.every(isText);
const isTextDictionary: Check = (value) =>
  isPlainObject(value) && Object.values(value).every(isText);
const isOneOf =
  (...textMembers: string[]): Check =>
  (value) =>
    textMembers.includes(value as string);

/** Accepts an object if its members, in either casing, are accepted and the required ones are there. */
function isModel(members: Readonly<Record<string, Check>>, ...required: string[]): Check {
  return (value) => {
    if (!isPlainObject(value)) return false;
    return Object.entries(members).every(([name, check]) => {
      const presentKeys = [name, snakeName(name)].filter((key) => Object.hasOwn(value, key));
      const isRequired = required.includes(name);
      if (presentKeys.length === 0) return !isRequired;
      return presentKeys.every((key) => (value[key] === null ? !isRequired : check(value[key])));
    });
  };
}

function textMembers(names: string): Record<string, Check> {
  return Object.fromEntries(names.split(' ').map((name) => [name, isText]));
}

const isHttpCredentials = isModel(
  {
    scheme: isText,
    credentials: isModel(textMembers('username password token')),
    additionalHeaders: isTextDictionary,
  },
  'scheme',
  'credentials',
);

const SERVICE_ACCOUNT_KEY =
  'projectId privateKeyId privateKey clientEmail clientId authUri tokenUri authProviderX509CertUrl ' +
  'clientX509CertUrl universeDomain';

const isServiceAccountModel = isModel({
  serviceAccountCredential: isModel(
    { ...textMembers(SERVICE_ACCOUNT_KEY), type: isText, type_: isText },
    ...SERVICE_ACCOUNT_KEY.split(' '),
  ),
  scopes: isTextList,
  useDefaultCredential: isFlag,
  useIdToken: isFlag,
  audience: isText,
});

const isServiceAccount: Check = (value) => {
  if (!isServiceAccountModel(value) || !isPlainObject(value)) return false;
  const hasKey = (memberInEitherCasing(value, 'serviceAccountCredential') ?? null) !== null;
  if (!hasKey && memberInEitherCasing(value, 'useDefaultCredential') !== true) return false;
  return (
    memberInEitherCasing(value, 'useIdToken') !== true ||
    Boolean(memberInEitherCasing(value, 'audience'))
  );
};

const isOAuth2 = isModel({
  ...textMembers(
    'clientId clientSecret authUri nonce state redirectUri authResponseUri authCode accessToken ' +
      'refreshToken idToken audience prompt codeVerifier codeChallengeMethod',
  ),
  expiresAt: Number.isSafeInteger,
  expiresIn: Number.isSafeInteger,
  tokenEndpointAuthMethod: isOneOf(
    'client_secret_basic',
    'client_secret_post',
    'client_secret_jwt',
    'private_key_jwt',
  ),
});

const isCredential = isModel(
  {
    authType: isOneOf('apiKey', 'http', 'oauth2', 'openIdConnect', 'serviceAccount'),
    resourceRef: isText,
    apiKey: isText,
    http: isHttpCredentials,
    serviceAccount: isServiceAccount,
    oauth2: isOAuth2,
  },
  'authType',
);

/** A type of scheme that Python does not know becomes a custom scheme, which only needs a type. */
const isScheme: Check = (value) =>
  isPlainObject(value) && isText(Object.hasOwn(value, 'type') ? value.type : value.type_);

const isAuthConfigModel = isModel(
  {
    authScheme: isScheme,
    rawAuthCredential: isCredential,
    exchangedAuthCredential: isCredential,
    credentialKey: isText,
  },
  'authScheme',
);

/**
 * Whether Python accepts the value of one call in `requestedAuthConfigs`. Python checks only objects there.
 */
export function isPythonAuthConfig(value: unknown): boolean {
  if (!isPlainObject(value)) return true;
  // Python passes the members as named arguments to a constructor, whose first parameter is `self`.
  return isAuthConfigModel(value) && !Object.hasOwn(value, 'self');
}

/** Returns a member. If both casings are there, Python reads the camelCase one. */
function memberInEitherCasing(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : object[snakeName(name)];
}
