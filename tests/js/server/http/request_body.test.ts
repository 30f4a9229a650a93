import assert from 'node:assert/strict';
import { it } from 'node:test';

import { readBytes } from '../../../../js/server/http/request_body.js';
import { HttpRefusal } from '../../../../js/server/http/responses.js';

it('The body of a request that is shorter than it says is refused with 400', async () => {
  const read = async (length: string): Promise<number> => {
    const headers = { 'content-length': length };
    const request = new Request('http://localhost', { method: 'PUT', headers, body: 'abc' });
    const { signal } = new AbortController();
    let size = 0;
    for await (const chunk of readBytes(request, { maxBytes: 10, advice: '', signal })) {
      size += chunk.length;
    }
    return size;
  };
  assert.equal(await read('3'), 3);
  await assert.rejects(read('4'), (error) => error instanceof HttpRefusal && error.status === 400);
});
