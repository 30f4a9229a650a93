import {
  type ArtifactHome,
  type ByteRange,
  copyFiles,
  type ErasedOwner,
  type FileVersion,
  type NewFile,
  type SeparateFiles,
} from '../../stores/artifacts/artifact_home.js';
import {
  ANY_SESSION,
  type FileOwner,
  filenameOf,
  type FilePlace,
  placeOf,
} from '../../stores/artifacts/artifact_names.js';
import { blobOf } from '../../stores/artifacts/file_bytes.js';
import { factsOfSize, fileOfPart, partOf } from '../../stores/artifacts/file_versions.js';
import { ownFactsOf, withOwnFacts } from '../../stores/artifacts/own_facts.js';
import { SessionError } from '../../values/errors/errors.js';
import type {
  ArtifactService,
  ArtifactUsage,
  ArtifactVersion,
} from '../../values/model/artifact.js';
import { essenceOf } from '../../values/model/values/media_type.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';

/**
 * Keeps files in an artifact service that the user gives, such as one of `@google/adk`. Each file is read and written
 * whole. Numbers of deleted files are given again, two puts at once with one id may both be stored, and a fork has other
 * numbers if versions are missing. What a program leaves when it ends during a deletion stays, and so do the files of
 * sessions when their user is deleted: the service lists files of one session alone.
 */
export class GivenHome implements ArtifactHome, SeparateFiles {
  readonly separate = this;
  readonly readsWhole = true;
  readonly #service: Required<ArtifactService>;

  constructor(service: ArtifactService) {
    // The option was checked: it has the seven methods that are called here.
    this.#service = service as Required<ArtifactService>;
  }

  async put(place: FilePlace, file: NewFile): Promise<FileVersion> {
    const { data, createTime } = file;
    const blob = await blobOf(data, place.name);
    const facts = factsOfSize(file, blob.size);
    const { mimeType, displayName } = facts;
    const artifact = await partOf({ facts }, blob);
    // A text may lose bytes as a part: a mark of its order, or what is no UTF-8.
    const { size } = artifact.text === undefined ? blob : new Blob([artifact.text]);
    // Google Cloud Storage takes only texts as values of metadata.
    const customMetadata = withOwnFacts(facts, { mimeType, displayName, size }, JSON.stringify);
    const version = await this.#service.saveArtifact({
      ...requestOf(place),
      artifact,
      customMetadata,
    });
    return { version, facts, size, createTime };
  }

  async versions(place: FilePlace): Promise<readonly FileVersion[]> {
    const versions = await this.#service.listArtifactVersions(requestOf(place));
    return versions.map(toFileVersion);
  }

  async names(owner: FileOwner): Promise<readonly string[]> {
    const { sessionId = ANY_SESSION, ...user } = owner;
    const names = await this.#service.listArtifactKeys({ ...user, sessionId });
    return names.flatMap((filename) => {
      try {
        const place = placeOf({ ...user, sessionId, filename });
        return place.owner.sessionId === owner.sessionId ? place.name : [];
      } catch {
        // Another program may have stored a name that is refused here.
        return [];
      }
    });
  }

  async open(place: FilePlace, version: number, range: ByteRange): Promise<Blob | undefined> {
    const artifact = await this.#service.loadArtifact({ ...requestOf(place), version });
    // A reference to a file elsewhere has no bytes here.
    if (artifact?.inlineData?.data === undefined && artifact?.text === undefined) return undefined;
    const { data, facts } = fileOfPart(artifact);
    return data.slice(range.start, range.end, facts.mimeType);
  }

  async delete(place: FilePlace): Promise<void> {
    await this.#service.deleteArtifact(requestOf(place));
  }

  usage(): Promise<ArtifactUsage> {
    const message = 'The artifact service that was given does not tell how much its files take.';
    return Promise.reject(new SessionError('unsupported', message));
  }

  async erase({ appName, userId, sessionId }: ErasedOwner): Promise<void> {
    const owner = { appName, userId, sessionId };
    for (const name of await this.names(owner)) await this.delete({ owner, name });
  }

  copy(from: CompositeSessionKey, to: CompositeSessionKey, call: Abortable): Promise<void> {
    return copyFiles(this, from, to, call);
  }
}

function requestOf({ owner, name }: FilePlace): CompositeSessionKey & { filename: string } {
  const { appName, userId, sessionId = ANY_SESSION } = owner;
  return { appName, userId, sessionId, filename: filenameOf(owner, name) };
}

function toFileVersion(stored: ArtifactVersion): FileVersion {
  const { version, createTime = NaN } = stored;
  const {
    hash,
    size = Infinity,
    author,
    id,
    customMetadata,
    ...own
  } = ownFactsOf(stored.customMetadata);
  // Some services tell this type for a text too. The part that they load tells which it is.
  const isPlain = essenceOf(stored.mimeType) === 'text/plain';
  const mimeType = own.mimeType ?? (isPlain ? undefined : stored.mimeType);
  const displayName = own.displayName ?? stored.displayName;
  const facts = { author, id, customMetadata, mimeType, displayName };
  return { version, facts, size: stored.size ?? size, createTime, hash };
}
