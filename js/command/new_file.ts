import { open, rename, rm, stat } from 'node:fs/promises';
import { invalid } from '../values/errors/invalid.js';

/**
 * Writes a new file. It has another name until it is complete, so that an interrupted copy leaves no file that looks
 * complete.
 *
 * @throws SessionError `invalid_argument` if the path exists
 */
export async function writeNewFile(
  path: string,
  work: (write: (text: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  if (await exists(path)) throw invalid('TO', 'exists; name a new file');
  const temporaryPath = `${path}.part`;
  // An interrupted copy may have left this file. If it is a link, it must not be written through.
  await rm(temporaryPath, { force: true });
  const file = await open(temporaryPath, 'wx');
  try {
    await work((text) => file.appendFile(text));
    await file.sync();
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
