/** Opens the home that the option `artifacts` names. */
import type { ArtifactHome } from '../../stores/artifacts/artifact_home.js';
import { FILE_STORES, LocalHome } from '../../stores/artifacts/local_home.js';
import { IndexedDbLocalStore } from '../../stores/cache/local_store/indexed_db_local_store.js';
import { MemoryLocalStore } from '../../stores/cache/local_store/memory_local_store.js';
import type { ArtifactService } from '../../values/model/artifact.js';
import { Artifacts, type FiledCore } from './artifacts.js';
import { GivenHome } from './given_home.js';

// A file of its own would be another part of each page.
export { attachFiles } from './attach_files.js';
export { withFiles } from '../../values/model/event/place_files.js';

/** The option `artifacts`, if it is not `false`. */
export type ArtifactsOption =
  | true
  | {
      /** The path of the folder, which is made if it is not there. */
      readonly folder: string;
    }
  | ArtifactService;

/** Opens the home beside the sessions of a service. @param homes those that a page may have */
export type OpenHome = (homes: {
  readonly openInMemory: typeof openInMemory;
  readonly openInIndexedDb: typeof openInIndexedDb;
}) => ArtifactHome | Promise<ArtifactHome>;

/** @param beside opens the home for `true` */
export async function openArtifacts(
  option: ArtifactsOption,
  beside: OpenHome | undefined,
  core: FiledCore,
): Promise<Artifacts> {
  return new Artifacts(await openHome(option, beside), core);
}

async function openHome(
  option: ArtifactsOption,
  beside: OpenHome | undefined,
): Promise<ArtifactHome> {
  if (option === true) return beside!({ openInMemory, openInIndexedDb });
  if ('folder' in option) {
    const { FolderHome } = await import('../../stores/artifacts/folder_home.js');
    return new FolderHome(option.folder);
  }
  return new GivenHome(option);
}

/** Opens files in memory. */
function openInMemory(): ArtifactHome {
  return new LocalHome(new MemoryLocalStore(FILE_STORES), undefined);
}

/** Opens files in a database of their own: a browser stores a Blob in any, and the layout of the sessions stays. */
function openInIndexedDb(name: string): ArtifactHome {
  const database = {
    name,
    stores: FILE_STORES,
    data: 'the files of the sessions',
    kind: 'indexeddb',
  };
  // Whoever deletes the database deletes all files. The next call makes a new one.
  return new LocalHome(new IndexedDbLocalStore(() => undefined, database), name);
}
