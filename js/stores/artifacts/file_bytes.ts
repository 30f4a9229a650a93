/** The bytes of files: base64, what callers give, chunks, and the hash. */
import type { NewFile } from './artifact_home.js';
import { isBlob, isBytes } from './given_files.js';
import { messageOf } from '../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';

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

/** Milliseconds that bytes stay which no version names: the time that a put may take. */
export const UNUSED_MS = 24 * 60 * 60 * 1000;

/** The bytes of a chunk: what is hashed, written and read at once. */
export const CHUNK_BYTES = 2 ** 20;

/** Returns the type that a Blob tells; `undefined` if it tells none, or if the bytes are no Blob. */
export function blobType(data: NewFile['data'] | undefined): string | undefined {
  return isBlob(data) && data.type !== '' ? data.type : undefined;
}

/**
 * Cuts bytes into chunks of {@link CHUNK_BYTES}; the last one may be smaller. An empty file has none.
 *
 * @param name names the file, for the error
 * @throws SessionError `invalid_argument` if the bytes cannot be read
 */
export async function* chunksOf(
  data: NewFile['data'],
  name: string,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  try {
    yield* isBlob(data) ? slicesOf(data) : filledChunks(data);
  } catch (error) {
    throw unreadable(data, name, error);
  }
}

/** What a read of given bytes has thrown. A file of a page may have been changed or removed since it was chosen. */
function unreadable(data: NewFile['data'], name: string, cause: unknown): unknown {
  if (isSessionError(cause)) return cause;
  const { name: shown = name } = data as Partial<File>;
  const file = `the file ${JSON.stringify(shown)}`;
  const message = isBlob(data)
    ? `data of ${file} cannot be read: it may have been changed, moved or deleted. Choose it again: ${messageOf(cause)}`
    : `data of ${file} is a stream that failed: ${messageOf(cause)}`;
  return new SessionError('invalid_argument', message, { key: 'data', cause });
}

async function* slicesOf(blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  for (let at = 0; at < blob.size; at += CHUNK_BYTES) {
    const slice = blob.slice(at, at + CHUNK_BYTES);
    const bytes = new Uint8Array(await slice.arrayBuffer());
    if (bytes.length !== slice.size) throw new Error('It has fewer bytes than before.');
    yield bytes;
  }
}

async function* filledChunks(
  data: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for await (const given of data) {
    if (!isBytes(given)) throw invalid('data', 'must give Uint8Arrays');
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

/**
 * Returns the bytes as a Blob of their own. A given Blob may be a reference to a file on the user's disk, which fails as
 * soon as the file is changed. One array for all bytes would take twice the memory.
 *
 * @param name names the file, for the error
 * @throws SessionError `invalid_argument` if the bytes cannot be read
 */
export async function blobOf(data: NewFile['data'], name: string): Promise<Blob> {
  const chunks = [];
  for await (const chunk of chunksOf(data, name)) chunks.push(new Blob([chunk]));
  return new Blob(chunks, { type: blobType(data) ?? '' });
}

/** Computes the hash of a file from its chunks: no host has a digest of a stream. */
export class ChunkHash {
  readonly #digests: ArrayBuffer[] = [];

  /** The host may have no `crypto.subtle`: a page that was not loaded by https. */
  get #subtle(): SubtleCrypto | undefined {
    return (globalThis.crypto as Crypto | undefined)?.subtle;
  }

  async add(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    const digest = await this.#digestOf(chunk);
    if (digest !== undefined) this.#digests.push(digest);
  }

  /** Whether a chunk has the bytes of the one that was added at this place. Without `crypto.subtle`, any has. */
  async hasAt(place: number, chunk: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const digest = await this.#digestOf(chunk);
    const added = this.#digests[place];
    return digest === undefined || (added !== undefined && inHex(digest) === inHex(added));
  }

  /** Returns the hash in hexadecimal; `undefined` without `crypto.subtle`. */
  async end(): Promise<string | undefined> {
    const digest = await this.#digestOf(await new Blob(this.#digests).arrayBuffer());
    return digest && inHex(digest);
  }

  async #digestOf(bytes: BufferSource): Promise<ArrayBuffer | undefined> {
    return this.#subtle?.digest('SHA-256', bytes);
  }
}

function inHex(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map(toHex).join('');
}

function toHex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** Returns the hash of a Blob, which can be read again afterwards. @param name names the file, for the error */
export async function hashOf(blob: Blob, name: string): Promise<string | undefined> {
  return (await hashChunks(blob, name)).end();
}

/** Reads a Blob for the hash of its chunks. @param name names the file, for the error */
export async function hashChunks(blob: Blob, name: string): Promise<ChunkHash> {
  const hash = new ChunkHash();
  for await (const chunk of chunksOf(blob, name)) await hash.add(chunk);
  return hash;
}

/**
 * Cuts a Blob into chunks that have the bytes of an earlier reading.
 *
 * @param name names the file, for the error
 * @throws SessionError `invalid_argument` if the bytes cannot be read, or if they are others by now
 */
export async function* chunksAgain(
  blob: Blob,
  name: string,
  before: ChunkHash,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let place = 0;
  for await (const chunk of chunksOf(blob, name)) {
    if (!(await before.hasAt(place, chunk))) {
      throw unreadable(blob, name, new Error('It has other bytes than before.'));
    }
    yield chunk;
    place += 1;
  }
}
