import { abortedError } from '../../call/call.js';
import { raceSignal } from '../../call/time_limit.js';
import { kindOf } from '../../errors/describe.js';
import { invalid, invalidValue } from '../../errors/invalid.js';
import type { HostAbortSignal, HostReadableStream } from '../../model/host.js';
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
 * @throws SessionError `invalid_argument` if the source yields anything other than text or UTF-8 bytes;
 *   `aborted` if the signal fires while the source has no next chunk
 */
export async function* readLines(
  source: LinesSource,
  signal?: HostAbortSignal,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Pieces are joined only at the end of a line: a line may be a session of megabytes, in a thousand chunks.
  let pieces: string[] = [];
  for await (const chunk of untilAborted(readChunks(source), signal)) {
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

/** Yields the same chunks, and ends when the signal fires, even if the source hangs. */
async function* untilAborted(
  chunks: AsyncGenerator<unknown, void>,
  signal: HostAbortSignal | undefined,
): AsyncGenerator<unknown, void> {
  if (signal === undefined) return yield* chunks;
  try {
    for (;;) {
      const { done, value } = await raceSignal(signal, chunks.next(), () => abortedError(signal));
      if (done === true) return;
      yield value;
    }
  } finally {
    // A source that hangs is released only after its next chunk.
    const released = chunks.return().catch(() => undefined);
    if (!signal.aborted) await released;
  }
}

async function* readChunks(source: LinesSource): AsyncGenerator<unknown, void> {
  if (typeof source === 'string') {
    yield source;
  } else if (isStreamOnly(source)) {
    // Safari's streams are not iterable.
    const reader = source.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      // Cancels the stream if the caller stops early. A stream that failed rejects here again, which is
      // ignored.
      await reader.cancel().catch(() => undefined);
    }
  } else if (isIterable(source)) {
    yield* source;
  } else {
    throw invalidValue('source', 'must be text, a stream or iterable', source);
  }
}

function isStreamOnly(source: unknown): source is HostReadableStream<unknown> {
  if (typeof source !== 'object' || source === null) return false;
  return 'getReader' in source && !(Symbol.asyncIterator in source);
}

function isIterable(source: unknown): source is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof source !== 'object' || source === null) return false;
  return Symbol.asyncIterator in source || Symbol.iterator in source;
}

function decodeChunk(chunk: unknown, decoder: TextDecoder, isLast = false): string {
  if (typeof chunk === 'string') return chunk;
  if (!ArrayBuffer.isView(chunk)) {
    throw invalid('source', `must give text or bytes; it gave ${kindOf(chunk)}`);
  }
  try {
    return decoder.decode(chunk, { stream: !isLast });
  } catch (cause) {
    throw new SessionError('invalid_argument', 'The source is not UTF-8.', {
      key: 'source',
      cause,
    });
  }
}
