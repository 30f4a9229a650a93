import { kindOf } from '../../../values/errors/describe.js';
import { invalid } from '../../../values/errors/invalid.js';
import type { HostReadableStream } from '../../../values/model/host.js';
import { SessionError } from '../../../values/errors/errors.js';

/**
 * The source of JSON Lines: a text, the stream of a file or response, or any iterable of text or UTF-8 bytes.
 * Chunks may end anywhere.
 */
export type LinesSource =
  | string
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>
  | HostReadableStream<string | Uint8Array>;

/**
 * Yields the lines of `source`, without their line ends.
 *
 * @throws SessionError `invalid_argument` if the source yields anything other than text or UTF-8 bytes
 */
export async function* readLines(source: LinesSource): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Pieces are joined only at the end of a line: a line may be a session of megabytes, in a thousand chunks.
  let pieces: string[] = [];
  for await (const chunk of chunksOf(source)) {
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

function chunksOf(source: LinesSource): Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof source === 'string') return [source];
  return 'getReader' in source ? streamChunks(source) : source;
}

/** Reads a stream by its reader: Safari's streams have no iterator. */
async function* streamChunks(stream: HostReadableStream<unknown>): AsyncGenerator<unknown, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done === true) return;
      yield value;
    }
  } finally {
    // The caller may stop early. A stream that failed may fail here again, which is ignored.
    await reader.cancel().catch(() => undefined);
  }
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
