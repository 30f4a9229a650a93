import { reasonOf } from '../../values/errors/describe.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import type { SessionError } from '../../values/errors/errors.js';
import { onAbort } from '../../core/call/time_limit.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { HttpRefusal } from './responses.js';
import { parseJson } from '../../values/json/parse.js';

/**
 * Reads the JSON object in a request's body. An empty body counts as `{}`.
 *
 * @param maxBytes bytes after which reading stops
 * @throws HttpRefusal 413 if the body is too large, 415 if it is not declared as JSON, 408 if `signal` fires, 500 if
 *   it was read before
 * @throws SessionError `invalid_argument` if it is not a JSON object
 */
export async function readJsonObject(
  request: Request,
  maxBytes: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  const text = await readText(request, maxBytes, signal);
  if (text === '') return {};
  requireJsonType(request);
  const value = parse(text);
  if (!isPlainObject(value)) throw invalidValue('body', 'must be an object', value);
  return value;
}

/** Returns the error for a member or a parameter that a route does not have. */
export function unknownMember(name: string, known: readonly string[]): SessionError {
  return invalid(name, `is unknown here. Known are ${known.join(', ') || 'none'}`);
}

/** A page of any origin may send plain text without a preflight, but not JSON. */
function requireJsonType(request: Request): void {
  const type = request.headers.get('content-type') ?? '';
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new HttpRefusal(415, 'The body must be JSON: send content-type: application/json.');
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalid('body', `is not JSON that can be read: ${reasonOf(error)}`, error);
  }
}

/** Decodes a whole body at once: decoding its chunks one by one takes a converter of its own for each request. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

async function readText(request: Request, maxBytes: number, signal: AbortSignal): Promise<string> {
  const advice = 'send fewer events at once, or raise maxBodyBytes at the server.';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readBytes(request, { maxBytes, advice, signal })) {
    chunks.push(chunk);
    size += chunk.byteLength;
  }
  try {
    return UTF_8.decode(chunks.length === 1 ? chunks[0] : joined(chunks, size));
  } catch (error) {
    throw invalid('body', 'is not UTF-8', error);
  }
}

/** The limits of a body. */
interface BodyLimits {
  readonly maxBytes: number;
  /** What to do about a body that is too large. */
  readonly advice: string;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Called with the bytes that have come, after each part of them. */
  readonly onReceived?: (size: number) => void;
}

/**
 * Reads the bytes of a body as they come. Nothing is read before the first step.
 *
 * @throws HttpRefusal 413 at once if the request says that the body is too large, 500 if it was read before; at a step
 *   413, 408 if the signal fires, and 400 if the body breaks off
 */
export function readBytes(request: Request, limits: BodyLimits): AsyncIterable<Uint8Array> {
  const declared = Number(request.headers.get('content-length'));
  if (declared > limits.maxBytes) throw tooLarge(limits);
  if (request.bodyUsed) {
    const message = 'The server has read the body before the handler. Let it read request.clone().';
    throw new HttpRefusal(500, message);
  }
  return chunksIn(request, declared, limits);
}

function tooLarge({ maxBytes, advice }: BodyLimits): HttpRefusal {
  return new HttpRefusal(413, `The body has more than ${maxBytes} bytes: ${advice}`);
}

async function* chunksIn(
  { body }: Request,
  declared: number,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { maxBytes, signal, onReceived } = limits;
  const cutOff = (): never => {
    throw new HttpRefusal(400, 'The body was cut off.');
  };
  if (body === null) return;
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  const ignoreSignal = onAbort(signal, stop);
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cutOff);
      if (signal.aborted) throw new HttpRefusal(408, 'The body did not arrive in time.');
      if (done) return size < declared ? cutOff() : undefined;
      size += value.byteLength;
      onReceived?.(size);
      if (size > maxBytes) throw tooLarge(limits);
      yield value;
    }
  } finally {
    ignoreSignal();
    stop();
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
