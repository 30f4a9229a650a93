import {
  type ArtifactHome,
  type ByteRange,
  copyFiles,
  type ErasedOwner,
  type FilesApart,
  type FileVersion,
  type NewFile,
} from '../../stores/artifacts/artifact_home.js';
import {
  type FileOwner,
  filenameOf,
  type FilePlace,
  placeOf,
} from '../../stores/artifacts/artifact_names.js';
import { blobOf, decideAmong, fileOfPart, partOf } from '../../stores/artifacts/file_versions.js';
import { ownFactsOf, withOwnFacts } from '../../stores/artifacts/own_facts.js';
import { SessionError } from '../../values/errors/errors.js';
import type { ArtifactUsage, ArtifactVersion } from '../../values/model/artifact.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { ArtifactService } from '../invocation/running_invocation.js';

/** The session of a user's files, for a service that asks for one in each request. */
const ANY_SESSION = 'user-files';

/**
 * Keeps files in an artifact service that the user gives, such as one of `@google/adk`. Each file is read and written
 * whole. Numbers of deleted files are given again, two puts at once with one id may both be stored, and a fork has other
 * numbers if versions are missing. What a program leaves when it ends during a deletion stays, and so do the files of
 * sessions when their user is deleted: the service lists files of one session alone.
 */
export class GivenHome implements ArtifactHome, FilesApart {
  readonly apart = this;
  readonly #service: Required<ArtifactService>;

  constructor(service: ArtifactService) {
    // The option was checked: it has the seven methods that are called here.
    this.#service = service as Required<ArtifactService>;
  }

  async put(place: FilePlace, { data, facts, ...file }: NewFile): Promise<FileVersion> {
    const wanted = { facts, version: file.version };
    const { stored } = decideAmong(await this.versions(place), wanted);
    if (stored !== undefined) return stored;
    const blob = await blobOf(data);
    const { mimeType, displayName } = facts;
    const artifact = await partOf({ facts }, blob);
    const customMetadata = withOwnFacts(facts, { mimeType, displayName });
    const request = { ...requestOf(place), artifact };
    const version = await this.#service.saveArtifact(
      customMetadata === undefined ? request : { ...request, customMetadata },
    );
    return { version, facts, size: blob.size, createTime: file.createTime };
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
        return []; // a name of a file that can not be named here
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

  async remove(place: FilePlace, version: number | undefined): Promise<void> {
    // It cannot take one version back.
    if (version === undefined) await this.#service.deleteArtifact(requestOf(place));
  }

  usage(): Promise<ArtifactUsage> {
    const message = 'The artifact service that was given does not tell how much its files take.';
    return Promise.reject(new SessionError('unsupported', message));
  }

  async erase({ appName, userId, sessionId }: ErasedOwner): Promise<void> {
    const owner = { appName, userId, sessionId };
    for (const name of await this.names(owner)) await this.remove({ owner, name }, undefined);
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
  const { version, size = Infinity, createTime = NaN } = stored;
  const { hash, ...own } = ownFactsOf(stored.customMetadata);
  const mimeType = own.mimeType ?? stored.mimeType;
  const displayName = own.displayName ?? stored.displayName;
  return { version, facts: { ...own, mimeType, displayName }, size, createTime, hash };
}
