// The parser of server-sent events, fed with streams that are cut at any byte.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { serverSentEvents } from '../../../../../js/stores/remote/connection/server_sent_events.js';

/** Returns a response whose body comes in pieces of so many bytes. */
function inPieces(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  let position = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (position >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(position, position + size));
      position += size;
    },
  });
  return new Response(body);
}

/** Returns the data of all events, `undefined` for comments, and the ids as `id …`. */
async function parse(response: Response): Promise<(string | undefined)[]> {
  const parsed: (string | undefined)[] = [];
  const onId = (id: string) => void parsed.push(`id ${id}`);
  const { signal } = new AbortController();
  for await (const data of serverSentEvents(response, signal, onId)) parsed.push(data);
  return parsed;
}

describe('The parser of server-sent events', () => {
  const TEXT = ': hi\nid: 1\n\ndata: {"é": "😀"}\ndata: 2\nid: 7\n\ndata:x\n\n';
  const PARSED = [undefined, 'id 1', '{"é": "😀"}\n2', 'id 7', 'x'];

  for (const [name, end] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
    it(`returns the same events wherever a stream with ${name} is cut`, async () => {
      const text = TEXT.replaceAll('\n', end);
      for (let size = 1; size <= text.length; size += 1) {
        assert.deepEqual(await parse(inPieces(text, size)), PARSED, `pieces of ${size} bytes`);
      }
    });
  }

  it('fails if the stream ends within an event', async () => {
    for (const text of ['data: 1', 'data: 1\n', ': hi\n\nda']) {
      await assert.rejects(parse(inPieces(text, 3)), /ended within an event/);
    }
  });

  it('takes time that grows with the length of a line, not with its square', async () => {
    const timeOf = async (length: number) => {
      const line = `data: ${'x'.repeat(length)}\n\n`;
      const before = process.cpuUsage();
      const [data] = await parse(inPieces(line, 16_384));
      assert.equal(data?.length, length);
      return process.cpuUsage(before).user / 1000;
    };
    await timeOf(2 ** 20);
    const short = await timeOf(2 ** 21);
    const long = await timeOf(2 ** 24);
    assert.ok(long < 30 * short, `8 times the length took ${short} and ${long} ms`);
  });
});
