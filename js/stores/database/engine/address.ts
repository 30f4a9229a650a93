/**
 * Parses the URL of a database. Has what differs between engines before Kysely is loaded. Accepts Python's spelling too
 * (`postgresql+asyncpg://`, `sqlite+aiosqlite:///`), so that both sides can use the same URL.
 *
 * No error shows the URL or the message of `new URL`: most invalid URLs hold a password with a stray
 * character.
 */
import { invalid, invalidValue } from '../../../values/errors/invalid.js';
import type { EngineKind } from './engine.js';

/** The location of a database. */
export interface Address {
  readonly kind: EngineKind;
  /** The path of a file, or the URL of a server. */
  readonly location: string;
}

/** The path of a database in memory. */
export const IN_MEMORY = ':memory:';

/** Whether the database outlives its connection. */
export function isDurable({ location }: Address): boolean {
  return location !== IN_MEMORY;
}

/** The forms of an engine's addresses, and the rules of its options. Not a part of `Engine`, which needs Kysely. */
interface AddressRules {
  /** The schemes of its URLs. */
  readonly schemes: readonly string[];
  /** The forms of its URLs, for messages. */
  readonly forms: readonly string[];
  /** Returns the path or the URL that the driver takes. @param rest the URL after `scheme:` */
  readonly locationOf: (rest: string) => string;
  /** The name in the message that refuses the option `schema`; `undefined` if the engine has schemas. */
  readonly withoutSchemas: string | undefined;
  /** Who sets the durability if not the connection, as the end of a message; `undefined` if the connection does. */
  readonly durabilityOfServer: string | undefined;
  /** Whether the driver's option `ssl` may be a text. The one of `pg` may not: it would fail outside of any call. */
  readonly takesSslText: boolean;
}

export const ADDRESS_RULES: Readonly<Record<EngineKind, AddressRules>> = {
  sqlite: {
    schemes: ['sqlite'],
    forms: ['sqlite:PATH'],
    locationOf: pathOf,
    withoutSchemas: 'SQLite',
    durabilityOfServer: undefined,
    takesSslText: true,
  },
  postgresql: {
    schemes: ['postgresql', 'postgres'],
    forms: ['postgresql://…'],
    locationOf: (rest) => serverUrl('postgresql', rest, postgresParameter),
    withoutSchemas: undefined,
    durabilityOfServer: undefined,
    takesSslText: false,
  },
  mysql: {
    schemes: ['mysql', 'mariadb'],
    forms: ['mysql://…', 'mariadb://…'],
    locationOf: (rest) => serverUrl('mysql', rest, mysqlParameter),
    withoutSchemas: undefined,
    durabilityOfServer: "is the server's on MariaDB: set innodb_flush_log_at_trx_commit there",
    takesSslText: true,
  },
};

export const ENGINE_KINDS = Object.keys(ADDRESS_RULES) as readonly EngineKind[];

/** The forms of all URLs, for messages. */
export const FORMS = ENGINE_KINDS.flatMap((kind) => ADDRESS_RULES[kind].forms);

/** The engine of each scheme. */
const SCHEMES: ReadonlyMap<string, EngineKind> = new Map(
  ENGINE_KINDS.flatMap((kind) => ADDRESS_RULES[kind].schemes.map((scheme) => [scheme, kind])),
);

/** Returns the engine of a scheme, if it has one. */
export function kindOfScheme(scheme: string): EngineKind | undefined {
  return SCHEMES.get(scheme);
}

/** Splits a URI behind its scheme. Leaves out the driver that Python's spelling names. */
export function splitUri(uri: string): { readonly scheme: string; readonly rest: string } {
  const [, scheme = '', rest = ''] = /^([a-z]+)(?:\+[a-z0-9_]+)?:(.*)$/is.exec(uri) ?? [];
  return { scheme: scheme.toLowerCase(), rest };
}

/** @throws SessionError `invalid_argument`, without the URL */
export function parseAddress(url: unknown): Address {
  if (typeof url !== 'string') throw invalidValue('url', 'must be a string', url);
  const { scheme, rest } = splitUri(url);
  const kind = kindOfScheme(scheme);
  if (kind === undefined) throw invalid('url', `must be ${alternatives(FORMS)}`);
  return { kind, location: ADDRESS_RULES[kind].locationOf(rest) };
}

/** Lists texts: "A, B or C". */
export function alternatives(texts: readonly string[]): string {
  return `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

/**
 * Parameters of Python's driver that change nothing here. Any other parameter is refused. If `mode=ro` were
 * ignored, we would write to a file that its owner opens for reading.
 */
const IGNORED_PARAMETERS = /^(?:check_same_thread|timeout|cached_statements|isolation_level)=/;

/** Reads the path as SQLAlchemy does: three slashes before a relative path, four before an absolute one. */
function pathOf(rest: string): string {
  const [, path = '', query = ''] = /^(?:\/\/(?=\/|$)\/?)?([^?]*)\??(.*)$/s.exec(rest) ?? [];
  if (path.startsWith('//')) {
    throw invalid('url', 'names a host; a SQLite file is sqlite:PATH or sqlite:///PATH');
  }
  // `node:sqlite` reads a URI, and `better-sqlite3` a file of that name.
  if (/^file:/i.test(path)) throw invalid('url', 'must not begin with file: after sqlite:');
  const parameters = query.split('&').filter((parameter) => parameter !== '');
  if (rest.endsWith('?') || !parameters.every((parameter) => IGNORED_PARAMETERS.test(parameter))) {
    throw invalid(
      'url',
      'must have nothing behind a ?: a SQLite file takes no parameters here, ' +
        'and a name with a ? in it cannot be given',
    );
  }
  return path === '' ? IN_MEMORY : path;
}

/** Stands for the host if the URL names a socket: `new URL` refuses `//user@/database`. */
const NO_HOST = 'localhost';

/**
 * The parameters by which `pg` follows libpq's SSL modes. Without `uselibpqcompat` it treats them all as
 * `verify-full`. `allow` begins without TLS, and `pg` never makes the second attempt.
 */
const SSL_PARAMETERS: Readonly<Record<string, string>> = {
  disable: 'ssl=0',
  allow: 'ssl=0',
  prefer: 'uselibpqcompat=true&sslmode=prefer',
  require: 'uselibpqcompat=true&sslmode=require',
  'verify-ca': 'uselibpqcompat=true&sslmode=verify-ca',
  'verify-full': 'sslmode=verify-full',
  true: 'ssl=true',
  1: 'ssl=true',
  false: 'ssl=0',
  0: 'ssl=0',
  'no-verify': 'sslmode=no-verify',
};

/**
 * Converts a server's URL to the form that its driver reads. Python's parameters are translated: `pg` and
 * `mysql2` ignore a parameter that they do not know, or fail on it outside of any call.
 *
 * @param scheme the one that the driver knows
 * @param rest the URL after its own scheme and `:`
 * @param translated translates a parameter
 */
function serverUrl(
  scheme: string,
  rest: string,
  translated: (parameter: string) => string,
): string {
  const [, authority = '', path = '', query = ''] =
    /^\/\/([^/?#]*)([^?#]*)\??(.*)$/s.exec(rest) ?? [];
  const parameters = query
    .split('&')
    .filter((parameter) => parameter !== '')
    .map(translated);
  const isSocket = parameters.some((parameter) => /^(?:host|socketPath)=./.test(parameter));
  const isHostless = isSocket && /^(?:[^@]*@)?$/.test(authority);
  const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
  const text = `${scheme}://${authority}${isHostless ? NO_HOST : ''}${path}${search}`;
  if (rest.includes('#') || !isComplete(text)) {
    throw invalid(
      'url',
      `must be ${scheme}://HOST:PORT/DATABASE with USER:PASSWORD@ before HOST, ` +
        'special characters in it percent-encoded',
    );
  }
  return text;
}

function isComplete(text: string): boolean {
  try {
    const { hostname, username, password, pathname } = new URL(text);
    // Drivers differ in what they make of an incomplete code such as `%zz`.
    for (const part of [hostname, username, password, pathname]) decodeURIComponent(part);
    // With an unencoded `/` in its password, `ada:1/2@host/database` would name the host `ada`.
    return hostname !== '' && pathname.length > 1 && !/@.*\//.test(pathname);
  } catch {
    return false;
  }
}

function splitParameter(parameter: string): { readonly name: string; readonly value: string } {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? [];
  return { name, value };
}

function postgresParameter(parameter: string): string {
  const { name, value } = splitParameter(parameter);
  if (name === 'ssl') return sslParameter(value.toLowerCase());
  // `pg8000` names the socket itself, `pg` the folder that contains it.
  if (name === 'unix_sock') return `host=${value.replace(/(?:\/|%2F)\.s\.PGSQL\.\d+$/i, '')}`;
  return parameter;
}

function mysqlParameter(parameter: string): string {
  const { name, value } = splitParameter(parameter);
  return name === 'unix_socket' ? `socketPath=${value}` : parameter;
}

function sslParameter(mode: string): string {
  const known = Object.hasOwn(SSL_PARAMETERS, mode) ? SSL_PARAMETERS[mode] : undefined;
  if (known !== undefined) return known;
  const modes = Object.keys(SSL_PARAMETERS).join(', ');
  throw invalid('url', `must have one of ${modes} as its parameter ssl`);
}
