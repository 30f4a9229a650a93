// Puts files until the page is gone, telling the server of each one that was acknowledged.

import { IndexedDbSessionService, type IndexedDbSessionServiceOptions } from 'adk-session-wasm';
import { keyOf } from '../events.js';
import { acknowledge } from '../site.js';

/** Bytes of each file. All of them or none have to be there. */
export const FILE_BYTES = 2 * 2 ** 20;

const key = keyOf('files');

export async function putForEver(options: IndexedDbSessionServiceOptions): Promise<void> {
  const { artifacts } = await opened(options);
  const put = async (filename: string): Promise<void> => {
    for (;;) {
      const { version } = await artifacts.put({
        ...key,
        filename,
        data: new Uint8Array(FILE_BYTES).fill(7),
      });
      acknowledge(`${filename} ${version}`);
    }
  };
  await Promise.all([put('one'), put('other')]);
}

/** @returns the stored versions as they were acknowledged, those that are not whole, and what is stored in all */
export async function readPuts(options: IndexedDbSessionServiceOptions) {
  const service = await opened(options);
  const { artifacts } = service;
  const [versions, torn]: [string[], string[]] = [[], []];
  for (const filename of await artifacts.listArtifactKeys(key)) {
    for (const version of await artifacts.listVersions({ ...key, filename })) {
      const name = `${filename} ${version}`;
      versions.push(name);
      const blob = await artifacts.open({ ...key, filename, version }).catch(() => undefined);
      const last = await blob
        ?.slice(-1)
        .arrayBuffer()
        .catch(() => undefined);
      const isWhole =
        blob?.size === FILE_BYTES && last !== undefined && new Uint8Array(last)[0] === 7;
      if (!isWhole) torn.push(name);
    }
  }
  const { bytes } = await artifacts.usage(key);
  await service.close();
  return { versions, torn, bytes };
}

async function opened(options: IndexedDbSessionServiceOptions): Promise<IndexedDbSessionService> {
  const service = new IndexedDbSessionService({ ...options, artifacts: true });
  await service.getOrCreateSession(key);
  return service;
}
