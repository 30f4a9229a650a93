/**
 * Asks a model over HTTP, and yields the pieces of its response as they arrive. Gemini and servers with OpenAI's API
 * send them as server-sent events: `data: {…}` and an empty line.
 *
 * @param name - The model, for error messages.
 */
export async function* askModel(
  name: string,
  url: string,
  headers: Record<string, string>,
  request: object,
): AsyncGenerator<unknown, void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
  });
  if (!response.ok || response.body === null)
    throw new Error(`${name} answered ${response.status}: ${await response.text()}`);
  const chunks = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let chunk = await chunks.read(); !chunk.done; chunk = await chunks.read()) {
    // Google ends lines with \r\n. JSON escapes both characters, so a bare \r is never part of a text.
    const events = (text + chunk.value.replaceAll('\r', '')).split('\n\n');
    // The last event has not arrived completely.
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? '';
      // Comments keep a connection alive. OpenAI's API ends with `[DONE]`.
      if (!data.startsWith('{')) continue;
      const piece = JSON.parse(data) as { error?: unknown };
      if (piece.error) throw new Error(`${name} failed: ${JSON.stringify(piece.error)}`);
      yield piece;
    }
  }
}
