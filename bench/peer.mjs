// The peer's files, which its package.json does not export.

import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Returns the URL of a file below the peer's `dist/esm`.
 *
 * @param {string} file
 */
export function peerFile(file) {
  const entry = fileURLToPath(import.meta.resolve('@google/adk'));
  const dist = entry.slice(0, entry.lastIndexOf(`${sep}dist${sep}`));
  return pathToFileURL(join(dist, 'dist', 'esm', file)).href;
}
