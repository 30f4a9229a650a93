import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { serve, SESSIONS } from './fixture.js';

const OTHER = 'https://shop.example';

describe('Pages of other origins', () => {
  it('are refused unless their origin is listed', async () => {
    const { ask, service } = serve();
    for (const origin of [OTHER, 'null', 'http://localhost:81', 'https://localhost']) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, headers } = await ask(SESSIONS, { method, headers: { origin } });
        assert.equal(status, 403);
        assert.equal(headers.get('access-control-allow-origin'), null);
      }
    }
    assert.equal((await service.listSessions({ appName: 'shop' })).totalItems, 0);
  });

  it('that are listed may send requests with cookies and read responses and errors', async () => {
    const { ask } = serve({ allowedOrigins: [OTHER] });
    for (const path of [SESSIONS, `${SESSIONS}/none`]) {
      const { headers } = await ask(path, { headers: { origin: OTHER } });
      assert.equal(headers.get('access-control-allow-origin'), OTHER);
      assert.equal(headers.get('access-control-allow-credentials'), 'true');
      assert.match(headers.get('vary')!, /^Origin, /);
    }
  });

  it('that are listed get the answer to a preflight', async () => {
    const { ask } = serve({ allowedOrigins: [OTHER], authorize: () => false });
    const { status, headers } = await ask(SESSIONS, {
      method: 'OPTIONS',
      headers: {
        origin: OTHER,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization, content-type',
      },
    });
    assert.equal(status, 204);
    assert.match(headers.get('access-control-allow-methods')!, /PATCH/);
    assert.equal(headers.get('access-control-allow-headers'), 'authorization, content-type');
  });

  it("do not include the server's own page, behind a proxy either", async () => {
    const { ask } = serve();
    const own = { origin: 'http://localhost' };
    assert.equal((await ask(SESSIONS, { headers: own })).status, 200);
    const behindProxy = { origin: 'https://chat.example', 'sec-fetch-site': 'same-origin' };
    assert.equal((await ask(SESSIONS, { headers: behindProxy })).status, 200);
  });

  it('include a page whose origin looks like the own one if the browser says otherwise', async () => {
    const { ask } = serve();
    for (const site of ['cross-site', 'same-site', 'none']) {
      // Behind a proxy that ends TLS, the own page is https.
      const headers = { origin: 'http://localhost', 'sec-fetch-site': site };
      assert.equal((await ask(SESSIONS, { headers })).status, 403, site);
    }
  });

  it('cannot send a body that needs no preflight', async () => {
    const { handler } = serve({ allowedOrigins: [OTHER] });
    const response = await handler(
      new Request(`http://localhost${SESSIONS}`, {
        method: 'POST',
        headers: { origin: OTHER, 'content-type': 'text/plain' },
        body: '{"sessionId":"s1"}',
      }),
    );
    assert.equal(response.status, 415);
  });
});
