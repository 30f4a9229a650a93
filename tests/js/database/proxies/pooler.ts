// A pooler in front of PostgreSQL, like PgBouncer before 1.21 in transaction mode: each transaction may use another
// connection of the server, and prepared statements are forwarded unchanged.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A pooler that listens on its own port. */
export interface Pooler {
  readonly port: number;
  close(): Promise<void>;
}

/** A connection to the server. One client at a time uses it. */
interface ServerConnection {
  readonly socket: Socket;
  client: Client | undefined;
}

interface Client {
  readonly socket: Socket;
  server: ServerConnection | undefined;
  /** Messages that have no connection yet. */
  waiting: Buffer[];
  /** The number of requests without a response. */
  pendingRequests: number;
}

/** PgBouncer's refusal of an unknown startup parameter. */
const REFUSAL = (() => {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
  const head = Buffer.from([0x45, 0, 0, 0, 4 + fields.length]);
  return Buffer.concat([head, fields]);
})();

const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Reports that the client is authenticated and the server is ready, without a cancellation key. */
const GREETING = Buffer.concat([Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]), READY]);

/** Each transaction gets the connection that was unused for the longest time. */
export async function startPooler(serverPort: number, connections: number): Promise<Pooler> {
  const free: ServerConnection[] = [];
  for (let count = 0; count < connections; count += 1) free.push(await openServer(serverPort));
  const servers = [...free];
  const clients = new Set<Client>();

  const assign = (client: Client): void => {
    client.server ??= free.shift();
    const { server } = client;
    if (server === undefined) return;
    server.client = client;
    for (const message of client.waiting) server.socket.write(message);
    client.waiting = [];
  };

  for (const server of servers) {
    eachMessage(server.socket, (message) => {
      const { client } = server;
      client?.socket.write(message);
      if (client === undefined || message[0] !== 0x5a) return;
      client.pendingRequests -= 1;
      if (client.pendingRequests > 0 || message[5] !== 0x49) return;
      client.server = undefined;
      server.client = undefined;
      free.push(server);
      for (const other of clients) if (other.waiting.length > 0) assign(other);
    });
  }

  const listener = createServer({ noDelay: true }, (socket) => {
    const client: Client = { socket, server: undefined, waiting: [], pendingRequests: 0 };
    clients.add(client);
    socket.on('close', () => clients.delete(client));
    socket.on('error', () => undefined);
    let isStarted = false;
    eachMessage(
      socket,
      (message) => {
        if (!isStarted) {
          isStarted = true;
          if (message.includes('\0options\0')) socket.end(REFUSAL);
          else socket.write(GREETING);
          return;
        }
        if (message[0] === 0x58) return;
        if (message[0] === 0x51 || message[0] === 0x53) client.pendingRequests += 1;
        client.waiting.push(message);
        assign(client);
      },
      true,
    );
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      for (const { socket } of [...servers, ...clients]) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

async function openServer(port: number): Promise<ServerConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const parameters = Buffer.from('user\0adk\0database\0adk\0\0');
  const startup = Buffer.alloc(8);
  startup.writeInt32BE(8 + parameters.length, 0);
  startup.writeInt32BE(0x30000, 4);
  socket.write(Buffer.concat([startup, parameters]));
  await new Promise<void>((resolve) => {
    const onData = (data: Buffer): void => {
      if (!data.subarray(-6).equals(READY)) return;
      socket.off('data', onData);
      resolve();
    };
    socket.on('data', onData);
  });
  return { socket, client: undefined };
}

/** @param hasStartup whether the first message has no byte that says what it is */
function eachMessage(socket: Socket, take: (message: Buffer) => void, hasStartup = false): void {
  let rest: Buffer = Buffer.alloc(0);
  let start = hasStartup ? 0 : 1;
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= start + 4) {
      const length = start + rest.readInt32BE(start);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      start = 1;
      take(message);
    }
  });
}
