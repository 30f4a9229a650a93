// A proxy in front of a server. It can stop forwarding, and then looks like a frozen server, or close a connection.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface FreezingProxy {
  readonly port: number;
  /** The number of connections that clients have open. */
  readonly connections: number;
  /** Stops forwarding: everything, only the responses, or everything from the first request that contains a text. */
  freeze(what: 'all' | 'responses' | { readonly from: string }): void;
  /** Forwards requests that contain a text later, even if the client has closed its connection meanwhile. */
  delay(text: string, ms: number): void;
  /** Closes a connection at a request, once requests have contained the texts in turn. */
  cut(...texts: string[]): void;
  /** Closes a connection after so many bytes of the next response. */
  cutResponse(bytes: number): void;
  /** Frozen connections stay frozen. New ones forward everything. */
  thaw(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly sockets: readonly Socket[];
  isFrozen: boolean;
  /** The delay of each of its requests, in milliseconds. */
  late: number;
}

/** @param ownPort the port of the proxy; 0: any */
export async function startFreezingProxy(serverPort: number, ownPort = 0): Promise<FreezingProxy> {
  const pairs = new Set<Pair>();
  let frozen: 'nothing' | Parameters<FreezingProxy['freeze']>[0] = 'nothing';
  let delayed: { readonly text: string; readonly ms: number } | undefined;
  let cuts: string[] = [];
  /** The bytes of the next response before the cut. */
  let remaining: number | undefined;
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const server = connect({ port: serverPort, host: '127.0.0.1', noDelay: true });
    const pair: Pair = { sockets: [client, server], isFrozen: false, late: 0 };
    pairs.add(pair);
    client.on('data', (data) => {
      const [text] = cuts;
      if (text !== undefined && data.includes(text)) {
        cuts.shift();
        if (cuts.length === 0) client.destroy();
      }
      if (frozen === 'all') pair.isFrozen = true;
      if (typeof frozen === 'object' && data.includes(frozen.from)) pair.isFrozen = true;
      if (delayed !== undefined && data.includes(delayed.text)) pair.late = delayed.ms;
      if (client.destroyed) return;
      if (pair.late > 0) setTimeout(() => server.write(data), pair.late);
      else if (!pair.isFrozen) server.write(data);
    });
    server.on('data', (data) => {
      if (frozen === 'all' || frozen === 'responses') pair.isFrozen = true;
      if (pair.isFrozen || client.destroyed) return;
      if (remaining === undefined || data.length < remaining) {
        if (remaining !== undefined) remaining -= data.length;
        client.write(data);
        return;
      }
      client.end(data.subarray(0, remaining), () => client.destroy());
      remaining = undefined;
      pair.isFrozen = true;
    });
    for (const socket of pair.sockets) socket.on('error', () => undefined);
    client.on('close', () => {
      if (pair.late === 0) server.destroy();
      else setTimeout(() => server.end(), pair.late);
    });
    client.on('end', () => pair.isFrozen || pair.late > 0 || server.end());
    server.on('close', () => pair.isFrozen || client.destroy());
  });
  listener.listen(ownPort, '127.0.0.1');
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
    cut: (...texts) => (cuts = texts),
    cutResponse: (bytes) => (remaining = bytes),
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
