import { connect } from 'node:net';

import { program, type Server, startServer } from '../stores/database/servers.js';

/** Starts Redis, which keeps nothing. */
export function startRedis(): Promise<Server> {
  return startServer({
    name: 'redis',
    user: 'nobody',
    prepare: () => (port) => [
      program('REDIS_SERVER'),
      ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    ],
    isUp: (port) =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
        socket.on('data', (data) => {
          resolve(String(data).startsWith('+PONG'));
          socket.destroy();
        });
        socket.on('error', () => resolve(false));
      }),
  });
}
