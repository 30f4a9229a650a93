// The routes that name apps, and `/health`.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type SessionAccess } from '../../../../js/server/index.js';
import { serve } from '../fixture.js';

describe('The routes of apps', () => {
  it('tell the names for which listApps is allowed, and nothing else', async () => {
    const authorize = (_: unknown, { action, appName }: SessionAccess) =>
      action === 'listApps' && appName !== 'secret';
    const { ask } = serve({ authorize, apps: ['shop', 'secret', 'tea'] });
    const info = (name: string) => ({
      name,
      rootAgentName: name,
      description: '',
      language: 'typescript',
      isComputerUse: false,
      agents: {},
    });
    assert.deepEqual((await ask('/list-apps')).body, ['shop', 'tea']);
    // adk-web asks in this way.
    assert.deepEqual((await ask('/list-apps?relative_path=./')).body, ['shop', 'tea']);
    const { body } = await ask('/list-apps?detailed=true');
    assert.deepEqual(body, { apps: [info('shop'), info('tea')] });
    assert.deepEqual((await ask('/apps/tea/app-info')).body, info('tea'));
    assert.equal((await ask('/apps/secret/app-info')).status, 403);
    assert.equal((await ask('/apps/none/app-info')).status, 404);
  });

  it('are status 404 without the option, and ask who sends a request', async () => {
    const { ask } = serve();
    for (const path of ['/list-apps', '/apps/shop/app-info']) {
      assert.equal((await ask(path)).status, 404);
      const unknown = serve({ authorize: () => 'unauthenticated', apps: ['shop'] });
      assert.equal((await unknown.ask(path)).status, 401);
    }
  });

  it('/health is open', async () => {
    const { ask } = serve({ authorize: () => false });
    const { status, body } = await ask('/health');
    assert.deepEqual([status, body], [200, { status: 'ok' }]);
  });
});
