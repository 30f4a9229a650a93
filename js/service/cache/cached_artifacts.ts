/** The files of a cache: those of its remote, and the ones that the user has opened. */
import type { Call } from '../../core/call/call.js';
import type { endsWithin } from '../../core/call/time_limit.js';
import { placeOf } from '../../stores/artifacts/artifact_names.js';
import type { isOutage } from '../../stores/cache/records/failures.js';
import { optionalCount } from '../../values/errors/option_values.js';
import type {
  ArtifactRequest,
  ArtifactService,
  ArtifactVersion,
  ArtifactVersionRequest,
  OpenArtifactRequest,
  PutArtifactRequest,
  SaveArtifactRequest,
} from '../../values/model/artifact.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { ArtifactMethods } from '../artifacts/artifacts.js';
import { OpenedFiles } from './opened_files.js';

/** What the files of a cache need of it. Functions that it has loaded are given: imports would split it in a bundle. */
export interface CachedArtifactsParts {
  readonly endsWithin: typeof endsWithin;
  readonly isOutage: typeof isOutage;
  /**
   * Asks the files of the remote. Rejects when the local data is forgotten.
   *
   * @param work gets a signal that fires then too: a request that has not left before `forget` never leaves
   * @param signal the caller's
   * @param created a session that the remote must have first: it may have been created here
   */
  readonly ask: <T>(
    work: (remote: Required<ArtifactService>, signal: HostAbortSignal) => Promise<T>,
    signal: HostAbortSignal | undefined,
    created?: CompositeSessionKey,
  ) => Promise<T>;
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
  const asked = (method: Asked) => (request: Abortable) =>
    ask<unknown>(
      (remote, signal) => remote[method]({ ...request, signal } as never),
      request.signal,
    );
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
      const save = (remote: ArtifactService, signal: HostAbortSignal) =>
        remote.saveArtifact({ ...request, signal });
      return ask(save, request.signal, sessionOf(request));
    },
    async put(request: PutArtifactRequest) {
      return ask(
        (remote, signal) => remote.put({ ...request, signal }),
        request.signal,
        sessionOf(request),
      );
    },
    async open(request: OpenArtifactRequest, call: Call) {
      if (files === undefined) return openOf(parts, request);
      try {
        return await openWith(files, parts, request);
      } finally {
        if (!parts.isPresent(call)) await parts.forgetFiles();
      }
    },
  };
}

/** @throws SessionError `invalid_argument` for the key or the name of a file */
function sessionOf(request: ArtifactRequest): CompositeSessionKey {
  placeOf(request);
  const { appName, userId, sessionId } = request;
  return { appName, userId, sessionId };
}

function openOf(
  { ask }: CachedArtifactsParts,
  request: OpenArtifactRequest,
): Promise<Blob | undefined> {
  return ask((remote, signal) => remote.open({ ...request, signal }), request.signal);
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
  if (kept !== undefined) return kept.slice(start, end, version.mimeType ?? kept.type);
  const opened = await openOf(parts, { ...request, version: version.version });
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
  const ofRemote = (remote: Required<ArtifactService>, signal: HostAbortSignal) =>
    remote.getArtifactVersion({ ...request, signal });
  const asked = ask(ofRemote, request.signal);
  const keep = async (): Promise<ArtifactVersion | undefined> => {
    const version = await asked;
    await files.keepVersion(place, request.version, version);
    return version;
  };
  try {
    if (await endsWithin(readTimeoutMs, asked, request.signal)) return await keep();
  } catch (error) {
    const known = isOutage(error) ? await files.version(place, request.version) : undefined;
    if (known !== undefined) return known;
    throw error;
  }
  return (await files.version(place, request.version)) ?? keep();
}
