/** The most characters of an event that is not complete: a server that never ends one must not fill the memory. */
const MAX_PENDING = 2 ** 26;

/**
 * Yields the data of the server-sent events in a response, and `undefined` for each comment, which shows that the
 * server is still there.
 *
 * @throws an error if an event is too long; and what reading the body throws
 */
export async function* serverSentEvents(
  response: Response,
): AsyncGenerator<string | undefined, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let data: string[] = [];
  let pending = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      pending += decoder.decode(value, { stream: true });
      if (pending.length > MAX_PENDING) throw new Error('an event is too long');
      const lines = pending.split(/\r\n|\n|\r(?!$)/);
      pending = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith(':')) yield undefined;
        else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
        else if (line === '' && data.length > 0) {
          yield data.join('\n');
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
