// A small web server on a free port. A test defines the served content and its headers.

import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { text } from 'node:stream/consumers';
import { httpServer } from '../http_server.js';

/** The response at one path. */
export interface Answer {
  body: string | Uint8Array;
  /** Default: by the path's ending. */
  type?: string;
  status?: number;
  headers?: Record<string, string>;
}

/** Returns the response of a request. */
export type Respond = (body: string, query: URLSearchParams) => Answer | Promise<Answer>;

/** The responses by path. A path that ends in `/` serves the files of a folder. */
export type Routes = Record<string, Answer | Respond | string>;

export interface Server {
  /** `http://…`, without a slash at its end. */
  readonly origin: string;
  /** Changes while the server runs are seen. */
  readonly routes: Routes;
  /** The requested paths that were not found. */
  readonly missed: string[];
  close(): Promise<void>;
}

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** A response with a page, for a path without a file extension. */
export function html(body: string, headers: Record<string, string> = {}): Answer {
  return { body, type: 'text/html; charset=utf-8', headers };
}

/** Serves a page without content, which runs a module. */
export function serveModule(body: string): Promise<Server> {
  const script = '<script type="module" src="/main.js"></script>';
  const page = html(`<!doctype html><meta charset="utf-8"><body>${script}`);
  return serve({ '/': page, '/main.js': { body } });
}

export async function serve(routes: Routes): Promise<Server> {
  const missed: string[] = [];
  const server = httpServer((request, response) => {
    void respond(routes, missed, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    routes,
    missed,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function respond(
  routes: Routes,
  missed: string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const path = decodeURIComponent(pathname);
  const found = await find(routes, path);
  const answer =
    typeof found === 'function' ? await found(await text(request), searchParams) : found;
  if (answer === undefined) {
    // Browsers request the icon by themselves.
    if (path !== '/favicon.ico') missed.push(path);
    response.writeHead(404, { 'content-type': 'text/html' }).end('<!doctype html>Not found');
    return;
  }
  const type = answer.type ?? TYPES[extname(path)] ?? 'application/octet-stream';
  response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers });
  response.end(answer.body);
}

async function find(routes: Routes, path: string): Promise<Answer | Respond | undefined> {
  const exact = routes[path];
  if (typeof exact === 'object' || typeof exact === 'function') return exact;
  for (const [prefix, folder] of Object.entries(routes)) {
    if (typeof folder !== 'string' || !path.startsWith(prefix)) continue;
    const rest = path.slice(prefix.length) || 'index.html';
    const file = join(folder, normalize(join('/', rest)));
    try {
      return {
        body: await readFile(file),
        type: TYPES[extname(file)] ?? 'application/octet-stream',
      };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
