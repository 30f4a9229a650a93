// Runs of an agent over IndexedDB in several tabs: one at a time, and on the screen of all.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { openSessionService } from '../../../js/index.js';
import { liveSession, type LiveSessionSnapshot, type RunAgent } from '../../../js/ui/live/index.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { pageScript } from '../page_script.js';
import { serveModule, type Server } from '../server.js';

/** A tab with an agent that streams its answer, and ends it when it is told so. */
export function page() {
  const key = { appName: 'shop', userId: 'ada', sessionId: location.hash.slice(1) };
  const channels: BroadcastChannel[] = [];
  globalThis.BroadcastChannel = class extends BroadcastChannel {
    constructor(name: string) {
      super(name);
      channels.push(this);
    }
  };
  const service = openSessionService({ storage: 'indexeddb', name: 'runs' });
  const model = (text: string) => ({ role: 'model', parts: [{ text }] });
  let finish = (): void => undefined;
  const run: RunAgent = async function* ({ message, signal }) {
    const text = message.content?.parts?.[0]?.text ?? '';
    const finished = new Promise<void>((resolve, reject) => {
      finish = resolve;
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
    for (const piece of [text, ' is', ' asked']) {
      yield { author: 'guide', partial: true, content: model(piece) };
    }
    if (text !== 'quick') await finished;
    yield { author: 'guide', content: model(`${text} is asked`) };
  };
  const store = liveSession(service, key, { run, turns: true });
  const seen: string[] = [];
  store.subscribe((snapshot) => {
    const line = lineOf(snapshot);
    if (seen.at(-1) !== line) seen.push(line);
  });
  const shownTurn = () => {
    const { events, turns } = store.getSnapshot();
    return turns[events[0]?.invocationId ?? ''];
  };
  return {
    /** Waits until the screen shows this line. */
    async waitFor(line: string): Promise<void> {
      for (let tries = 0; tries < 3000; tries += 1) {
        if (lineOf(store.getSnapshot()) === line) return;
        await new Promise((done) => setTimeout(done, 5));
      }
      throw new Error(`${line} was never shown; the page had ${seen.slice(-8).join(', ')}`);
    },
    seen: () => seen,
    /** Waits until the screen shows a version of the first turn, as 1/2. */
    async waitForVersion(version: string): Promise<void> {
      for (let tries = 0; tries < 3000; tries += 1) {
        const { index, count } = shownTurn() ?? { index: 0, count: 1 };
        if (`${index + 1}/${count}` === version) return;
        await new Promise((done) => setTimeout(done, 5));
      }
      throw new Error(`${version} was never shown; ${JSON.stringify(shownTurn())}`);
    },
    showPrevious: () => store.switchBranch(shownTurn()?.previous ?? ''),
    async ask(text: string): Promise<void> {
      await store.ask({ role: 'user', parts: [{ text }] });
    },
    /** Asks, and does not wait until the message is stored. */
    askSoon(text: string): void {
      void store.ask({ role: 'user', parts: [{ text }] });
    },
    finish: () => finish(),
    /** Hears no other tab any more, as a frozen tab. */
    fallSilent(): void {
      for (const channel of channels) channel.onmessage = null;
    },
    cancel: () => store.cancel(),
    async edit(text: string): Promise<void> {
      const { id = '' } = store.getSnapshot().events[0] ?? {};
      await store.edit(id, { role: 'user', parts: [{ text }] });
    },
    /** The texts and error codes of all stored events, with the undone ones. */
    async stored(): Promise<string[]> {
      const { events = [] } = (await (await service).getSession(key)) ?? {};
      return events.map(
        ({ content, errorCode, actions }) =>
          content?.parts?.[0]?.text ??
          errorCode ??
          ('rewindBeforeInvocationId' in actions ? 'rewind' : '-'),
      );
    },
    async regenerate(): Promise<void> {
      await store.regenerate(store.getSnapshot().events[0]?.id ?? '');
    },
    async again(): Promise<void> {
      const { run } = store.getSnapshot();
      await store.regenerate(run?.messageId ?? '');
    },
  };
}

function lineOf({ run, events, drafts }: LiveSessionSnapshot): string {
  const textOf = ({ content }: (typeof events)[0]): string => content?.parts?.[0]?.text ?? '-';
  const shown = [...events.map(textOf), ...drafts.map((draft) => `(${textOf(draft)})`)];
  return [run?.status ?? 'idle', ...shown].join('|');
}

describe('Runs in several tabs', () => {
  let site: Server;
  before(async () => {
    site = await serveModule(await pageScript(import.meta.url));
  });
  after(() => site.close());

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(name)));
      after(() => browser.close());

      const urls = (session: string) => [1, 2].map(() => `${site.origin}/#${session}`);

      it('are shown in all of them, also in one that opens during the run', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('shown'), async (tabs) => {
          const [one, other] = tabs;
          await one!.call('ask', 'tea');
          await other!.call('waitFor', 'running|tea|(tea is asked)');
          const late = await browser.openTab<ReturnType<typeof page>>(`${site.origin}/#shown`);
          tabs.push(late);
          await late.call('waitFor', 'running|tea|(tea is asked)');
          await one!.call('finish');
          for (const tab of tabs) {
            await tab.call('waitFor', 'idle|tea|tea is asked');
            const seen = await tab.call('seen');
            assert.ok(!seen.some((line) => line.includes('|tea is asked|(')), seen.join(', '));
            // No tab takes the run for one that nobody makes.
            assert.ok(!seen.includes('unanswered|tea|(tea is asked)'), seen.join(', '));
          }
        });
      });

      it('take place one after the other, whichever tab asks', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('queue'), async ([one, other]) => {
          await one!.call('ask', 'tea');
          await other!.call('waitFor', 'running|tea|(tea is asked)');
          await other!.call('askSoon', 'quick');
          await other!.call('waitFor', 'running|tea|quick|(tea is asked)');
          await one!.call('finish');
          const all = 'idle|tea|tea is asked|quick|quick is asked';
          for (const tab of [one, other]) await tab!.call('waitFor', all);
        });
      });

      it('are cancelled from another tab', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('cancel'), async ([one, other]) => {
          await one!.call('ask', 'tea');
          await other!.call('waitFor', 'running|tea|(tea is asked)');
          await other!.call('cancel');
          for (const tab of [one, other]) {
            await tab!.call('waitFor', 'cancelled|tea|tea is asked|-');
          }
        });
      });

      it('are ended by another tab if theirs is silent, and that tab can ask', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('silent'), async ([one, other]) => {
          await one!.call('ask', 'tea');
          await other!.call('waitFor', 'running|tea|(tea is asked)');
          await one!.call('fallSilent');
          await other!.call('cancel');
          await other!.call('waitFor', 'cancelled|tea|tea is asked|-');
          await other!.call('ask', 'quick');
          await other!.call('waitFor', 'idle|tea|tea is asked|-|quick|quick is asked');
        });
      });

      it('are ended by an edit and a regeneration in another tab, with the drafts told to it', async () => {
        for (const [session, verb, text] of [
          ['edited', 'edit', 'quick'],
          ['again', 'regenerate', 'tea'],
        ] as const) {
          await inTabs<ReturnType<typeof page>>(browser, urls(session), async ([one, other]) => {
            await one!.call('ask', 'tea');
            await other!.call('waitFor', 'running|tea|(tea is asked)');
            if (verb === 'edit') await other!.call('edit', text);
            else {
              await other!.call('regenerate');
              for (const tab of [one, other]) {
                await tab!.call('waitFor', 'running|tea|(tea is asked)');
              }
              await other!.call('finish');
            }
            for (const tab of [one, other]) {
              await tab!.call('waitFor', `idle|${text}|${text} is asked`);
            }
            assert.deepEqual(await other!.call('stored'), [
              ...['tea', 'tea is asked', 'INVOCATION_ABORTED', 'rewind'],
              ...[text, `${text} is asked`],
            ]);
          });
        }
      });

      it('leave versions of a turn, and all tabs show the same one', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('versions'), async ([one, other]) => {
          await one!.call('ask', 'quick');
          for (const tab of [one, other]) await tab!.call('waitFor', 'idle|quick|quick is asked');
          await other!.call('waitForVersion', '1/1');
          await one!.call('regenerate');
          for (const tab of [one, other]) await tab!.call('waitForVersion', '2/2');
          await other!.call('showPrevious');
          for (const tab of [one, other]) await tab!.call('waitForVersion', '1/2');
        });
      });

      it('are unanswered when their tab goes, and another one answers again', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('gone'), async ([one, other]) => {
          await one!.call('ask', 'tea');
          await other!.call('waitFor', 'running|tea|(tea is asked)');
          await one!.leave();
          await other!.call('waitFor', 'unanswered|tea');
          await other!.call('again');
          await other!.call('waitFor', 'running|tea|(tea is asked)');
          await other!.call('finish');
          await other!.call('waitFor', 'idle|tea|tea is asked');
        });
      });
    });
  }
});
