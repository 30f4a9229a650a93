/** The files of a cache: those of its remote, and the ones that the user has opened. */
import type { Call } from '../../core/call/call.js';
import type { endsWithin } from '../../core/call/time_limit.js';
import { placeOf } from '../../stores/artifacts/artifact_names.js';
import type { isOutage } from '../../stores/cache/records/failures.js';
import { optionalCount } from '../../values/errors/option_values.js';
import type {
  ArtifactRequest,
  ArtifactVersion,
  ArtifactVersionRequest,
  OpenArtifactRequest,
  PutArtifactRequest,
} from '../../values/model/artifact.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { ArtifactMethods } from '../artifacts/artifacts.js';
import type { ArtifactService, SaveArtifactRequest } from '../invocation/running_invocation.js';
import { OpenedFiles } from './opened_files.js';

/** What the files of a cache need of it. Functions that it has loaded are given: imports would split it in a bundle. */
export interface CachedArtifactsParts {
  readonly endsWithin: typeof endsWithin;
  readonly isOutage: typeof isOutage;
  /** Asks the files of the remote. Rejects when the local data is forgotten. */
  readonly ask: <T>(work: (remote: Required<ArtifactService>) => Promise<T>) => Promise<T>;
  /** Waits until the remote has a session that was created here. */
  readonly sendSession: (
    key: CompositeSessionKey,
    signal: HostAbortSignal | undefined,
  ) => Promise<void>;
  readonly readTimeoutMs: number;
  /** The name of the browser's Cache. Absent: nothing is kept. */
  readonly cacheName: string | undefined;
  /** Deletes that Cache. */
  readonly forgetFiles: () => Promise<void>;
  /** Whether the local data has not been forgotten since a call began. */
  readonly isPresent: (call: Call) => boolean;
}

type Asked = Exclude<keyof ArtifactService, 'open' | 'put' | 'saveArtifact'>;

/** Returns the methods. What is not kept is asked for. */
export function cachedArtifacts(parts: CachedArtifactsParts): ArtifactMethods {
  const { ask, cacheName } = parts;
  const sendSession = (request: ArtifactRequest): Promise<void> => {
    const { appName, userId, sessionId } = request;
    placeOf(request);
    return parts.sendSession({ appName, userId, sessionId }, request.signal);
  };
  const asked = (method: Asked) => (request: object) =>
    ask<unknown>((remote) => remote[method](request as never));
  const files =
    cacheName === undefined || !('caches' in globalThis) ? undefined : new OpenedFiles(cacheName);
  return {
    loadArtifact: asked('loadArtifact'),
    listArtifactKeys: asked('listArtifactKeys'),
    deleteArtifact: asked('deleteArtifact'),
    listVersions: asked('listVersions'),
    listArtifactVersions: asked('listArtifactVersions'),
    getArtifactVersion: asked('getArtifactVersion'),
    usage: asked('usage'),
    async saveArtifact(request: SaveArtifactRequest) {
      await sendSession(request);
      return ask((remote) => remote.saveArtifact(request));
    },
    async put(request: PutArtifactRequest) {
      await sendSession(request);
      return ask((remote) => remote.put(request));
    },
    async open(request: OpenArtifactRequest, call: Call) {
      if (files === undefined) return ask((remote) => remote.open(request));
      try {
        return await openWith(files, parts, request);
      } finally {
        if (!parts.isPresent(call)) await parts.forgetFiles();
      }
    },
  };
}

async function openWith(
  files: OpenedFiles,
  parts: CachedArtifactsParts,
  request: OpenArtifactRequest,
): Promise<Blob | undefined> {
  const { start: first, end: last, ...whole } = request;
  const start = optionalCount('start', first);
  const end = optionalCount('end', last);
  const place = placeOf(request);
  const version = await versionOf(files, parts, whole);
  if (version === undefined) return undefined;
  const kept = await files.bytes(place, version);
  if (kept !== undefined) return kept.slice(start, end, kept.type);
  const exact = { ...request, version: version.version };
  const opened = await parts.ask((remote) => remote.open(exact));
  const isWhole = start === undefined && end === undefined;
  if (opened !== undefined && isWhole) await files.keepBytes(place, version, opened);
  return opened;
}

/** Asks what is known of a version. If the remote does not answer in time, it is what was known when it was opened. */
async function versionOf(
  files: OpenedFiles,
  { ask, readTimeoutMs, endsWithin, isOutage }: CachedArtifactsParts,
  request: ArtifactVersionRequest,
): Promise<ArtifactVersion | undefined> {
  const place = placeOf(request);
  const asked = ask((remote) => remote.getArtifactVersion(request));
  try {
    if (await endsWithin(readTimeoutMs, asked, request.signal)) {
      const version = await asked;
      await files.keepVersion(place, request.version, version);
      return version;
    }
  } catch (error) {
    const known = isOutage(error) ? await files.version(place, request.version) : undefined;
    if (known !== undefined) return known;
    throw error;
  }
  return (await files.version(place, request.version)) ?? asked;
}
