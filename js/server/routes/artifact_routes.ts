import { requireArtifacts } from '../../core/core_of.js';
import { invalid } from '../../values/errors/invalid.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { parseJson } from '../../values/json/parse.js';
import { toAllSeconds } from '../../values/python/time.js';
import type {
  ArtifactService,
  ArtifactVersion,
  ArtifactVersionRequest,
} from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import { placeOf } from '../../stores/artifacts/artifact_names.js';
import { toUrlAlphabet } from '../../stores/artifacts/file_bytes.js';
import { SAVE_ARTIFACT } from '../requests/schemas.js';
import { FILE_HEADERS, fileResponse, partTagOf } from '../http/file_response.js';
import { COMMON_HEADERS, hasTag, HttpRefusal } from '../http/responses.js';
import { OWN_FORM } from '../requests/client_form.js';
import { oneOf, TEXT, WHOLE } from '../requests/parameters.js';
import { keyOf, type Route, type RouteCall, routeWithQuery } from '../requests/route.js';
import { findLargeFile } from './large_file.js';
import { requireSession, SESSION } from './session_routes.js';

const ARTIFACTS = `${SESSION}/artifacts`;
const FILE = `${ARTIFACTS}/{filename}`;

type Files = Required<ArtifactService>;

/** The body that saves a part, as its schema has checked it. */
interface SavedPart {
  readonly filename: string;
  readonly artifact: JsonObject;
  readonly id?: string;
}

/** The routes of files: those of `adk api_server`, and those that have the bytes as they are. */
export const ARTIFACT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: ARTIFACTS,
    action: 'listArtifacts',
    summary: "Lists the names of the session's files, and of the user's.",
    response: 'ArtifactNames',
    isOfApiServer: true,
    run: async (call) => (await requireFiles(call)).listArtifactKeys(keyOf(call)),
  },
  {
    method: 'POST',
    path: ARTIFACTS,
    action: 'saveArtifact',
    summary: 'Stores a part of the ADK as a new version of a file.',
    body: SAVE_ARTIFACT,
    response: 'ArtifactVersion',
    isOfApiServer: true,
    run: async (call) => {
      const { filename, ...given } = call.body as unknown as SavedPart;
      const artifact = call.form.readPart(given.artifact);
      const files = await requireFiles(call);
      const request = { ...keyOf(call), filename };
      requireMayName(call, request);
      await requireMayReplace(call, files, request).catch(async (refusal: unknown) => {
        if (given.id === undefined) throw refusal;
        // The service reads no bytes for an id that is stored.
        const stored = await files.put({
          ...request,
          id: given.id,
          data: failing(refusal as Error),
        });
        requireOfUser(call, stored);
      });
      const saved = { ...request, ...given, artifact, ...authorIn(call, call.body.author) };
      const version = await files.saveArtifact(saved);
      return shownVersion(call, filename, await files.getArtifactVersion({ ...request, version }));
    },
  },
  {
    method: 'GET',
    path: `${FILE}/versions/metadata`,
    action: 'listArtifacts',
    summary: 'Tells what is known of all versions of a file.',
    response: 'ArtifactVersions',
    isOfApiServer: true,
    run: async (call) => {
      const versions = await (await requireFiles(call)).listArtifactVersions(fileOf(call));
      return versions.map((version) => shownVersion(call, call.file.filename, version));
    },
  },
  {
    method: 'GET',
    path: `${FILE}/versions/{version}/metadata`,
    action: 'listArtifacts',
    summary: 'Tells what is known of a version, or of the `latest`.',
    response: 'ArtifactVersion',
    isOfApiServer: true,
    run: async (call) => {
      const version = await (await requireFiles(call)).getArtifactVersion(versionRequest(call));
      return shownVersion(call, call.file.filename, version);
    },
  },
  {
    method: 'GET',
    path: `${FILE}/versions/{version}`,
    action: 'loadArtifact',
    summary: 'Returns a version, or the `latest`, as a part of the ADK.',
    response: 'Artifact',
    isOfApiServer: true,
    run: async (call) => load(call, await requireFiles(call), versionRequest(call)),
  },
  {
    method: 'GET',
    path: `${FILE}/versions`,
    action: 'listArtifacts',
    summary: 'Lists the numbers of the versions of a file.',
    response: 'ArtifactNumbers',
    isOfApiServer: true,
    run: async (call) => (await requireFiles(call)).listVersions(fileOf(call)),
  },
  routeWithQuery({
    method: 'GET',
    path: FILE,
    action: 'loadArtifact',
    summary:
      'Returns a file as a part of the ADK; with `alt=media` its bytes as they are, or a `Range` of them.',
    query: { version: WHOLE, alt: oneOf(['media']) },
    response: 'Artifact',
    isOfApiServer: true,
    run: async (call) => {
      const files = await requireFiles(call);
      const { version, alt } = call.query;
      const request = { ...fileOf(call), ...(version !== undefined && { version }) };
      if (alt === undefined) return load(call, files, request);
      const found = await files.getArtifactVersion(request);
      if (found === undefined) throw notFound();
      const whole = { ...request, version: found.version };
      const open = (range: object) => files.open({ ...whole, ...range });
      const large = await findLargeFile(call, request, found);
      const response = await fileResponse(
        call.request,
        found,
        open,
        large?.isInMemory === true ? (range) => large.stream(range) : undefined,
      );
      if (response === undefined) throw notFound();
      return response;
    },
  }),
  routeWithQuery({
    method: 'PUT',
    path: FILE,
    action: 'saveArtifact',
    summary:
      'Stores the body as a new version of a file. With an `id`, a repetition returns the version of the first request.',
    query: { id: TEXT, displayName: TEXT, author: TEXT, customMetadata: TEXT },
    body: 'bytes',
    response: 'ArtifactVersion',
    run: async (call) => {
      const files = await requireFiles(call);
      const { author, customMetadata, ...facts } = call.query;
      requireMayName(call, fileOf(call));
      const stored = await files.put({
        ...fileOf(call),
        ...facts,
        ...authorIn(call, author),
        customMetadata: customMetadata === undefined ? undefined : objectIn(customMetadata),
        mimeType: call.request.headers.get('content-type') ?? undefined,
        data: checkedBytes(call, files),
      });
      requireOfUser(call, stored);
      return stored;
    },
  }),
  {
    method: 'DELETE',
    path: FILE,
    action: 'deleteArtifact',
    summary: 'Deletes a file with all its versions. It is no error if it does not exist.',
    response: 'Nothing',
    isOfApiServer: true,
    run: async (call) => {
      const files = await requireFiles(call);
      requireMayName(call, fileOf(call));
      await requireMayReplace(call, files, fileOf(call));
      await files.deleteArtifact(fileOf(call));
      return null;
    },
  },
  {
    method: 'GET',
    path: `${SESSION}/artifact-usage`,
    action: 'listArtifacts',
    summary: 'Counts the versions of the files of a session, and their bytes.',
    response: 'ArtifactUsage',
    run: async (call) => (await requireFiles(call)).usage(keyOf(call)),
  },
  {
    method: 'GET',
    path: '/apps/{appName}/users/{userId}/artifact-usage',
    action: 'listArtifacts',
    summary: 'Counts the versions of all files of a user, and their bytes.',
    response: 'ArtifactUsage',
    run: ({ service, appName, userId, signal }) =>
      requireArtifacts(service).usage({ appName, userId, signal }),
  },
];

/**
 * Returns the files of the service. Services answer for a session that is not there; a client is told that it is not.
 *
 * @throws HttpRefusal 404 without the session; SessionError `artifact_service_missing` without files
 */
async function requireFiles(call: RouteCall): Promise<Files> {
  const files = requireArtifacts(call.service);
  await requireSession(call, { numRecentEvents: 0 });
  return files;
}

function fileOf(call: RouteCall) {
  return { ...keyOf(call), filename: call.file.filename };
}

/** @throws SessionError `invalid_argument` */
function versionRequest(call: RouteCall): ArtifactVersionRequest {
  const { version } = call.file;
  if (version === 'latest') return fileOf(call);
  return { ...fileOf(call), version: WHOLE.read('version', [version]) };
}

/**
 * Returns the bytes of a request. The service reads none for an `id` that is stored, so that a repetition is answered as the
 * first request. Others may store a version while bytes come, so the rights are checked at both ends.
 */
async function* checkedBytes(call: RouteCall<object>, files: Files): AsyncGenerator<Uint8Array> {
  await requireMayReplace(call, files, fileOf(call));
  yield* call.bytes!;
  await requireMayReplace(call, files, fileOf(call));
}

/** Bytes that cannot be read. */
async function* failing(reason: Error): AsyncGenerator<Uint8Array> {
  yield await Promise.reject(reason);
}

/** The id of a put may be that of another's. @throws HttpRefusal 403 */
function requireOfUser({ rights }: RouteCall<object>, { author }: ArtifactVersion): void {
  if (!rights.mayWriteAgentEvents && author !== 'user') throw notOfUser();
}

/** @throws HttpRefusal 403 for a file of the user that the request may not change */
function requireMayName({ rights }: RouteCall<object>, request: ReturnType<typeof fileOf>): void {
  const isOfUser = placeOf(request).owner.sessionId === undefined;
  if (!isOfUser || rights.mayWriteUserState) return;
  throw new HttpRefusal(403, 'user: files cannot be changed by this request.');
}

/**
 * Checks that a request may put another version over a file, or delete it. A file without an author may be an agent's.
 *
 * @throws HttpRefusal 403
 */
async function requireMayReplace(
  call: RouteCall<object>,
  files: Files,
  request: ReturnType<typeof fileOf>,
): Promise<void> {
  if (call.rights.mayWriteAgentEvents) return;
  const versions = await files.listArtifactVersions(request);
  if (versions.every(({ author }) => author === 'user')) return;
  throw notOfUser();
}

function notOfUser(): HttpRefusal {
  return new HttpRefusal(403, 'This request may not replace a file that no user has written.');
}

/** Who writes a file: a client that may not write as an agent is a user. */
function authorIn({ rights }: RouteCall, given: unknown): { readonly author?: string } {
  if (!rights.mayWriteAgentEvents) return { author: 'user' };
  return given === undefined ? {} : { author: given as string };
}

/** Returns a part of the ADK. A client that has it already costs no bytes. */
async function load(
  call: RouteCall<object>,
  files: Files,
  request: ArtifactVersionRequest,
): Promise<Part | Response> {
  const found = await files.getArtifactVersion(request);
  if (found === undefined) throw notFound();
  const isOwn = call.form === OWN_FORM;
  const etag = partTagOf(found, isOwn ? 'own' : 'python');
  Object.assign(call.headers, FILE_HEADERS, etag !== undefined && { etag });
  if (etag !== undefined && hasTag(call.request.headers.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { ...COMMON_HEADERS, ...call.headers } });
  }
  const large = await findLargeFile(call, request, found);
  if (large?.isText === false) return large.partResponse(call.headers, !isOwn);
  const part = await files.loadArtifact({ ...request, version: found.version });
  if (part === undefined) throw notFound();
  const { inlineData } = part;
  if (isOwn || inlineData?.data === undefined) return part;
  return { ...part, inlineData: { ...inlineData, data: toUrlAlphabet(inlineData.data) } };
}

/** Returns what is known of a version, in the form of the client. */
function shownVersion(
  { form, key }: RouteCall,
  filename: string,
  version: ArtifactVersion | undefined,
): object {
  if (version === undefined) throw notFound('Artifact version not found');
  if (form === OWN_FORM) return version;
  const { owner, name } = placeOf({ ...key, filename });
  const { appName, userId, sessionId } = owner;
  const session = sessionId === undefined ? '' : `/sessions/${sessionId}`;
  const { customMetadata = {}, createTime = 0, version: number } = version;
  const path = `apps/${appName}/users/${userId}${session}/artifacts/${name}/versions/${number}`;
  const canonicalUri = `artifact://${path}`;
  return { ...version, customMetadata, canonicalUri, createTime: toAllSeconds(createTime) };
}

function notFound(message = 'Artifact not found'): HttpRefusal {
  return new HttpRefusal(404, message, {}, 'not_found');
}

function objectIn(text: string): JsonObject {
  const value = parsed(text);
  if (isPlainObject(value)) return value;
  throw invalid('customMetadata', 'must be the JSON text of an object');
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw invalid('customMetadata', 'must be JSON', cause);
  }
}
