// Vue, Pinia and Alpine make a deep proxy of what is put into their state.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { reactive, ref } from 'vue';

import * as adk from '../../../../js/service/adk/index.js';
import * as assistantUi from '../../../../js/ui/assistant_ui/index.js';
import * as cache from '../../../../js/service/cache/index.js';
import * as database from '../../../../js/service/database/index.js';
import * as files from '../../../../js/service/files/index.js';
import * as history from '../../../../js/core/history/index.js';
import * as root from '../../../../js/index.js';
import * as live from '../../../../js/ui/live/index.js';
import * as remote from '../../../../js/service/remote/index.js';
import * as server from '../../../../js/server/index.js';
import * as slim from '../../../../js/slim.js';
import * as uri from '../../../../js/service/uri/index.js';
import * as vertex from '../../../../js/service/vertex/index.js';
import { KEY, message } from '../live/stores.js';

const ENTRIES: readonly object[] = [
  ...[
    root,
    slim,
    adk,
    assistantUi,
    cache,
    database,
    files,
    history,
    live,
    remote,
    server,
    uri,
    vertex,
  ],
];

function isClass(value: unknown): value is { readonly name: string; readonly prototype: object } {
  return typeof value === 'function' && value.toString().startsWith('class');
}

/** Returns an object as a component reads it from a ref. The type of a ref lacks private members. */
const held = <T extends object>(object: T): T => ref<unknown>(object).value as T;

describe('Reactive state of Vue', () => {
  it('makes no proxy of an instance of any class that the package exports', () => {
    const classes = ENTRIES.flatMap((entry) => Object.values(entry).filter(isClass));
    // Vue makes no proxy of an error.
    const ours = classes.filter(({ prototype }) => !(prototype instanceof Error));
    assert.ok(ours.length > 10);
    for (const { name, prototype } of ours) {
      const instance = Object.create(prototype) as object;
      assert.equal(reactive({ instance }).instance, instance, name);
    }
  });

  it('makes no proxy of an object that a function of the package returns', async () => {
    const service = new root.InMemorySessionService();
    const session = await service.createSession(KEY);
    const cached = new cache.CachedSessionService({
      owner: 'ada',
      remote: new remote.RemoteSessionService({ url: 'http://127.0.0.1:9' }),
      local: 'memory',
    });
    const invocation = new root.Invocation({ service, session });
    const context = invocation.context({ agentName: 'guide' });
    const objects = {
      adkService: adk.asAdkService(service),
      outbox: cached.outbox,
      readonlyState: invocation.readonlyContext({ agentName: 'guide' }).state,
      trackedState: context.state,
      store: live.liveSession(service, KEY),
      list: live.liveSessions(service, { appName: 'app' }),
      notices: service.watch(KEY),
    };
    const shown = reactive<Record<string, object>>(objects);
    for (const [name, object] of Object.entries(objects)) assert.equal(shown[name], object, name);
    await cached.close();
    await service.close();
  });

  it('holds a service, an invocation, a context and a template that work', async () => {
    const service = held(new root.InMemorySessionService());
    const session = held(await service.createSession(KEY));
    const invocation = held(new root.Invocation({ service, session }));
    const context = held(invocation.context({ agentName: 'guide' }));
    held(context.state).set('topic', 'tea');
    await invocation.append(message('e1'), { context });
    assert.equal(await held(new root.Template('{topic}')).render(context), 'tea');
    assert.deepEqual((await service.getSession(KEY))?.state, { topic: 'tea' });
    assert.equal(session.events.length, 1);
  });
});
