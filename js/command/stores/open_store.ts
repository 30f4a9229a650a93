import { invalid } from '../../errors/invalid.js';
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SessionError } from '../../errors/errors.js';
import { parseAddress } from '../../database/engines/address.js';
import type { NameOptions } from '../../database/tables/table_names.js';
import { parseUri } from '../../uri/parse_uri.js';
import { DatabaseSource } from './database_source.js';
import { DatabaseTarget } from './database_target.js';
import { FileSource, type FileSourceOptions } from './file_source.js';
import { FileTarget } from './file_target.js';
import { FolderTarget } from './folder_target.js';
import type { Source, Target } from './store.js';

/**
 * Returns the source of FROM, which is not opened yet.
 *
 * @throws SessionError `invalid_argument`, `unsupported`; the message does not show the URL
 */
export function makeSource(from: string, options: FileSourceOptions, names: NameOptions): Source {
  const location = parseLocation('FROM', from);
  if (location.kind === 'file') {
    refuseTableNames('from', names);
    return new FileSource(location.path, options);
  }
  if (options.timeUnit !== undefined) {
    throw invalid('--time-unit', 'applies only to files; FROM is a database');
  }
  return new DatabaseSource(location.url, options.apps, names);
}

/**
 * Returns the target of TO, which is not opened yet.
 *
 * @throws SessionError `invalid_argument`, `unsupported`; the message does not show the URL
 */
export function makeTarget(to: string, names: NameOptions): Target {
  const location = parseLocation('TO', to);
  if (location.kind === 'database') return new DatabaseTarget(location.url, names);
  refuseTableNames('to', names);
  return isFolder(location.path) ? new FolderTarget(location.path) : new FileTarget(location.path);
}

/** Returns where a store is. Two spellings of one file have the same place. */
export function placeOf(argument: 'FROM' | 'TO', text: string): string {
  const location = parseLocation(argument, text);
  const { path } = location.kind === 'file' ? location : { path: sqlitePath(location.url) };
  if (path === undefined) return text;
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function sqlitePath(url: string): string | undefined {
  const address = parseAddress(url);
  return 'path' in address ? address.path : undefined;
}

function refuseTableNames(side: 'from' | 'to', { schema, tablePrefix }: NameOptions): void {
  if (schema === undefined && tablePrefix === undefined) return;
  const option = schema === undefined ? 'table-prefix' : 'schema';
  throw invalid(
    `--${side}-${option}`,
    `applies only to databases; ${side.toUpperCase()} is a file`,
  );
}

/** Returns whether the path is an existing folder, or is written as one. */
function isFolder(path: string): boolean {
  if (/[/\\]$/.test(path)) return true;
  try {
    return statSync(path).isDirectory();
  } catch {
    // Opening it reports why it cannot be used.
    return false;
  }
}

type StoreLocation =
  | { readonly kind: 'database'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string };

/** The reasons why an agent engine can be neither source nor target. */
const AGENT_ENGINE_REASONS = {
  FROM: 'which lists neither apps nor states without sessions, so that a copy would be incomplete',
  TO: 'which sets the times of its sessions itself, so that a copy could not be verified',
};

function parseLocation(argument: 'FROM' | 'TO', text: string): StoreLocation {
  if (text === '') throw invalid(argument, 'must not be empty');
  if (text === '-') throw invalid(argument, 'must be a path; standard input is /dev/stdin');
  if (/^file:\/\//i.test(text)) return { kind: 'file', path: filePath(text, argument) };
  // A single letter before the colon is a Windows drive.
  if (!/^[a-z][a-z0-9+.-]+:/i.test(text)) return { kind: 'file', path: text };
  const uri = parseUri(text, argument);
  switch (uri.kind) {
    case 'database':
      if (uri.durable) return { kind: 'database', url: uri.url };
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
