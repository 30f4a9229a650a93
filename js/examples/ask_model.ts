/**
 * Asks a model over HTTP, and yields the parts of its response as they arrive. Gemini and the servers with OpenAI's
 * API send them as server-sent events: `data: {…}` and an empty line.
 *
 * @param name - the model, for errors
 */
export async function* askModel(
  name: string,
  url: string,
  headers: Record<string, string>,
  question: object,
): AsyncGenerator<unknown, void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(question),
  });
  if (!response.ok || response.body === null)
    throw new Error(`${name} answered ${response.status}: ${await response.text()}`);
  const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
    // Google ends lines with \r\n. Within JSON, both characters are escaped.
    const events = (text + piece.value.replaceAll('\r', '')).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? '';
      // Comments, which keep a connection alive, and the end of OpenAI's API are no JSON.
      if (!data.startsWith('{')) continue;
      const answer = JSON.parse(data) as { error?: { message?: string } };
      if (answer.error !== undefined) throw new Error(`${name} failed: ${answer.error.message}`);
      yield answer;
    }
  }
}
