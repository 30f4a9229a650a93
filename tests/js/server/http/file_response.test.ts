import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { fileResponse } from '../../../../js/server/http/file_response.js';

const BYTES = new Uint8Array(1000).map((_, at) => at * 7);
const VERSION = { version: 3, mimeType: 'image/png', size: 1000, createTime: 5 };
const ETAG = '"3-5"';

async function respond(headers: Record<string, string>) {
  const request = new Request('http://localhost/a.png', { headers });
  const open = ({ start = 0, end = 1000 }: { start?: number; end?: number }) =>
    Promise.resolve(new Blob([BYTES.slice(start, end)]));
  const response = await fileResponse(request, VERSION, open);
  assert.ok(response);
  return response;
}

describe('The response with a range of a file', () => {
  const ranges: readonly (readonly [range: string, expected: string | number])[] = [
    ['bytes=0-9', 'bytes 0-9/1000'],
    ['bytes=990-', 'bytes 990-999/1000'],
    ['bytes=-5', 'bytes 995-999/1000'],
    ['bytes=-2000', 'bytes 0-999/1000'],
    ['bytes=999-5000', 'bytes 999-999/1000'],
    ['bytes=1000-', 416],
    ['bytes=-0', 416],
    ['bytes=9-0', 200],
    ['bytes=0-1,5-6', 200],
    ['lines=0-1', 200],
    ['bytes=-', 200],
  ];

  it('has the bytes that the range names, as far as the file has them', async () => {
    for (const [range, answer] of ranges) {
      for (const condition of [{}, { 'if-range': ETAG }]) {
        const { status, headers, ...response } = await shownOf({ range, ...condition });
        if (typeof answer === 'number') {
          const told = answer === 416 ? 'bytes */1000' : null;
          assert.deepEqual([status, headers.get('content-range')], [answer, told], range);
          assert.equal(response.bytes.length, answer === 416 ? 0 : 1000);
          continue;
        }
        const [, start, end] = /(\d+)-(\d+)/.exec(answer) ?? [];
        assert.deepEqual([status, headers.get('content-range')], [206, answer]);
        assert.deepEqual(response.bytes, BYTES.slice(Number(start), Number(end) + 1));
      }
    }
  });

  it('has the whole file if the file has changed since the client read a part of it', async () => {
    for (const [range] of ranges) {
      assert.equal((await respond({ range, 'if-range': '"other"' })).status, 200);
    }
  });
});

async function shownOf(headers: Record<string, string>) {
  const response = await respond(headers);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}
