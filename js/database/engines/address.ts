/**
 * Parses the URL of a database. Accepts Python's spelling too (`postgresql+asyncpg://`,
 * `sqlite+aiosqlite:///`), so that both sides can use the same URL.
 *
 * No error shows the URL or the message of `new URL`: most invalid URLs hold a password with a stray
 * character.
 */
import { invalid, invalidValue } from '../../errors/invalid.js';
import type { EngineKind, FileKind, ServerKind } from './engine.js';

/** The location of a database: a file or a server. */
export type Address =
  | { readonly kind: FileKind; readonly path: string }
  | { readonly kind: ServerKind; readonly url: string };

/** The path of a database in memory. */
export const IN_MEMORY = ':memory:';

/** Whether the database outlives its connection. */
export function isDurable(address: Address): boolean {
  return !('path' in address) || address.path !== IN_MEMORY;
}

/** The schemes of each engine. */
const ENGINE_SCHEMES: Readonly<Record<EngineKind, readonly string[]>> = {
  sqlite: ['sqlite'],
  postgresql: ['postgresql', 'postgres'],
  mysql: ['mysql', 'mariadb'],
};

/** What the options of an engine may be. Not a part of `Engine`: options are checked without Kysely. */
interface OptionRules {
  /** The name in the message that refuses the option `schema`; `undefined` if the engine has schemas. */
  readonly withoutSchemas: string | undefined;
  /** Whether a connection sets its durability. If not, only the server can. */
  readonly setsDurability: boolean;
  /** Whether the driver's option `ssl` may be a text. The one of `pg` may not: it would fail outside of any call. */
  readonly takesSslText: boolean;
}

export const OPTION_RULES: Readonly<Record<EngineKind, OptionRules>> = {
  sqlite: { withoutSchemas: 'SQLite', setsDurability: true, takesSslText: true },
  postgresql: { withoutSchemas: undefined, setsDurability: true, takesSslText: false },
  mysql: { withoutSchemas: undefined, setsDurability: false, takesSslText: true },
};

export const ENGINE_KINDS = Object.keys(ENGINE_SCHEMES) as readonly EngineKind[];

/** The engine of each scheme. */
export const SCHEMES: ReadonlyMap<string, EngineKind> = new Map(
  ENGINE_KINDS.flatMap((kind) => ENGINE_SCHEMES[kind].map((scheme) => [scheme, kind])),
);

const KNOWN = 'sqlite:, postgresql://, mysql:// or mariadb://';

/** @throws SessionError `invalid_argument`, without the URL */
export function parseAddress(url: unknown): Address {
  if (typeof url !== 'string') throw invalidValue('url', 'must be a string', url);
  const match = /^([a-z]+)(?:\+[a-z0-9_]+)?:(.*)$/is.exec(url);
  const [, scheme = '', rest = ''] = match ?? [];
  const kind = SCHEMES.get(scheme.toLowerCase());
  switch (kind) {
    case 'sqlite':
      return { kind, path: pathOf(rest) };
    case 'postgresql':
    case 'mysql':
      return { kind, url: serverUrl(kind, rest) };
    case undefined:
      throw invalid('url', `must begin with ${KNOWN}`);
  }
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
 * @param rest the URL after `scheme:`
 */
function serverUrl(kind: ServerKind, rest: string): string {
  const [, authority = '', path = '', query = ''] =
    /^\/\/([^/?#]*)([^?#]*)\??(.*)$/s.exec(rest) ?? [];
  const parameters = query
    .split('&')
    .filter((parameter) => parameter !== '')
    .map((parameter) => translated(kind, parameter));
  const isSocket = parameters.some((parameter) => /^(?:host|socketPath)=./.test(parameter));
  const isHostless = isSocket && /^(?:[^@]*@)?$/.test(authority);
  const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
  const text = `${kind}://${authority}${isHostless ? NO_HOST : ''}${path}${search}`;
  if (rest.includes('#') || !isComplete(text)) {
    throw invalid(
      'url',
      `must be ${kind}://HOST:PORT/DATABASE with USER:PASSWORD@ before HOST, ` +
        'special characters in it percent-encoded',
    );
  }
  return text;
}

function isComplete(text: string): boolean {
  try {
    const { hostname, pathname } = new URL(text);
    // With an unencoded `/` in its password, `ada:1/2@host/database` would name the host `ada`.
    return hostname !== '' && pathname.length > 1 && !/@.*\//.test(pathname);
  } catch {
    return false;
  }
}

/** Translates a parameter, by the engine whose driver reads it. */
const TRANSLATIONS: Readonly<
  Record<ServerKind, (name: string, value: string, parameter: string) => string>
> = {
  postgresql(name, value, parameter) {
    if (name === 'ssl') return sslParameter(value.toLowerCase());
    // `pg8000` names the socket itself, `pg` the folder that contains it.
    if (name === 'unix_sock') return `host=${value.replace(/(?:\/|%2F)\.s\.PGSQL\.\d+$/i, '')}`;
    return parameter;
  },
  mysql: (name, value, parameter) => (name === 'unix_socket' ? `socketPath=${value}` : parameter),
};

function translated(kind: ServerKind, parameter: string): string {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? [];
  return TRANSLATIONS[kind](name, value, parameter);
}

function sslParameter(mode: string): string {
  const known = Object.hasOwn(SSL_PARAMETERS, mode) ? SSL_PARAMETERS[mode] : undefined;
  if (known !== undefined) return known;
  const modes = Object.keys(SSL_PARAMETERS).join(', ');
  throw invalid('url', `must have one of ${modes} as its parameter ssl`);
}
