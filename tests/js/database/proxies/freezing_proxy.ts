// A proxy in front of a database server that can stop passing on what comes, as a frozen server does.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface FreezingProxy {
  readonly port: number;
  /** How many connections clients have not ended. */
  readonly connections: number;
  /** Passes nothing on: all of it, only the answers, or all from the first request that holds a text. */
  freeze(what: 'all' | 'answers' | { readonly from: string }): void;
  /** Passes requests that hold a text on that many milliseconds late, also if the client has closed meanwhile. */
  delay(text: string, ms: number): void;
  /** Connections that froze stay frozen. New ones pass everything on. */
  thaw(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly sockets: readonly Socket[];
  isFrozen: boolean;
  /** Milliseconds that each of its requests is late. */
  late: number;
}

export async function startFreezingProxy(serverPort: number): Promise<FreezingProxy> {
  const pairs = new Set<Pair>();
  let frozen: 'nothing' | Parameters<FreezingProxy['freeze']>[0] = 'nothing';
  let delayed: { readonly text: string; readonly ms: number } | undefined;
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const server = connect({ port: serverPort, host: '127.0.0.1', noDelay: true });
    const pair: Pair = { sockets: [client, server], isFrozen: false, late: 0 };
    pairs.add(pair);
    client.on('data', (data) => {
      if (frozen === 'all') pair.isFrozen = true;
      if (typeof frozen === 'object' && data.includes(frozen.from)) pair.isFrozen = true;
      if (delayed !== undefined && data.includes(delayed.text)) pair.late = delayed.ms;
      if (pair.late > 0) setTimeout(() => server.write(data), pair.late);
      else if (!pair.isFrozen) server.write(data);
    });
    server.on('data', (data) => {
      if (frozen === 'all' || frozen === 'answers') pair.isFrozen = true;
      if (!pair.isFrozen) client.write(data);
    });
    for (const socket of pair.sockets) socket.on('error', () => undefined);
    client.on('close', () => {
      if (pair.late === 0) server.destroy();
      else setTimeout(() => server.end(), pair.late);
    });
    client.on('end', () => pair.isFrozen || pair.late > 0 || server.end());
    server.on('close', () => pair.isFrozen || client.destroy());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get connections() {
      return [...pairs].filter(
        ({ sockets: [client] }) => client?.readableEnded === false && !client.destroyed,
      ).length;
    },
    freeze: (what) => (frozen = what),
    delay: (text, ms) => (delayed = { text, ms }),
    thaw() {
      frozen = 'nothing';
      delayed = undefined;
    },
    async close() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
