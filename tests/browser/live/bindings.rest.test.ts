// React, Vue and a store as Svelte reads it, over the real `adk api_server`: they ask, show the draft and the answer, and stop.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createElement, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createApp, defineComponent, h } from 'vue';

import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { type LiveSession, liveSession } from '../../../js/ui/live/index.js';
import { SessionProvider, useSession as useReactSession } from '../../../js/ui/react/index.js';
import { provideSessions, useSession as useVueSession } from '../../../js/ui/vue/index.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { besideApiServer, lineOf } from './api_server_pages.js';

/** A chat on the screen. */
interface Screen {
  readonly line: () => string;
  readonly store: () => LiveSession;
  readonly leave: () => void;
}

type Key = Parameters<typeof liveSession>[1];

const BINDINGS = {
  React(service: RemoteSessionService, key: Key): Screen {
    let store: LiveSession | undefined;
    const Chat = (): ReactElement => {
      const chat = useReactSession();
      ({ store } = chat);
      return createElement('p', null, lineOf(chat.session));
    };
    const container = document.body.appendChild(document.createElement('div'));
    const root = createRoot(container);
    root.render(createElement(SessionProvider, { service, ...key }, createElement(Chat)));
    return {
      line: () => container.textContent ?? '',
      store: () => store!,
      leave: () => root.unmount(),
    };
  },
  Vue(service: RemoteSessionService, key: Key): Screen {
    let store: LiveSession | undefined;
    const Chat = defineComponent(() => {
      const chat = useVueSession();
      return () => {
        store = chat.store.value;
        return h('p', lineOf(chat.session.value));
      };
    });
    const container = document.body.appendChild(document.createElement('div'));
    const app = createApp(
      defineComponent(() => {
        provideSessions(() => ({ service, ...key }));
        return () => h(Chat);
      }),
    );
    app.mount(container);
    return {
      line: () => container.textContent ?? '',
      store: () => store!,
      leave: () => app.unmount(),
    };
  },
  'a store as Svelte reads it'(service: RemoteSessionService, key: Key): Screen {
    const store = liveSession(service, key);
    let line = '';
    const leave = store.subscribe((snapshot) => (line = lineOf(snapshot)));
    return { line: () => line, store: () => store, leave };
  },
};

type Binding = keyof typeof BINDINGS;

export function page() {
  const [url = '', sessionId = ''] = location.hash.slice(1).split(',');
  const service = new RemoteSessionService({ url });
  return {
    /** Asks, stops what is asked last once its draft is shown, and returns what the screen shows then. */
    async converse(binding: Binding, asked: string, stopped: string): Promise<string> {
      const key = { appName: 'script', userId: 'ada', sessionId };
      const { line, store, leave } = BINDINGS[binding](service, key);
      const waitFor = async (expected: string): Promise<void> => {
        for (let tries = 0; tries < 2000; tries += 1) {
          if (line() === expected) return;
          await new Promise((done) => setTimeout(done, 5));
        }
        throw new Error(`${expected} was never shown, but ${line()}`);
      };
      await waitFor('idle');
      void store().ask(asked);
      await waitFor('running|…|(tea)');
      await waitFor('idle|…|tea is asked');
      void store().ask(stopped);
      await waitFor('running|…|tea is asked|…|(tea)');
      await store().cancel();
      await waitFor('cancelled|…|tea is asked|…|INVOCATION_ABORTED');
      const shown = line();
      leave();
      return shown;
    },
  };
}

describe('Over adk api_server', { timeout: 180_000 }, () => {
  const { addressOf } = besideApiServer(import.meta.url);

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(name)));
      after(() => browser.close());

      for (const [at, binding] of (Object.keys(BINDINGS) as Binding[]).entries()) {
        it(`${binding} asks, shows the draft and the answer, and stops a run`, async () => {
          const partial = { say: 'tea', partial: true };
          const asked = JSON.stringify([partial, { wait: 0.5 }, { say: 'tea is asked' }]);
          const stopped = JSON.stringify([partial, { wait: 20 }, { say: 'never' }]);
          const address = addressOf(`${name}${at}`);
          await inTabs<ReturnType<typeof page>>(browser, [address], async ([tab]) => {
            const shown = await tab!.call('converse', binding, asked, stopped);
            assert.equal(shown, 'cancelled|…|tea is asked|…|INVOCATION_ABORTED');
          });
        });
      }
    });
  }
});
