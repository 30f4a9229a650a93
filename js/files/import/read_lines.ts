import { kindOf } from '../../errors/describe.js';
import { invalid, invalidValue } from '../../errors/invalid.js';
import type { HostAbortSignal, HostReadableStream } from '../../model/host.js';
import type { MaybePromise } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import { SessionError } from '../../errors/errors.js';

/**
 * The source of JSON Lines: a text, the stream of a file or response, or any iterable of text or UTF-8 bytes.
 * Chunks may end anywhere.
 *
 * @example
 * ```ts
 * import { createReadStream } from 'node:fs';
 * import type { LinesSource } from 'adk-session-wasm/files';
 *
 * const file: LinesSource = createReadStream('shop.sessions.jsonl');
 * ```
 */
export type LinesSource =
  | string
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>
  | HostReadableStream<string | Uint8Array>;

/**
 * Yields the lines of `source`, without their line ends.
 *
 * @throws SessionError `aborted`; `invalid_argument` if the source yields anything other than text or UTF-8 bytes
 */
export async function* readLines(
  source: LinesSource,
  signal?: HostAbortSignal,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Pieces are joined only at the end of a line: a line may be a session of megabytes, in a thousand chunks.
  let pieces: string[] = [];
  for await (const chunk of readChunks(source, signal)) {
    const [unfinishedLine = '', ...completeLines] = decodeChunk(chunk, decoder)
      .split('\n')
      .reverse();
    for (const text of completeLines.reverse()) {
      yield pieces.join('') + text;
      pieces = [];
    }
    pieces.push(unfinishedLine);
  }
  pieces.push(decodeChunk(new Uint8Array(), decoder, true));
  yield pieces.join('');
}

async function* readChunks(
  source: LinesSource,
  signal: HostAbortSignal | undefined,
): AsyncGenerator<unknown, void> {
  if (typeof source === 'string') {
    yield source;
    return;
  }
  const chunks = openChunks(source);
  try {
    for (;;) {
      const { done, value } = await untilAborted(signal, chunks.read());
      if (done === true) return;
      yield value;
    }
  } finally {
    // The caller may stop early. A source that failed may fail here again, which is ignored.
    const cancelling = Promise.resolve().then(() => chunks.cancel());
    const cancelled = cancelling.catch(() => undefined);
    // A source that did not answer before the signal may not answer to this either.
    if (signal?.aborted !== true) await cancelled;
  }
}

/** A source that is being read. */
interface Chunks {
  read(): MaybePromise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Tells the source that no more chunks are wanted. */
  cancel(): unknown;
}

function openChunks(source: unknown): Chunks {
  if (isStream(source)) {
    // Not its iterator: Safari's streams have none, and it cannot cancel a stream that does not answer.
    const reader = source.getReader();
    return { read: () => reader.read(), cancel: () => reader.cancel() };
  }
  const iterator = iteratorOf(source);
  return { read: () => iterator.next(), cancel: () => iterator.return?.() };
}

function isStream(source: unknown): source is HostReadableStream<unknown> {
  return typeof source === 'object' && source !== null && 'getReader' in source;
}

function iteratorOf(source: unknown): AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof source === 'object' && source !== null) {
    if (Symbol.asyncIterator in source)
      return (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    if (Symbol.iterator in source) return (source as Iterable<unknown>)[Symbol.iterator]();
  }
  throw invalidValue('source', 'must be text, a stream or iterable', source);
}

function decodeChunk(chunk: unknown, decoder: TextDecoder, isLast = false): string {
  if (typeof chunk === 'string') return chunk;
  if (!ArrayBuffer.isView(chunk)) {
    throw invalid('source', `must give text or bytes; it gave ${kindOf(chunk)}`);
  }
  try {
    return decoder.decode(chunk, { stream: !isLast });
  } catch (cause) {
    const message = 'The source is not UTF-8 text; it may be compressed, or a database.';
    throw new SessionError('invalid_argument', message, { key: 'source', cause });
  }
}
