/** Attaches files to messages. A live session loads this file with the first message that has some. */
import { coreOf } from '../../core/core_of.js';
import { SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { fitsUtf8 } from '../../values/json/text.js';
import type { AttachedFile } from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { fileText, type MessageFile } from '../../values/model/event/message_files.js';
import { MAX_FILES, withFiles } from '../../values/model/event/place_files.js';
import { partsOf } from '../../values/model/event/parts.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { isFileName } from '../../stores/artifacts/artifact_names.js';
import { blobOf, dataOf, partOf } from '../../stores/artifacts/file_versions.js';
import type { ArtifactService } from '../invocation/running_invocation.js';

type Artifacts = Required<Pick<ArtifactService, 'put' | 'listArtifactVersions'>>;

/** A file of a caller, checked. */
interface TakenFile {
  readonly name: string;
  readonly data: ReturnType<typeof dataOf>;
  readonly mimeType: string | undefined;
}

/** What files are attached to. */
interface Attachment {
  readonly service: SessionService;
  readonly key: CompositeSessionKey;
  /** The handle that may have created the session. */
  readonly handle: object;
  /** Whether the files go in the message itself, as over `adk api_server`. */
  readonly isInline: boolean;
  /** Opens the session, or creates it. Absent: it is there. */
  readonly openSession: (() => Promise<unknown>) | undefined;
  /** Deletes the session, if it was created for the message. */
  readonly giveUp: () => Promise<void>;
}

/** The number of messages whose files are being put, by the handle of their session. */
const attaching = new WeakMap<object, number>();

/**
 * Puts the files of a message, and returns the message with them. If that fails, the caller still has them, and a
 * session that was created for them is deleted.
 *
 * @throws SessionError `invalid_argument`; `artifact_service_missing`; `connection_lost`; any error of a put
 */
export async function attachFiles(
  message: Event,
  given: readonly AttachedFile[],
  attachment: Attachment,
): Promise<Event> {
  const { service, key, handle, openSession, giveUp } = attachment;
  const files = takeFiles(given);
  if (attachment.isInline) return withParts(message, await Promise.all(files.map(inlined)));
  const count = (change: number): number => {
    const next = (attaching.get(handle) ?? 0) + change;
    attaching.set(handle, next);
    return next;
  };
  count(1);
  try {
    const artifacts = artifactsOf(service);
    await openSession?.();
    // A put needs the session at the remote of a cache, and what the message follows.
    await coreOf(service)?.untilSent?.(key);
    const result = await putFiles(artifacts, key, message, files);
    count(-1);
    return result;
  } catch (error) {
    // Another message may need the session.
    if (count(-1) === 0 && openSession !== undefined) await giveUp().catch(() => undefined);
    throw error;
  }
}

async function putFiles(
  artifacts: Artifacts,
  { appName, userId, sessionId }: CompositeSessionKey,
  message: Event,
  files: readonly TakenFile[],
): Promise<Event> {
  const key = { appName, userId, sessionId };
  const first = ownParts(message).length;
  const attached: MessageFile[] = [];
  for (const [place, { name, data, mimeType }] of files.entries()) {
    const filename = await freeName(artifacts, key, name, attached);
    const displayName = filename === name ? undefined : name;
    const id = `${message.id}/${place}`;
    const put = { ...key, filename, data, mimeType, displayName, author: 'user', id };
    const { version, mimeType: type, size } = await artifacts.put(put);
    attached.push({
      ...{ part: first + place, name: filename, version },
      ...(type !== undefined && { mimeType: type }),
      ...(size !== undefined && { size }),
    });
  }
  const texts = attached.map(({ name }) => ({ text: fileText(name) }));
  return withFiles(withParts(message, texts), attached);
}

async function inlined({ name, data, mimeType = BINARY }: TakenFile): Promise<Part> {
  return partOf({ facts: { mimeType, displayName: name } }, await blobOf(data));
}

const BINARY = 'application/octet-stream';

function withParts(message: Event, added: readonly Part[]): Event {
  const parts = [...ownParts(message), ...added];
  if (parts.length === 0) throw invalid('content.parts', 'must have a part');
  return { ...message, content: { role: 'user', ...message.content, parts } };
}

/** Returns the parts of a message without its files. An empty text is none: models refuse it. */
function ownParts(message: Event): Part[] {
  const parts = partsOf(message);
  const [only, another] = parts;
  return another === undefined && only?.text === '' ? [] : [...parts];
}

function takeFiles(given: readonly AttachedFile[]): TakenFile[] {
  if (!Array.isArray(given)) throw invalid('files', 'must be a list');
  if (given.length > MAX_FILES) throw invalid('files', `must be at most ${MAX_FILES}`);
  return given.map((file: AttachedFile, at): TakenFile => {
    const isBlob = file instanceof Blob;
    const { name, data, mimeType } = isBlob
      ? { name: (file as Partial<File>).name, data: file, mimeType: file.type || undefined }
      : (Object(file) as Partial<Exclude<AttachedFile, Blob>>);
    if (data === undefined)
      throw invalid(`files[${at}]`, 'must be a Blob, or have data and a name');
    if (!isBlob) requireText(`files[${at}].name`, name);
    if (mimeType !== undefined) requireText(`files[${at}].mimeType`, mimeType);
    const [, subtype = 'bin'] = /^\w+\/(\w+)$/.exec(mimeType ?? '') ?? [];
    return { name: name ?? `file.${subtype}`, data: dataOf(data), mimeType };
  });
}

/** @throws SessionError `artifact_service_missing` */
function artifactsOf(service: SessionService): Artifacts {
  const { artifacts } = service as { readonly artifacts?: Artifacts };
  // A service of `adk-session-wasm/adk` has the core of the service that it wraps.
  const { artifacts: wrapped } = (coreOf(service) ?? {}) as {
    readonly artifacts?: { readonly service: Artifacts };
  };
  const found = artifacts ?? wrapped?.service;
  if (found !== undefined) return found;
  const message = 'This service keeps no files; give it the option artifacts.';
  throw new SessionError('artifact_service_missing', message);
}

/** Returns a name that no file of an agent has, and none of this message. */
async function freeName(
  artifacts: Artifacts,
  key: CompositeSessionKey,
  given: string,
  attached: readonly MessageFile[],
): Promise<string> {
  const name = toFileName(given);
  const [, stem = '', ending = ''] = /^(.+?)(\.\w{1,16})?$/su.exec(name) ?? [];
  for (let count = 1; ; count += 1) {
    const filename = count === 1 ? name : `${cut(stem)}-${count}${ending}`;
    if (attached.some(({ name }) => name === filename)) continue;
    const versions = await artifacts.listArtifactVersions({ ...key, filename });
    if (versions.every(({ author }) => author === 'user')) return filename;
  }
}

/** Returns a name that a file of a session may have. */
function toFileName(given: string): string {
  if (isFileName(given) && !given.startsWith('user:')) return given;
  const flat = given.replace(/[\\/:\p{Cc}\p{Cs}]+/gu, '_').trim();
  const [, stem = '', ending = ''] = /^(.*?)(\.\w{1,16})?$/su.exec(flat) ?? [];
  const name = cut(stem) + ending;
  return isFileName(name) ? name : `file${ending}`;
}

/** The most bytes of a name before its ending, so that a number fits behind it. */
const STEM_BYTES = 200;

function cut(stem: string): string {
  const characters = [...stem];
  while (!fitsUtf8(characters.join(''), STEM_BYTES)) characters.pop();
  return characters.join('');
}
