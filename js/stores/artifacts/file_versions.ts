/** The rules of files that every home follows: the numbers of versions, the parts of the ADK, and the hash of bytes. */
import type { FileVersion, KnownVersion, NewFile } from './artifact_home.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireObject, requireText } from '../../values/errors/option_values.js';
import type { ArtifactData, ArtifactVersion } from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import { isPlainObject } from '../../values/json/rules.js';
import { stateText } from '../../values/state/delta.js';

/**
 * Decides on a put. All homes call it within the step that stores the version.
 *
 * @param known all versions of the file
 * @returns the number of the new version, or that of the version that an earlier put has made
 */
export function decidePut(
  known: readonly KnownVersion[],
  { facts: { id }, version }: Pick<NewFile, 'facts' | 'version'>,
): { readonly version: number; readonly isStored: boolean } {
  // A version with a given number takes the place of a deleted file's last one.
  const shown = known.filter(({ isDeleted }) => !isDeleted);
  const stored = shown.find((one) =>
    version === undefined ? id !== undefined && one.id === id : one.version === version,
  );
  if (stored !== undefined) return { version: stored.version, isStored: true };
  const next = known.reduce((highest, one) => Math.max(highest, one.version + 1), 0);
  return { version: version ?? next, isStored: false };
}

/** Decides as {@link decidePut} on a file that is not deleted. `stored` is the version that an earlier put has made. */
export function decideAmong(
  versions: readonly FileVersion[],
  file: Pick<NewFile, 'facts' | 'version'>,
): { readonly version: number; readonly stored: FileVersion | undefined } {
  const known = versions.map(({ version, facts }) => ({ version, id: facts.id, isDeleted: false }));
  const { version, isStored } = decidePut(known, file);
  return {
    version,
    stored: isStored ? versions.find((one) => one.version === version) : undefined,
  };
}

/** Takes what a caller says of a file. @throws SessionError `invalid_argument`, `unserializable` */
export function takeFacts(given: NewFile['facts']): NewFile['facts'] {
  const { mimeType, displayName, customMetadata, author, id } = given;
  for (const [name, text] of Object.entries({ mimeType, displayName, author, id })) {
    if (text !== undefined) requireText(name, text);
  }
  const facts = { ...(mimeType !== undefined && { mimeType }), displayName, author, id };
  if (customMetadata === undefined) return facts;
  if (!isPlainObject(customMetadata)) throw invalid('customMetadata', 'must be a plain object');
  const text = stateText(customMetadata, ['customMetadata']);
  return { ...facts, customMetadata: JSON.parse(text ?? '{}') as Record<string, unknown> };
}

/** Returns a version as callers see it. */
export function toArtifactVersion(stored: FileVersion): ArtifactVersion {
  const { version, facts, size, createTime, hash } = stored;
  const { mimeType = 'text/plain', displayName, customMetadata, author } = facts;
  return {
    version,
    mimeType,
    ...(customMetadata !== undefined && { customMetadata }),
    ...(displayName !== undefined && { displayName }),
    // A service of the user may not tell them.
    ...(Number.isFinite(size) && { size }),
    ...(Number.isFinite(createTime) && { createTime }),
    ...(author !== undefined && { author }),
    ...(hash !== undefined && { hash }),
  };
}

export const BINARY = 'application/octet-stream';

/** Whether google-adk has stored the version at a rewind, to say that there is no file any more. */
export function isTombstone({ facts }: Pick<FileVersion, 'facts'>, size: number): boolean {
  return facts.mimeType === BINARY && size === 0;
}

/**
 * Returns the bytes of a part, and what else it says of its file.
 *
 * @throws SessionError `invalid_argument` if it has neither bytes nor a text
 */
export function fileOfPart(artifact: Part): Pick<NewFile, 'facts'> & { readonly data: Blob } {
  requireObject('artifact', artifact);
  const { inlineData, text, fileData } = artifact;
  if (inlineData?.data !== undefined) {
    const { mimeType = BINARY, displayName, data } = inlineData;
    requireText('artifact.inlineData.mimeType', mimeType);
    if (displayName !== undefined) requireText('artifact.inlineData.displayName', displayName);
    return { data: new Blob([bytesOf(data)]), facts: { mimeType, displayName } };
  }
  if (typeof text === 'string') return { data: new Blob([text]), facts: {} };
  const reason = fileData === undefined ? '' : '; a reference to a file elsewhere is not stored';
  throw invalid('artifact', `must have inlineData with data, or a text${reason}`);
}

/** Returns a file as a part of the ADK. */
export async function partOf({ facts }: Pick<FileVersion, 'facts'>, blob: Blob): Promise<Part> {
  const { displayName } = facts;
  // Only a service of the user gives a type that it has not told before.
  const mimeType = facts.mimeType ?? blob.type;
  if (mimeType === '') return { text: await blob.text() };
  const data = base64(new Uint8Array(await blob.arrayBuffer()));
  return { inlineData: { mimeType, data, ...(displayName !== undefined && { displayName }) } };
}

/** Decodes base64 in either alphabet. @throws SessionError `invalid_argument` */
export function bytesOf(data: unknown): Uint8Array<ArrayBuffer> {
  if (typeof data !== 'string') throw invalid('data', 'must be base64');
  let binary;
  try {
    binary = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
  } catch (cause) {
    throw invalid('data', 'must be base64', cause);
  }
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** The bytes of a call of `fromCharCode`: a larger one may overflow the stack. A multiple of three. */
const ENCODED_AT_ONCE = 0x6000;

/** Encodes bytes as base64. */
export function base64(bytes: Uint8Array): string {
  // A model may get 15 MiB in a turn. Node's own way takes a twentieth of the time.
  if (typeof Buffer === 'function') {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  }
  let encoded = '';
  for (let at = 0; at < bytes.length; at += ENCODED_AT_ONCE) {
    encoded += btoa(String.fromCharCode(...bytes.subarray(at, at + ENCODED_AT_ONCE)));
  }
  return encoded;
}

/** Returns base64 in the alphabet for URLs, as google-adk writes it. */
export function toUrlAlphabet(data: string): string {
  // Of a large file, replacing takes a second.
  if (typeof Buffer === 'function') {
    const url = Buffer.from(data, 'base64').toString('base64url');
    return url.padEnd(Math.ceil(url.length / 4) * 4, '=');
  }
  return data.replaceAll('+', '-').replaceAll('/', '_');
}

/** The bytes of a chunk: what is hashed, written and read at once. */
export const CHUNK_BYTES = 2 ** 20;

/** Takes the bytes of a caller. @throws SessionError `invalid_argument` */
export function dataOf(data: ArtifactData): NewFile['data'] {
  if (data instanceof Blob) return data;
  if (data instanceof ArrayBuffer) return new Blob([data]);
  // A view of shared memory fails here, as a Blob refuses it.
  if (ArrayBuffer.isView(data)) return new Blob([data as ArrayBufferView<ArrayBuffer>]);
  if (Symbol.asyncIterator in Object(data)) return data as AsyncIterable<Uint8Array>;
  if (typeof (data as Partial<ReadableStream>).getReader === 'function') {
    return streamed(data as ReadableStream<Uint8Array>);
  }
  throw invalid(
    'data',
    'must be a Blob, an ArrayBuffer, a view of one, or a stream of Uint8Arrays',
  );
}

/** Some browsers cannot iterate over a stream. */
async function* streamed(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Cuts bytes into chunks of {@link CHUNK_BYTES}; the last one may be smaller. An empty file has none. */
export async function* chunksOf(
  data: NewFile['data'],
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  if (data instanceof Blob) {
    for (let at = 0; at < data.size; at += CHUNK_BYTES) {
      yield new Uint8Array(await data.slice(at, at + CHUNK_BYTES).arrayBuffer());
    }
    return;
  }
  let chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for await (const given of data) {
    if (!(given instanceof Uint8Array)) throw invalid('data', 'must give Uint8Arrays');
    for (let at = 0; at < given.length;) {
      const taken = given.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(taken, filled);
      at += taken.length;
      filled += taken.length;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      chunk = new Uint8Array(CHUNK_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.slice(0, filled);
}

/** Returns the bytes as a Blob. */
export async function blobOf(data: NewFile['data']): Promise<Blob> {
  if (data instanceof Blob) return data;
  const chunks = [];
  for await (const chunk of chunksOf(data)) chunks.push(chunk);
  return new Blob(chunks);
}

/** Computes the hash of a file from its chunks: no host has a digest of a stream. */
export class ChunkHash {
  readonly #digests: ArrayBuffer[] = [];

  /** The host may have no `crypto.subtle`: a page that was not loaded by https. */
  get #subtle(): SubtleCrypto | undefined {
    return (globalThis.crypto as Crypto | undefined)?.subtle;
  }

  async add(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    const digest = await this.#subtle?.digest('SHA-256', chunk);
    if (digest !== undefined) this.#digests.push(digest);
  }

  /** Returns the hash in hexadecimal; `undefined` without `crypto.subtle`. */
  async end(): Promise<string | undefined> {
    const all = await new Blob(this.#digests).arrayBuffer();
    const digest = await this.#subtle?.digest('SHA-256', all);
    return digest && [...new Uint8Array(digest)].map(toHex).join('');
  }
}

function toHex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** Returns the hash of a Blob, which can be read again afterwards. */
export async function hashOf(blob: Blob): Promise<string | undefined> {
  const hash = new ChunkHash();
  for await (const chunk of chunksOf(blob)) await hash.add(chunk);
  return hash.end();
}
