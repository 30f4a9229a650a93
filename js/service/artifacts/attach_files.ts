/** Attaches files to messages. A live session loads this file with the first message that has some. */
import { coreOf, findArtifacts, requireArtifacts } from '../../core/core_of.js';
import { isSessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { fitsUtf8 } from '../../values/json/text.js';
import { essenceOf, requireType } from '../../values/model/values/media_type.js';
import type { ArtifactService, AttachedFile } from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import {
  filesOf,
  fileText,
  type MessageFile,
  messageFileOf,
} from '../../values/model/event/message_files.js';
import { MAX_FILES, withFiles } from '../../values/model/event/place_files.js';
import { partsOf } from '../../values/model/event/parts.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { isFileName } from '../../stores/artifacts/artifact_names.js';
import { blobOf, blobType } from '../../stores/artifacts/file_bytes.js';
import { dataOf, isBlob } from '../../stores/artifacts/given_files.js';
import { factsOfSize, partOf, takePut } from '../../stores/artifacts/file_versions.js';

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
  /** Shows and stores the message with its files. It counts among those that need the session before this returns. */
  readonly store: (message: Event) => Promise<Event>;
  /** Deletes the session, if it was created for the message. @param isUsed whether it has files, or will have some */
  readonly giveUp: (isUsed: () => Promise<boolean>) => Promise<void>;
}

/** The messages of a session whose files are being put. */
interface Attaching {
  count: number;
  /** How often a file of each name was put. */
  readonly puts: Map<string, number>;
}

/** By the handle of the session. */
const attaching = new WeakMap<object, Attaching>();

/**
 * Puts the files of a message, and stores the message with them. If a put fails, the caller still has them, and a
 * session that was created for them is deleted, unless somebody uses it.
 *
 * @returns the stored message
 * @throws SessionError `invalid_argument`; `artifact_service_missing`; `connection_lost`; any error of a put, or of
 *   storing the message
 */
export async function attachFiles(
  message: Event,
  given: readonly AttachedFile[],
  attachment: Attachment,
): Promise<Event> {
  const { service, key, handle, openSession, store, giveUp } = attachment;
  const files = takeFiles(given);
  if (attachment.isInline) return store(withParts(message, await Promise.all(files.map(inlined))));
  const all = attaching.get(handle) ?? { count: 0, puts: new Map<string, number>() };
  attaching.set(handle, all);
  all.count += 1;
  let result: Event;
  try {
    const artifacts = requireArtifacts(service);
    await openSession?.();
    // A put needs the session at the remote of a cache, and what the message follows.
    await coreOf(service)?.untilSent?.(key);
    result = await putFiles(artifacts, key, message, files, all.puts);
  } catch (error) {
    all.count -= 1;
    // Another message may need the session.
    const isUsed = async (): Promise<boolean> =>
      (await hasOtherFiles(service, key, all.puts)) || all.count > 0;
    if (all.count === 0 && openSession !== undefined) await giveUp(isUsed).catch(() => undefined);
    throw error;
  }
  const storing = store(result);
  all.count -= 1;
  return storing;
}

/** Whether a session has other files than those that were put for these messages. */
async function hasOtherFiles(
  service: SessionService,
  { appName, userId, sessionId }: CompositeSessionKey,
  puts: ReadonlyMap<string, number>,
): Promise<boolean> {
  const key = { appName, userId, sessionId };
  const artifacts = findArtifacts(service);
  for (const filename of (await artifacts?.listArtifactKeys(key)) ?? []) {
    if (filename.startsWith('user:')) continue;
    const versions = await artifacts!.listArtifactVersions({ ...key, filename });
    if (versions.length > (puts.get(filename) ?? 0)) return true;
  }
  return false;
}

async function putFiles(
  artifacts: Required<ArtifactService>,
  { appName, userId, sessionId }: CompositeSessionKey,
  message: Event,
  files: readonly TakenFile[],
  puts: Map<string, number>,
): Promise<Event> {
  const key = { appName, userId, sessionId };
  const own = ownParts(message);
  const first = own.length;
  const attached: MessageFile[] = [];
  for (const [place, file] of files.entries()) {
    const isTaken = (filename: string): boolean =>
      attached.some(({ name }) => name === filename) ||
      own.some(({ text }) => text === fileText(filename));
    const put = async (filename: string, data: TakenFile['data']): Promise<void> => {
      puts.set(filename, (puts.get(filename) ?? 0) + 1);
      const displayName = filename === file.name ? undefined : file.name;
      const { mimeType } = file;
      const id = `${message.id}/${place}`;
      const request = { ...key, filename, data, mimeType, displayName, author: 'user', id };
      attached.push(messageFileOf(first + place, filename, await artifacts.put(request)));
    };
    await putUnderFreeName(artifacts, key, file, isTaken, put);
  }
  const texts = attached.map(({ name }) => ({ text: fileText(name) }));
  return withFiles(withParts(message, texts), [...filesOf(message), ...attached]);
}

/** The most names of a file that its home refuses. */
const MAX_REFUSED_NAMES = 20;

/** Puts a file under a name that is free. A folder refuses some names, by its file system: then it is another one. */
async function putUnderFreeName(
  artifacts: Required<ArtifactService>,
  key: CompositeSessionKey,
  { name, data }: TakenFile,
  isTaken: (filename: string) => boolean,
  put: (filename: string, data: TakenFile['data']) => Promise<void>,
): Promise<void> {
  const refused = new Set<string>();
  let isRead = false;
  const watched = async function* (stream: AsyncIterable<Uint8Array>) {
    isRead = true;
    yield* stream;
  };
  const isFree = (filename: string): boolean => !refused.has(filename) && !isTaken(filename);
  for (let wanted = toFileName(name); ; wanted = toPortableName(wanted)) {
    const filename = await freeName(artifacts, key, wanted, isFree);
    try {
      await put(filename, isBlob(data) ? data : watched(data));
      return;
    } catch (error) {
      const isRefused = isSessionError(error, 'invalid_argument') && error.key === 'filename';
      // A stream cannot be read again.
      if (!isRefused || isRead || refused.size === MAX_REFUSED_NAMES) throw error;
      refused.add(filename);
    }
  }
}

async function inlined({ name, data, mimeType }: TakenFile): Promise<Part> {
  const blob = await blobOf(data, name);
  const facts = factsOfSize(takePut({ mimeType, displayName: name }, blob), blob.size);
  return partOf({ facts }, blob);
}

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
    const isOnlyBlob = isBlob(file);
    const named = isOnlyBlob
      ? { name: (file as Partial<File>).name, data: file, mimeType: undefined }
      : (Object(file) as Partial<Exclude<AttachedFile, Blob>>);
    if (named.data === undefined)
      throw invalid(`files[${at}]`, 'must be a Blob, or have data and a name');
    if (!isOnlyBlob) requireText(`files[${at}].name`, named.name);
    const data = dataOf(named.data);
    const { mimeType = blobType(data) } = named;
    if (mimeType !== undefined) requireType(`files[${at}].mimeType`, mimeType);
    const [, subtype = 'bin'] = /^\w+\/(\w+)$/.exec(essenceOf(mimeType)) ?? [];
    return { name: named.name ?? `file.${subtype}`, data, mimeType };
  });
}

/** Returns a name that no file of an agent has. */
async function freeName(
  artifacts: Required<ArtifactService>,
  key: CompositeSessionKey,
  wanted: string,
  isFree: (filename: string) => boolean,
): Promise<string> {
  const { stem, ending } = splitName(wanted);
  for (let count = 1; ; count += 1) {
    const filename = count === 1 ? wanted : `${cut(stem)}-${count}${ending}`;
    if (!isFree(filename)) continue;
    const versions = await artifacts.listArtifactVersions({ ...key, filename });
    if (versions.every(({ author }) => author === 'user')) return filename;
  }
}

/** Returns a name that a file of a session may have. */
function toFileName(given: string): string {
  if (isFileName(given) && !given.startsWith('user:')) return given;
  const flat = given.replace(/[\\/:\p{Cc}\p{Cs}]+/gu, '_').trim();
  const { stem, ending } = splitName(flat);
  const name = cut(stem) + ending;
  return isFileName(name) ? name : `file${ending}`;
}

/** Returns a name without a folder, and without characters that a file system may refuse. */
function toPortableName(name: string): string {
  return name.replace(/[<>:"|?*/]/g, '_');
}

function splitName(name: string): { readonly stem: string; readonly ending: string } {
  const [, stem = '', ending = ''] = /^(.+?)(\.\w{1,16})?$/su.exec(name) ?? [];
  return { stem, ending };
}

/** The most bytes of a name before its ending, so that a number fits behind it. */
const STEM_BYTES = 200;

function cut(stem: string): string {
  const characters = [...stem];
  while (!fitsUtf8(characters.join(''), STEM_BYTES)) characters.pop();
  return characters.join('');
}
