import { createServer, type RequestListener, type Server } from 'node:http';

/**
 * Makes an HTTP server that keeps idle connections. Node closes them after five seconds: on a busy machine the next request
 * of a test's client may be on its way then, and fails.
 */
export function httpServer(listener: RequestListener): Server {
  const server = createServer(listener);
  server.keepAliveTimeout = 0;
  return server;
}
