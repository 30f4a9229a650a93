/**
 * Files of the handler's own service that leave as the client takes them. A response has a few MiB of one in memory, however
 * slowly its client reads.
 */
import type { ArtifactHome, FileVersion } from '../../stores/artifacts/artifact_home.js';
import { type FilePlace, placeOf } from '../../stores/artifacts/artifact_names.js';
import { base64, CHUNK_BYTES, toUrlAlphabet } from '../../stores/artifacts/file_bytes.js';
import type { ArtifactRequest, ArtifactVersion } from '../../values/model/artifact.js';
import type { Abortable } from '../../values/model/session.js';
import { COMMON_HEADERS } from '../http/responses.js';
import { streamOf } from '../http/streams.js';
import type { RouteCall } from '../requests/route.js';

/** A version of more than one chunk. */
export class LargeFile {
  readonly #home: ArtifactHome;
  readonly #place: FilePlace;
  readonly #stored: FileVersion;
  readonly #call: Abortable;

  constructor(home: ArtifactHome, place: FilePlace, stored: FileVersion, call: Abortable) {
    this.#home = home;
    this.#place = place;
    this.#stored = stored;
    this.#call = call;
  }

  /** Whether a Blob of the whole file would be in memory, and not where the file is. */
  get isInMemory(): boolean {
    return this.#home.readsIntoMemory === true;
  }

  /** Whether it is a text, and not bytes, as a part of the ADK. */
  get isText(): boolean {
    return this.#stored.facts.mimeType === undefined;
  }

  /** Returns the bytes of a range. The stream fails if the version is deleted while it is read. */
  stream(range: { readonly start: number; readonly end: number }): ReadableStream<Uint8Array> {
    return streamOf(this.#chunks(range.start, range.end));
  }

  /** Returns the response with the part of the ADK. @param isUrl whether base64 has the alphabet for URLs */
  partResponse(headers: Readonly<Record<string, string>>, isUrl: boolean): Response {
    const { facts, size } = this.#stored;
    const { mimeType, displayName } = facts;
    const encoder = new TextEncoder();
    const empty = JSON.stringify({ inlineData: { mimeType, displayName, data: '' } });
    const [start, end] = [empty.slice(0, -END.length), END].map((text) => encoder.encode(text));
    const length = start!.length + 4 * Math.ceil(size / 3) + end!.length;
    async function* json(encoded: AsyncIterable<string>): AsyncGenerator<Uint8Array, void> {
      yield start!;
      for await (const text of encoded) yield encoder.encode(text);
      yield end!;
    }
    return new Response(streamOf(json(this.#base64(isUrl))), {
      headers: {
        ...COMMON_HEADERS,
        'content-type': 'application/json',
        'content-length': String(length),
        ...headers,
      },
    });
  }

  async *#chunks(first: number, end: number): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    for (let start = first; start < end; start += CHUNK_BYTES) {
      const range = { start, end: Math.min(end, start + CHUNK_BYTES) };
      const { version, createTime, hash } = this.#stored;
      const blob = await this.#home.open(this.#place, version, range, this.#call);
      // Another session with the id may have a version of this number by now.
      const versions = await this.#home.versions(this.#place, this.#call);
      const now = versions.find((one) => one.version === version);
      if (blob === undefined || now?.createTime !== createTime || now.hash !== hash) {
        throw new Error('The file was deleted while it was read.');
      }
      yield new Uint8Array(await blob.arrayBuffer());
    }
  }

  async *#base64(isUrl: boolean): AsyncGenerator<string, void> {
    // It takes three bytes at once.
    let rest = new Uint8Array();
    for await (const chunk of this.#chunks(0, this.#stored.size)) {
      const bytes = new Uint8Array(rest.length + chunk.length);
      bytes.set(rest);
      bytes.set(chunk, rest.length);
      const whole = bytes.length - (bytes.length % 3);
      rest = bytes.slice(whole);
      yield encoded(bytes.subarray(0, whole), isUrl);
    }
    yield encoded(rest, isUrl);
  }
}

/** The end of the JSON text of a part, after its base64. */
const END = '"}}';

function encoded(bytes: Uint8Array, isUrl: boolean): string {
  const text = base64(bytes);
  return isUrl ? toUrlAlphabet(text) : text;
}

/**
 * Finds a version to be sent in pieces. Returns `undefined` for one that is small, or gone, and for files that only a given
 * service or another server can read.
 */
export async function findLargeFile(
  { core, gone: signal }: RouteCall<object>,
  request: ArtifactRequest,
  { version, size = 0 }: ArtifactVersion,
): Promise<LargeFile | undefined> {
  const home = (await core?.artifacts?.localArtifacts())?.home;
  if (home === undefined || home.readsWhole === true || size <= CHUNK_BYTES) return undefined;
  const place = placeOf(request);
  const versions = await home.versions(place, { signal });
  const stored = versions.find((one) => one.version === version);
  return stored && new LargeFile(home, place, stored, { signal });
}
