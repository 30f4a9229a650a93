// The site of the pages, and the server of their sessions. Each has an origin of its own, so that one can stop alone.

import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { MessageLog } from '../indexed_db/site.js';
import { html, serve } from '../server.js';
import { serveSessions, type SessionServer } from './session_server.js';

export interface ChatSite {
  readonly origin: string;
  readonly sessions: SessionServer;
  /** The texts that the killed page was told are stored. */
  readonly acknowledged: MessageLog;
  /** The reports of the killed page. */
  readonly found: MessageLog;
  close(): Promise<void>;
}

export async function serveChat(): Promise<ChatSite> {
  const [acknowledged, found] = [new MessageLog(), new MessageLog()];
  const server = await serve({
    '/': html(pageWith('/page.js')),
    '/page.js': { body: await bundle('main') },
    '/killed': html(pageWith('/killed.js')),
    '/killed.js': { body: await bundle('killed') },
    '/service_worker.js': { body: await bundle('service_worker') },
    '/acknowledge': acknowledged.respond,
    '/found': found.respond,
  });
  const sessions = await serveSessions(server.origin);
  return {
    origin: server.origin,
    sessions,
    acknowledged,
    found,
    async close() {
      await sessions.stop();
      await server.close();
    },
  };
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, `tests/browser/cache/page/${entry}.ts`)],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

function pageWith(script: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Chat</title><body><script src="${script}"></script>`;
}
