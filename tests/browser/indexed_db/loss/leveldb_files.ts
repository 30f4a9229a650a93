// The files in which Chromium stores IndexedDB, after a kill and after damage.

import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of the only origin that has databases in the profile. */
async function folderOf(profile: string): Promise<string> {
  const all = join(profile, 'Default', 'IndexedDB');
  const [folder, ...more] = (await readdir(all)).filter((name) => name.endsWith('.leveldb'));
  assert.ok(folder !== undefined && more.length === 0, 'one origin has databases');
  return join(all, folder);
}

/** The log that is written to. */
export async function newestLog(profile: string): Promise<string> {
  const folder = await folderOf(profile);
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();
  assert.ok(logs.length > 0, 'there is a log');
  return join(folder, logs.at(-1)!);
}

/** Leaves at the log's end what a kill leaves there: the header of a record of 98 bytes, which were not written. */
export async function tearLog(profile: string): Promise<void> {
  const header = Buffer.from([0x12, 0x34, 0x56, 0x78, 98, 0, 1]);
  await appendFile(await newestLog(profile), header);
}

/** Changes a byte of a record in each log and table. */
export async function flipBytes(profile: string): Promise<void> {
  const folder = await folderOf(profile);
  const files = (await readdir(folder)).filter((name) => /\.(log|ldb)$/.test(name));
  for (const file of files) {
    const bytes = await readFile(join(folder, file));
    const place = Math.min(40, bytes.length - 1);
    if (place < 0) continue;
    bytes[place]! ^= 0xff;
    await writeFile(join(folder, file), bytes);
  }
}
