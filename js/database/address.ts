/**
 * Reads the URL of a database. Python's spelling is taken as well (`postgresql+asyncpg://`,
 * `sqlite+aiosqlite:///`), so that both sides can be given the same one.
 *
 * No error shows the URL, nor what `new URL` says of it: a password with a stray character in it is
 * what most of the bad ones hold.
 */
import { invalid } from '../service/call.js';
import { kindOf } from '../json/rules.js';
import type { EngineKind } from './engine.js';

/** Where a database is: a file, or a server. */
export type Address =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: Exclude<EngineKind, 'sqlite'>; readonly url: string };

/** The path that keeps everything in memory. */
export const IN_MEMORY = ':memory:';

/** The engine of each scheme. */
export const SCHEMES: Readonly<Record<string, EngineKind>> = {
  sqlite: 'sqlite',
  postgresql: 'postgresql',
  postgres: 'postgresql',
  mysql: 'mysql',
  mariadb: 'mysql',
};

const KNOWN = 'sqlite:, postgresql://, mysql:// or mariadb://';

/** @throws SessionError `invalid_argument`, without the URL */
export function parseAddress(url: unknown): Address {
  if (typeof url !== 'string') throw invalid('url', `must be a string; it is ${kindOf(url)}`);
  const match = /^([a-z]+)(?:\+[a-z0-9_]+)?:(.*)$/is.exec(url);
  const [, scheme = '', rest = ''] = match ?? [];
  const name = scheme.toLowerCase();
  const kind = Object.hasOwn(SCHEMES, name) ? SCHEMES[name] : undefined;
  if (kind === undefined) throw invalid('url', `must begin with ${KNOWN}`);
  return kind === 'sqlite' ? { kind, path: pathOf(rest) } : { kind, url: serverUrl(kind, rest) };
}

/** As SQLAlchemy has it: three slashes before a relative path, four before an absolute one. */
function pathOf(rest: string): string {
  const path = rest.replace(/^\/\/(?:\/|$)/, '').replace(/\?.*$/s, '');
  if (path.startsWith('//')) {
    throw invalid('url', 'names a host; a SQLite file is sqlite:PATH or sqlite:///PATH');
  }
  return path === '' ? IN_MEMORY : path;
}

function serverUrl(kind: EngineKind, rest: string): string {
  const text = `${kind}:${rest}`;
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Told below.
  }
  if (url !== undefined && url.hostname !== '' && url.pathname.length > 1) return text;
  throw invalid(
    'url',
    `must be ${kind}://USER:PASSWORD@HOST:PORT/DATABASE, special characters in it percent-encoded`,
  );
}
