import type { Failure } from './engine.js';

/** Maps codes to failures by the codes' first characters. The longest matching entry decides. */
export function failures(table: Readonly<Partial<Record<Failure, string>>>) {
  const known = Object.entries(table).flatMap(([failure, codes]) =>
    codes.split(' ').map((code): [string, Failure] => [code, failure as Failure]),
  );
  known.sort(([one], [other]) => other.length - one.length);
  return (code: string): Failure => known.find(([start]) => code.startsWith(start))?.[1] ?? 'other';
}

/** Node's codes when the server cannot be reached, and when the connection breaks. */
export const UNREACHABLE =
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ENOENT';
export const LOST = 'ECONNRESET EPIPE';

/** Node's codes for a certificate that is not trusted. */
export const UNTRUSTED =
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_ CERT_ ERR_TLS_CERT_ALTNAME_INVALID';
