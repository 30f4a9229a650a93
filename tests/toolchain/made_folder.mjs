// Folders below target/ that several test files need, and the first of them makes.

import { mkdtempSync, renameSync, rmSync } from 'node:fs';

/**
 * Makes a folder unless it is made. It appears as a whole: two processes may make it at the same time, and one that is
 * killed leaves no half of it.
 *
 * @param {string} folder
 * @param {() => boolean} isMade
 * @param {(folder: string) => void} make fills an empty folder, which then gets the name
 * @returns {string} the folder
 */
export function madeFolder(folder, isMade, make) {
  if (isMade()) return folder;
  const part = mkdtempSync(`${folder}.`);
  try {
    make(part);
    if (!isMade()) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(part, folder);
    }
  } catch (error) {
    // Another process may have put its own there in this moment.
    if (!isMade()) throw error;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return folder;
}
