/**
 * Reads the URI of a session service. No error shows it, nor a piece of it: what has no known scheme in
 * front may be a password.
 */
import { IN_MEMORY, parseAddress, SCHEMES } from '../database/address.js';
import { SessionError } from '../errors.js';
import { requireId } from '../ids.js';
import { kindOf } from '../json/rules.js';
import { invalid } from '../service/call.js';

/** Which service a URI names. */
export type ServiceUri =
  | { readonly kind: 'memory' }
  /** Without a name it is the default one. */
  | { readonly kind: 'indexeddb'; readonly name: string | undefined }
  | {
      readonly kind: 'database';
      readonly engine: ReturnType<typeof parseAddress>['kind'];
      readonly durable: boolean;
      readonly url: string;
    };

const KNOWN = 'memory://, sqlite:PATH, postgresql://…, mysql://…, mariadb://… or indexeddb:NAME';

/**
 * @param argument what errors call it
 * @throws SessionError `invalid_argument`; `unsupported` for a service that is not to be had here
 */
export function parseUri(uri: unknown, argument = 'uri'): ServiceUri {
  if (typeof uri !== 'string') throw invalid(argument, `must be a string; it is ${kindOf(uri)}`);
  const [, scheme = '', rest = ''] = /^([a-z]+)(?:\+[a-z0-9_]+)?:(.*)$/is.exec(uri) ?? [];
  const name = scheme.toLowerCase();
  if (Object.hasOwn(SCHEMES, name)) {
    const address = parseAddress(uri);
    const durable = address.kind !== 'sqlite' || address.path !== IN_MEMORY;
    return { kind: 'database', engine: address.kind, durable, url: uri };
  }
  switch (name) {
    case 'memory':
      if (rest === '' || rest === '//') return { kind: 'memory' };
      throw invalid(argument, 'must have nothing behind memory://; a SQLite file is sqlite:PATH');
    case 'indexeddb':
      return { kind: 'indexeddb', name: databaseName(rest, argument) };
    case 'vertexai':
    case 'agentengine':
      throw new SessionError(
        'unsupported',
        `Sessions of Vertex AI (${name}:) are not to be had in this version of the package; ` +
          `use ${KNOWN}.`,
      );
    default:
      throw invalid(argument, `must be ${KNOWN}`);
  }
}

function databaseName(rest: string, argument: string): string | undefined {
  const text = rest.replace(/^\/\//, '');
  if (text === '') return undefined;
  let name: string | undefined;
  try {
    name = decodeURIComponent(text);
  } catch {
    // Told below.
  }
  if (name !== undefined) return requireId('name', name);
  throw invalid(argument, 'must be indexeddb:NAME, special characters in it percent-encoded');
}
