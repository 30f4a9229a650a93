/**
 * Lines with files: each has a MiB of one version at most. They follow the line of their session, or of their user:
 *
 * `{"appName":"shop","userId":"ada","sessionId":"s1","artifact":{"filename":"a.png","version":0,"facts":{…},"createTime":…,"chunk":0,"chunks":1,"data":"base64"}}`
 */
import type { Call } from '../../core/call/call.js';
import { coreOf } from '../../core/core_of.js';
import { SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText, requireWhole } from '../../values/errors/option_values.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireId } from '../../values/model/values/ids.js';
import { requireTime } from '../../values/model/values/time.js';
import { ANY_SESSION, filenameOf, type FileOwner } from '../../stores/artifacts/artifact_names.js';
import type { FileFacts, FileVersion } from '../../stores/artifacts/artifact_home.js';
import { base64, blobType, bytesOf, CHUNK_BYTES } from '../../stores/artifacts/file_bytes.js';
import type { Artifacts } from '../artifacts/artifacts.js';
import type { ServiceCore } from '../service_core.js';
import { requireJsonObject } from './recorded_session.js';
import type { SessionFile } from './session_file.js';

/** Returns the files of a service; `undefined` if it has none, or if they are on a server. */
export async function artifactsOf(service: SessionService): Promise<Artifacts | undefined> {
  const core = coreOf(service) as ServiceCore | undefined;
  return core?.artifacts?.localArtifacts();
}

/** Yields the lines with the files of a session, or of a user. */
export async function* artifactLines(
  artifacts: Artifacts | undefined,
  owner: FileOwner,
  call: Call,
): AsyncGenerator<SessionFile & { readonly appName: string }, void> {
  for (const { place, stored } of (await artifacts?.stored(owner, call)) ?? []) {
    const { version, facts, createTime, size } = stored;
    const filename = filenameOf(owner, place.name);
    const { home } = artifacts!;
    // A service of `@google/adk` may tell neither size nor time.
    const { readsWhole = false } = home;
    const all = { start: 0, end: Infinity };
    const whole = readsWhole ? await home.open(place, version, all, call) : undefined;
    const length = readsWhole ? whole?.size : size;
    if (length === undefined) continue;
    // Such a service tells the type of some files only with their bytes.
    const mimeType = facts.mimeType ?? blobType(whole);
    const time = Number.isFinite(createTime) ? createTime : Date.now();
    const chunks = Math.max(1, Math.ceil(length / CHUNK_BYTES));
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const start = chunk * CHUNK_BYTES;
      const end = Math.min(start + CHUNK_BYTES, length);
      const blob =
        whole?.slice(start, end) ?? (await home.open(place, version, { start, end }, call));
      const bytes = blob && (await artifacts!.read(place, version, call, () => blob.arrayBuffer()));
      // It was deleted after it was listed.
      if (bytes === undefined) break;
      const data = base64(new Uint8Array(bytes));
      const artifact = {
        filename,
        version,
        facts: { ...facts, mimeType },
        createTime: time,
        chunk,
        chunks,
        data,
      };
      yield { ...owner, artifact };
    }
  }
}

/** Imports lines with files. It keeps the chunks of a version until the last of them has come. */
export class ArtifactLines {
  readonly #service: SessionService;
  /** The version that is being read, and its chunks. */
  #begun:
    { readonly version: string; readonly filename: unknown; readonly parts: Blob[] } | undefined;

  constructor(service: SessionService) {
    this.#service = service;
  }

  /** Whether the next line of a file continues a version. */
  get isReading(): boolean {
    return this.#begun !== undefined;
  }

  /**
   * Ends the version that is being read, unless the next line continues it.
   *
   * @param next absent: there are no more lines
   * @returns the error of its missing lines
   */
  endBefore(next?: SessionFile): SessionError | undefined {
    const begun = this.#begun;
    if (begun === undefined) return undefined;
    const isNext = next !== undefined && isArtifactLine(next) && versionIn(next) === begun.version;
    if (isNext && (next.artifact as SessionFile).chunk === begun.parts.length) return undefined;
    this.#begun = undefined;
    return incomplete(begun.filename);
  }

  /**
   * Takes a line.
   *
   * @returns the version that the service has then, and the bytes of the lines; `undefined` before its last chunk
   * @throws SessionError `invalid_argument`; `artifact_service_missing` if the service keeps no files
   */
  async take(
    json: SessionFile,
    call: Call,
  ): Promise<{ readonly stored: FileVersion; readonly data: Blob } | undefined> {
    const artifact = requireJsonObject(json.artifact, ['artifact']);
    const { filename, version, createTime, data } = artifact;
    const begun = this.#begun ?? { version: versionIn(json), filename, parts: [] };
    // If this line fails, so do those that continue it.
    this.#begun = undefined;
    requireText('artifact.filename', filename);
    const chunks = requireWhole('artifact.chunks', artifact.chunks as number);
    const chunk = requireWhole('artifact.chunk', artifact.chunk as number, 0, chunks - 1);
    if (chunk !== begun.parts.length) throw incomplete(filename);
    begun.parts.push(new Blob([bytesOf(data)]));
    if (chunk < chunks - 1) {
      this.#begun = begun;
      return undefined;
    }
    const blob = new Blob(begun.parts);
    const artifacts = await artifactsOf(this.#service);
    if (artifacts === undefined) {
      const message = 'The service keeps no files; give it the option artifacts.';
      throw new SessionError('artifact_service_missing', message);
    }
    const appName = requireId('appName', json.appName);
    const userId = requireId('userId', json.userId);
    const isOfUser = json.sessionId === undefined;
    if (isOfUser && !filename.startsWith('user:')) {
      throw invalid('artifact.filename', 'must begin with "user:" in a line without sessionId');
    }
    const sessionId = isOfUser ? ANY_SESSION : requireId('sessionId', json.sessionId);
    const facts = requireJsonObject(artifact.facts, ['artifact', 'facts']) as FileFacts;
    const key = { appName, userId, sessionId, filename };
    const number = requireWhole('artifact.version', version as number, 0);
    const time = requireTime('artifact.createTime', createTime);
    const file = { data: blob, facts, createTime: time, version: number };
    return { stored: await artifacts.restore(key, file, call), data: blob };
  }
}

/** Names the version that a line has a chunk of. */
function versionIn({ appName, userId, sessionId, artifact }: SessionFile): string {
  const { filename, version, chunks } = Object(artifact) as SessionFile;
  return JSON.stringify([appName, userId, sessionId, filename, version, chunks]);
}

function incomplete(filename: unknown): SessionError {
  const message = `The lines of ${JSON.stringify(filename)} are not complete.`;
  return new SessionError('invalid_argument', message, { key: 'artifact.chunk' });
}

/** Whether a line holds a part of a file. */
export function isArtifactLine(json: object): boolean {
  return Object.hasOwn(json, 'artifact');
}
