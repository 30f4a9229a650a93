import type { Call } from '../../core/call/call.js';
import { SessionError } from '../../values/errors/errors.js';
import { isCompatible, PROTOCOL_HEADER, PROTOCOL_VERSION, VERSION_PATH } from '../http/protocol.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import { isPlainObject } from '../../values/json/rules.js';
import type { HttpConnection, ServerKind } from './connection/connection.js';

/** Asks a server for its kind. */
export async function askServerKind(connection: HttpConnection, call: Call): Promise<ServerKind> {
  const request = { method: 'GET', path: VERSION_PATH } as const;
  const kind = await connection.request<ServerKind>(request, call, (json, headers) => {
    const version = headers.get(PROTOCOL_HEADER);
    if (version === null) {
      if (!isPlainObject(json) || json.language !== 'python') return undefined;
      return { isHandler: false, keepsOperations: false, runsAgents: false };
    }
    if (!isCompatible(version)) throw otherVersion(version);
    // An answer without this member was cut off. If it counted as `false`, a repeated write could be applied twice.
    if (!isPlainObject(json) || typeof json.keepsOperations !== 'boolean') return undefined;
    const { keepsOperations, runsAgents, maxBodyBytes: most } = json;
    const maxBodyBytes = isRevision(most) ? most : undefined;
    return { isHandler: true, keepsOperations, runsAgents: runsAgents === true, maxBodyBytes };
  });
  return kind!;
}

function otherVersion(version: string): SessionError {
  const message = `The server has version ${version.slice(0, 20)} of the protocol, this client ${PROTOCOL_VERSION}; update the older side.`;
  return new SessionError('unsupported', message);
}
