/**
 * Parses the URL of a database. Accepts Python's spelling too (`postgresql+asyncpg://`,
 * `sqlite+aiosqlite:///`), so that both sides can use the same URL.
 *
 * No error shows the URL or the message of `new URL`: most invalid URLs hold a password with a stray
 * character.
 */
import { invalid, invalidValue } from '../../errors/invalid.js';
import type { EngineKind, FileKind, ServerKind } from './engine.js';
import { serverUrl } from './server_url.js';

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

/** The engine of each scheme. */
export const SCHEMES: ReadonlyMap<string, EngineKind> = new Map(
  (Object.keys(ENGINE_SCHEMES) as EngineKind[]).flatMap((kind) =>
    ENGINE_SCHEMES[kind].map((scheme) => [scheme, kind]),
  ),
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
