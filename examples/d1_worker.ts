/**
 * A Cloudflare Worker that keeps chats in D1, and whose agent answers them. Its `wrangler.toml`:
 *
 * ```toml
 * main = "d1_worker.ts"
 * compatibility_date = "2026-01-01"
 * d1_databases = [{ binding = "DB", database_name = "chats", database_id = "…" }]
 * ```
 */
import { type D1Database, D1SessionService } from 'adk-session-wasm/database';
import type { RunAgent } from 'adk-session-wasm/live';
import { type Authorize, sessionHandler } from 'adk-session-wasm/server';

interface Env {
  readonly DB: D1Database;
}

/** The part of a request's `ctx` that is used. */
interface RequestContext {
  waitUntil(work: Promise<unknown>): void;
}

/** Put your login in its place. Here a client names its user, and nobody checks it. */
const authorize: Authorize = () => true;

/** Put your agent in its place: a model, or `runWith(runner)` of `adk-session-wasm/adk`. */
const run: RunAgent = async function* ({ message, signal }) {
  signal.throwIfAborted();
  const asked = message.content?.parts?.[0]?.text ?? '';
  yield { author: 'guide', content: { role: 'model', parts: [{ text: `You asked "${asked}".` }] } };
};

export default {
  /** Serves `/api`, for a `RemoteSessionService` in a page. */
  async fetch(request: Request, env: Env, context: RequestContext): Promise<Response> {
    // One service for each request: a Worker ends what a request has begun with that request, also if others wait for it.
    const service = new D1SessionService(env.DB);
    const handler = sessionHandler(service, {
      basePath: '/api',
      authorize,
      run,
      waitUntil: (running) => context.waitUntil(running),
      // Cloudflare ends what waits after 30 s.
      maxRunMs: 25_000,
    });
    return handler(request);
  },
};
