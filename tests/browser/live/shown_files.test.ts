// The URL of a shown file, opened in a tab of its own: whatever type is stored, none runs as a page of the app.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { showArtifact } from '../../../js/ui/live/index.js';
import { BROWSERS } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { opened } from '../opened.js';
import { pageScript } from '../page_script.js';
import { serveModule } from '../server.js';

/** Types that look harmless at their beginning, and HTML, XML and SVG by their right names. */
const TYPES = [
  'image/png,text/html',
  'image/png, text/html',
  'video/webm;codecs=vp8,text/html',
  'audio/mpeg;a="b",text/html',
  'text/plain;,text/html',
  'text/plain;charset=utf-8,text/html',
  'application/pdf,text/html',
  'IMAGE/PNG,TEXT/HTML',
  'image/svg+xml',
  'image/x+xml',
  'audio/x+xml',
  'video/xml',
  'text/html',
  'application/xhtml+xml',
];

/** Returns a document that tells a channel its name by a script. It is HTML, XML and XHTML. */
const documentOf = (name: string): Blob =>
  new Blob([
    `<html xmlns="http://www.w3.org/1999/xhtml"><script>
      new BroadcastChannel('ran').postMessage('${name}');
    </script></html>`,
  ]);

/** The page opens files, and hears of those that run. */
export function page() {
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  const service = new InMemorySessionService({ artifacts: true });
  const ran = new Set<string>();
  let isTold = (): void => undefined;
  const channel = new BroadcastChannel('ran');
  channel.onmessage = ({ data }: { data: string }) => {
    ran.add(data);
    isTold();
  };

  async function urlOf(filename: string, mimeType: string): Promise<string> {
    await service.artifacts.put({ ...key, filename, mimeType, data: documentOf(mimeType) });
    return new Promise((resolve, reject) => {
      showArtifact(service, { ...key, filename }, ({ status, url = '', error }) => {
        if (status === 'ready') resolve(url);
        if (status === 'failed') reject(error);
      });
    });
  }

  /** Opens a URL in a tab, and in a frame: WebKit opens tabs for clicks alone. */
  function show(url: string): void {
    open(url);
    document.body.append(Object.assign(document.createElement('iframe'), { src: url }));
  }

  /** Shows a document with a type, and waits until it has run. */
  async function run(name: string, type: string): Promise<void> {
    const told = new Promise<void>((resolve) => (isTold = resolve));
    show(URL.createObjectURL(documentOf(name).slice(0, undefined, type)));
    await told;
  }

  return {
    /** Returns what ran of the shown files, and of a page that is opened last. */
    async openAll(types: readonly string[]): Promise<string[]> {
      await service.createSession(key);
      for (const [at, type] of types.entries()) show(await urlOf(`file ${at}`, type));
      await run('the last page', 'text/html');
      return [...ran];
    },
    /** Returns what ran of a Blob with the stored type. */
    async openAsStored(type: string): Promise<string[]> {
      await run('as stored', type);
      return [...ran];
    },
  };
}

describe('The URL of a shown file, opened in a tab', () => {
  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      const site = opened(name, async () => serveModule(await pageScript(import.meta.url)));

      it('is no document that runs', async () => {
        const { origin } = site.site;
        await inTabs<ReturnType<typeof page>>(site.browser, [`${origin}/`], async ([tab]) => {
          assert.deepEqual(await tab!.call('openAll', TYPES), ['the last page']);
        });
      });

      // WebKit reads such a list in another way.
      if (name === 'webkit') return;

      it('would run if it had the stored type', async () => {
        const { origin } = site.site;
        await inTabs<ReturnType<typeof page>>(site.browser, [`${origin}/`], async ([tab]) => {
          assert.deepEqual(await tab!.call('openAsStored', TYPES[0]!), ['as stored']);
        });
      });
    });
  }
});
