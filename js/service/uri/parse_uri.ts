/**
 * Parses the URI of a session service. No error shows any part of it: a text without a known scheme may be a
 * password.
 */
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import {
  type Address,
  FORMS,
  kindOfScheme,
  parseAddress,
  splitUri,
} from '../../stores/database/engine/address.js';
import { requireId } from '../../values/model/values/ids.js';
import { isEngineName } from '../../stores/vertex/rest/engine_address.js';

/** The service that a URI names. */
export type ServiceUri =
  | { readonly kind: 'memory' }
  /** `name` is `undefined` for the default database. */
  | { readonly kind: 'indexeddb'; readonly name: string | undefined }
  | { readonly kind: 'database'; readonly address: Address; readonly url: string }
  /** `agentEngineId` is `undefined` if each app name is an engine's number or name. */
  | { readonly kind: 'vertexai'; readonly agentEngineId: string | undefined };

const VALID_FORMS = `memory://, ${FORMS.join(', ')}, indexeddb:NAME or agentengine://ENGINE`;

/**
 * Parses the URI.
 *
 * @param argument name of the argument in errors
 * @throws SessionError `invalid_argument`
 */
export function parseUri(uri: unknown, argument = 'uri'): ServiceUri {
  if (typeof uri !== 'string') throw invalidValue(argument, 'must be a string', uri);
  const { scheme, rest } = splitUri(uri);
  if (kindOfScheme(scheme) !== undefined) {
    return { kind: 'database', address: parseAddress(uri), url: uri };
  }
  switch (scheme) {
    case 'memory':
      if (rest === '' || rest === '//') return { kind: 'memory' };
      throw invalid(argument, 'must end after memory://; a SQLite file is sqlite:PATH');
    case 'indexeddb':
      return { kind: 'indexeddb', name: parseDatabaseName(rest, argument) };
    case 'vertexai':
    case 'agentengine':
      return { kind: 'vertexai', agentEngineId: parseEngineName(rest, argument) };
    default:
      throw invalid(argument, `must be ${VALID_FORMS}`);
  }
}

function parseDatabaseName(rest: string, argument: string): string | undefined {
  const text = rest.replace(/^\/\//, '');
  if (text === '') return undefined;
  let name: string | undefined;
  try {
    name = decodeURIComponent(text);
  } catch {
    // Reported below.
  }
  if (name !== undefined) return requireId('name', name);
  throw invalid(argument, 'must be indexeddb:NAME with special characters percent-encoded');
}

function parseEngineName(rest: string, argument: string): string | undefined {
  const name = rest.replace(/^\/\//, '');
  if (name === '') return undefined;
  if (isEngineName(name)) return name;
  throw invalid(
    argument,
    'must have an agent engine after its scheme: its number, or ' +
      'projects/PROJECT/locations/LOCATION/reasoningEngines/NUMBER',
  );
}
