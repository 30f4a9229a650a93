/** Takes the files of a request at the call, because the caller may change its objects later. */
import { copyPlain } from '../../values/state/delta.js';
import { invalid } from '../../values/errors/invalid.js';
import { optionalCount } from '../../values/errors/option_values.js';
import type { ArtifactData, AttachedFile } from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import type { HostBlob } from '../../values/model/host.js';

/** Whether a value is a `Blob` or a `File`, of any realm: a page may get one from a frame. */
export function isBlob(value: unknown): value is HostBlob {
  return value instanceof Blob || /^(Blob|File)$/.test(classOf(value));
}

/** Whether a value is a `Uint8Array` of any realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && classOf(value) === 'Uint8Array';
}

/** Takes the bytes of a caller. What can change is copied. @throws SessionError `invalid_argument` */
export function dataOf(data: ArtifactData): HostBlob | AsyncIterable<Uint8Array> {
  if (isBlob(data)) return data;
  if (ArrayBuffer.isView(data) || classOf(data) === 'ArrayBuffer') {
    try {
      return new Blob([data as ArrayBufferView<ArrayBuffer> | ArrayBuffer]);
    } catch (cause) {
      throw invalid('data', 'must not be shared memory, or more than the host can copy', cause);
    }
  }
  if (Symbol.asyncIterator in Object(data)) return data as AsyncIterable<Uint8Array>;
  if (typeof (data as Partial<ReadableStream> | undefined)?.getReader === 'function') {
    return streamed(data as ReadableStream<Uint8Array>);
  }
  throw invalid(
    'data',
    'must be a Blob, an ArrayBuffer, a view of one, or a stream of Uint8Arrays',
  );
}

/** Takes the files of a message. Those that are not valid are left as they are, and refused later. */
export function takeAttached(files: readonly AttachedFile[]): readonly AttachedFile[] {
  if (!Array.isArray(files)) return files;
  return files.map((file: AttachedFile) => {
    if (isBlob(file)) return file;
    const { data } = Object(file) as Partial<typeof file>;
    return data === undefined ? file : { ...file, data: dataOf(data) };
  });
}

/**
 * Takes a request: checks its version, and copies what the caller may change of a file.
 *
 * @throws SessionError `invalid_argument`
 */
export function takeFile<Request extends object>(request: Request): Request {
  const { version, data, artifact, customMetadata } = request as {
    readonly version?: unknown;
    readonly data?: ArtifactData;
    readonly artifact?: Part | null;
    readonly customMetadata?: unknown;
  };
  const { inlineData } = artifact ?? {};
  return {
    ...request,
    ...(version !== undefined && { version: optionalCount('version', version) }),
    ...(data !== undefined && { data: dataOf(data) }),
    ...(inlineData && { artifact: { ...artifact, inlineData: { ...inlineData } } }),
    ...(customMetadata !== undefined && { customMetadata: copyPlain(customMetadata) }),
  };
}

function classOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
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
