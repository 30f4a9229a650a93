// The server of the sessions: the handler over memory in this process, on a port that it keeps while it is stopped.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemorySessionService } from 'adk-session-wasm';
import type { RunAgent } from 'adk-session-wasm/live';
import { nodeListener, sessionHandler } from 'adk-session-wasm/server';
import { httpServer } from '../../http_server.js';

/** Answers each message with its text. */
const agent: RunAgent = async function* ({ message }) {
  await Promise.resolve();
  const text = `${message.content?.parts?.[0]?.text}!`;
  yield { author: 'bot', content: { role: 'model', parts: [{ text }] } };
};

const RIGHTS = { mayWriteAgentEvents: true, mayWriteUserState: true };

export interface SessionServer {
  readonly url: string;
  /** What the server serves, without HTTP. */
  readonly service: InMemorySessionService;
  /** Ends all connections; later ones are refused. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Runs something while the server is stopped. */
  whileStopped(run: () => Promise<void>): Promise<void>;
}

/**
 * Starts a server whose pages come from `origin`. A request may see the user whom its header `x-user` names.
 *
 * @param isShared whether it may also see what all users of an app share
 */
export async function serveSessions(origin: string, isShared = false): Promise<SessionServer> {
  const service = new InMemorySessionService();
  const handler = sessionHandler(service, {
    basePath: '/api',
    allowedOrigins: [origin],
    run: agent,
    // The pages run agents themselves.
    authorize: (request, { userId }) =>
      (userId === request.headers.get('x-user') || (isShared && userId === undefined)) && RIGHTS,
  });
  let server: Server | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    const next = httpServer((request, response) => void nodeListener(handler)(request, response));
    await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve));
    port = (next.address() as AddressInfo).port;
    server = next;
  };
  const stop = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined) return;
    running.closeAllConnections();
    await new Promise((resolve) => running.close(resolve));
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}/api`,
    service,
    start,
    stop,
    async whileStopped(run) {
      await stop();
      try {
        await run();
      } finally {
        await start();
      }
    },
  };
}
