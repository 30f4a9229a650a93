import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** Returns a new folder for the files of a test, which is deleted when the test file ends. */
export function newFolder(): string {
  if (made.length === 0) process.once('exit', deleteFolders);
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-'));
  made.push(folder);
  return folder;
}

function deleteFolders(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
