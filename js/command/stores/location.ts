import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SessionError } from '../../errors/errors.js';
import { invalid } from '../../errors/invalid.js';
import { parseAddress } from '../../database/engines/address.js';
import { parseUri } from '../../uri/parse_uri.js';

/** The location of a store. */
export type StoreLocation = {
  /** Is the same for all spellings of one path. */
  readonly place: string;
} & (
  | { readonly kind: 'database'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string }
);

/** The reasons why an agent engine can be neither source nor target. */
const AGENT_ENGINE_REASONS = {
  FROM: 'which lists neither apps nor states without sessions, so that a copy would be incomplete',
  TO: 'which sets the times of its sessions itself, so that a copy could not be verified',
};

/**
 * Parses FROM or TO.
 *
 * @throws SessionError `invalid_argument`, `unsupported`; the message does not show the text
 */
export function parseLocation(argument: 'FROM' | 'TO', text: string): StoreLocation {
  if (text === '') throw invalid(argument, 'must not be empty');
  if (text === '-') throw invalid(argument, 'must be a path; standard input is /dev/stdin');
  if (/^file:\/\//i.test(text)) return fileAt(filePath(text, argument));
  // A single letter before the colon is a Windows drive.
  if (!/^[a-z][a-z0-9+.-]+:/i.test(text)) return fileAt(text);
  const uri = parseUri(text, argument);
  switch (uri.kind) {
    case 'database':
      if (uri.durable) return databaseAt(uri.url);
      throw inMemoryError(argument);
    case 'memory':
      throw inMemoryError(argument);
    case 'indexeddb':
      throw new SessionError(
        'unsupported',
        `${argument} is a browser's database, which this command cannot reach. ` +
          'Use exportSessions and importSessions of adk-session-wasm/files in its page.',
      );
    case 'vertexai':
      throw new SessionError(
        'unsupported',
        `${argument} is an agent engine, ${AGENT_ENGINE_REASONS[argument]}. Copy its sessions by ` +
          'exportSession and importSession of adk-session-wasm/files.',
      );
  }
}

function fileAt(path: string): StoreLocation {
  return { kind: 'file', path, place: realPath(path) };
}

function databaseAt(url: string): StoreLocation {
  const address = parseAddress(url);
  return { kind: 'database', url, place: 'path' in address ? realPath(address.path) : url };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It does not exist yet.
    return resolve(path);
  }
}

function filePath(url: string, argument: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw invalid(argument, 'must be the file URL of a local path, without a host');
  }
}

function inMemoryError(argument: string): SessionError {
  return invalid(argument, 'must not be a store in memory; name a file');
}

/** Returns a store's name for output, without password and parameters. */
export function describeStore(text: string): string {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text) || /^sqlite/i.test(text))
    return text.replace(/\?.*$/s, '');
  try {
    const { protocol, username, host, pathname } = new URL(text);
    return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
  } catch {
    return 'a database';
  }
}
