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

  it('are refused without an origin too, if the browser names their site', async () => {
    const { ask } = serve({ allowedOrigins: [OTHER] });
    for (const [site, expected] of [
      ['cross-site', 403],
      ['same-site', 403],
      ['same-origin', 200],
      ['none', 200],
    ] as const) {
      const { status } = await ask(SESSIONS, { headers: { 'sec-fetch-site': site } });
      assert.equal(status, expected, site);
    }
  });

  it('may be those of an app or a browser extension', async () => {
    const origins = ['tauri://localhost', 'capacitor://localhost', 'chrome-extension://abcdefgh'];
    const { ask } = serve({ allowedOrigins: origins });
    for (const origin of origins) {
      const headers = { origin, 'sec-fetch-site': 'cross-site' };
      const answer = await ask(SESSIONS, { headers });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
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
