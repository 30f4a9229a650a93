import { onAbort } from '../../call/on_abort.js';
import type { HostAbortSignal } from '../../model/host.js';

/** The most characters of an event that is not complete: a server that never ends one must not fill the memory. */
const MAX_PENDING = 2 ** 26;

/**
 * Yields the data of the server-sent events in a response, and `undefined` for each comment, which shows that the
 * server is still there.
 *
 * @param signal ends the reading; not every `fetch` of a user's own ends the body
 * @param onId called with the id of an event after its data was taken
 * @throws an error if an event is too long or not complete; and what reading the body throws
 */
export async function* serverSentEvents(
  response: Response,
  signal: HostAbortSignal,
  onId?: (id: string) => void,
): AsyncGenerator<string | undefined, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const ignoreSignal = onAbort(signal, () => void reader.cancel().catch(() => undefined));
  const decoder = new TextDecoder();
  let data: string[] = [];
  let dataLength = 0;
  let id = '';
  let pending = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        if (signal.aborted || (pending === '' && data.length === 0)) return;
        throw new Error('it ended within an event');
      }
      pending += decoder.decode(value, { stream: true });
      if (pending.length + dataLength > MAX_PENDING) throw new Error('an event is too long');
      const lines = pending.split(/\r\n|\n|\r(?!$)/);
      pending = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith(':')) yield undefined;
        else if (line.startsWith('data:')) {
          data.push(line.slice(line[5] === ' ' ? 6 : 5));
          dataLength += line.length;
        } else if (line.startsWith('id:')) id = line.slice(3).trim();
        else if (line === '') {
          if (data.length > 0) yield data.join('\n');
          data = [];
          dataLength = 0;
          if (id !== '') onId?.(id);
          id = '';
        }
      }
    }
  } finally {
    ignoreSignal();
    await reader.cancel().catch(() => undefined);
  }
}
