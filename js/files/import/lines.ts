import { SessionError } from '../../errors/errors.js';
import { invalid } from '../../call/call.js';
import { kindOf } from '../../json/rules.js';

/**
 * Where JSON Lines come from: a text, a file's or response's stream, or anything that gives pieces of
 * text or of UTF-8, cut wherever.
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
  | ReadableStream<string | Uint8Array>;

/**
 * The lines of `source`, without their ends.
 *
 * @throws SessionError `invalid_argument`, if it gives anything but text and UTF-8
 */
export async function* linesOf(source: LinesSource): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // In pieces: a line may be a session of megabytes, and come in a thousand of them.
  let pieces: string[] = [];
  for await (const chunk of chunksOf(source)) {
    const [rest = '', ...ended] = textOf(chunk, decoder).split('\n').reverse();
    for (const text of ended.reverse()) {
      yield pieces.join('') + text;
      pieces = [];
    }
    pieces.push(rest);
  }
  pieces.push(textOf(new Uint8Array(), decoder, true));
  yield pieces.join('');
}

async function* chunksOf(source: LinesSource): AsyncGenerator<unknown, void> {
  if (typeof source === 'string') {
    yield source;
  } else if (isStreamOnly(source)) {
    // Safari's streams cannot be iterated.
    const reader = source.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      // Whoever stops early wants no more of it; of one that failed this says so again.
      await reader.cancel().catch(() => undefined);
    }
  } else if (isIterable(source)) {
    yield* source;
  } else {
    throw invalid('source', `must be text, a stream or iterable; it is ${kindOf(source)}`);
  }
}

function isStreamOnly(source: unknown): source is ReadableStream<unknown> {
  if (typeof source !== 'object' || source === null) return false;
  return 'getReader' in source && !(Symbol.asyncIterator in source);
}

function isIterable(source: unknown): source is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof source !== 'object' || source === null) return false;
  return Symbol.asyncIterator in source || Symbol.iterator in source;
}

function textOf(chunk: unknown, decoder: TextDecoder, isLast = false): string {
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
