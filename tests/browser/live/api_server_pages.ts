// Pages over the real `adk api_server`: where they are served, and the line in which they show a session.

import { after, before } from 'node:test';

import type { LiveSessionSnapshot } from '../../../js/ui/live/index.js';
import { type ApiServer, startApiServer } from '../../interop/api_server/api_server.js';
import { newFolder } from '../../new_folder.js';
import { pageScript } from '../page_script.js';
import { serveModule, type Server } from '../server.js';

/**
 * Serves the page of a test file beside an `adk api_server` while a suite runs.
 * `addressOf` returns the address of the page, which shows a session of that server.
 */
export function besideApiServer(testUrl: string) {
  let site: Server;
  let server: ApiServer;
  before(async () => {
    site = await serveModule(await pageScript(testUrl));
    server = await startApiServer(`sqlite:///${newFolder()}/sessions.db`, site.origin);
  });
  after(async () => {
    await site.close();
    await server.end();
  });
  return {
    addressOf: (sessionId: string) => `${site.origin}/#${server.url},${sessionId}`,
    ask: (...request: Parameters<ApiServer['ask']>) => server.ask(...request),
  };
}

/** Returns the status of the run, the texts of the agent, and its drafts. Messages of the user are `…`. */
export function lineOf({ run, events, drafts }: LiveSessionSnapshot): string {
  const textOf = ({ author, content, errorCode }: (typeof events)[0]): string =>
    author === 'user' ? '…' : (content?.parts?.[0]?.text ?? errorCode ?? '-');
  const shown = [...events.map(textOf), ...drafts.map((draft) => `(${textOf(draft)})`)];
  return [run?.status ?? 'idle', ...shown].join('|');
}
