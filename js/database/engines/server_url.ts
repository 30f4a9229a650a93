/**
 * Converts a server's URL to the form that its driver reads. Python's parameters are translated: `pg` and
 * `mysql2` ignore a parameter that they do not know, or fail on it outside of any call.
 */
import { invalid } from '../../errors/invalid.js';
import type { ServerKind } from './engine.js';

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
 * @param rest the URL after `scheme:`
 * @throws SessionError `invalid_argument`, without the URL
 */
export function serverUrl(kind: ServerKind, rest: string): string {
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
    return hostname !== '' && pathname.length > 1;
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
