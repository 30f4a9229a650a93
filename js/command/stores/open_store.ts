import { invalid } from '../../errors/invalid.js';
import { statSync } from 'node:fs';
import type { NameOptions } from '../../database/tables/table_names.js';
import { DatabaseSource } from './database_source.js';
import { DatabaseTarget } from './database_target.js';
import { FileSource, type FileSourceOptions } from './file_source.js';
import { FileTarget } from './file_target.js';
import { FolderTarget } from './folder_target.js';
import type { StoreLocation } from './location.js';
import type { Source, Target } from './store.js';

/**
 * Returns the source of FROM, which is not opened yet.
 *
 * @throws SessionError `invalid_argument` if an option does not apply to it
 */
export function makeSource(
  location: StoreLocation,
  options: FileSourceOptions,
  names: NameOptions,
): Source {
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
 * @throws SessionError `invalid_argument` if an option does not apply to it
 */
export function makeTarget(location: StoreLocation, names: NameOptions): Target {
  if (location.kind === 'database') return new DatabaseTarget(location.url, names);
  refuseTableNames('to', names);
  return isFolder(location.path) ? new FolderTarget(location.path) : new FileTarget(location.path);
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
