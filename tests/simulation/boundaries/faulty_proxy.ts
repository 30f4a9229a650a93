// A proxy in front of a server. Each chunk of a client's requests may meet a fault.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Pace } from '../run/pace/pace.js';
import type { RealPace } from '../run/pace/real_pace.js';

export const SERVER_FAULTS = {
  /** The server gets the request late. */
  delays: { fails: false },
  /** The connection ends, and the server never gets the request. */
  'cuts before': { fails: true },
  /** The server gets the request, and the connection ends without a response. */
  'cuts after': { fails: true },
  /** The connection ends in the middle of the response. */
  'cuts the response': { fails: true },
  /** The connection stays open, and forwards nothing more. */
  freezes: { fails: true },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

export type ServerFault = keyof typeof SERVER_FAULTS;

/** The parts that a proxy works with. */
export interface ProxyParts {
  readonly pace: RealPace & Pace;
  faultAt(request: string): ServerFault | undefined;
  /** Ends the client. */
  crash(): void;
  /** Called at a fault that ends a connection. @param end resolves when the client's driver has seen the end */
  fails(end: Promise<unknown>): void;
}

/** The other side of a local connection sees its end within this time. */
const ARRIVAL_MS = 20;

export class FaultyProxy {
  readonly #parts: ProxyParts;
  readonly #serverPort: number;
  readonly #links = new Set<Link>();
  readonly #listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const server = connect({ port: this.#serverPort, host: '127.0.0.1', noDelay: true });
    const link = new Link(client, server, this.#parts);
    this.#links.add(link);
    // The server must finish the client's requests before the observer reads.
    client.once('close', () => void this.#parts.pace.until(closed(server)));
  });

  readonly #isClosed = once(this.#listener, 'close');

  constructor(serverPort: number, parts: ProxyParts) {
    this.#serverPort = serverPort;
    this.#parts = parts;
  }

  /** @returns the port */
  async listen(): Promise<number> {
    this.#listener.listen(0, '127.0.0.1');
    await once(this.#listener, 'listening');
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Ends all connections and accepts no new ones. The server still finishes the requests that it has. */
  cutOff(): void {
    this.#listener.close();
    for (const link of this.#links) link.cut();
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.destroy();
    if (this.#listener.listening) this.#listener.close();
    await this.#isClosed;
  }
}

/** A connection of the client, with its connection to the server. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #parts: ProxyParts;
  /** Forwards the client's chunks in their order. */
  #passed: Promise<void> = Promise.resolve();
  /** The number of response bytes still to forward. After them, the link forwards nothing in either direction. */
  #remaining = Infinity;

  constructor(client: Socket, server: Socket, parts: ProxyParts) {
    this.#client = client;
    this.#server = server;
    this.#parts = parts;
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('data', (data) => {
      this.#passed = this.#passed.then(() => this.#pass(data));
    });
    client.on('end', () => void this.#passed.then(() => server.end()));
    client.on('close', () => void this.#passed.then(() => server.end()));
    server.on('data', (data) => this.#respond(data));
    server.on('close', () => {
      if (this.#remaining > 0) client.destroy();
    });
  }

  /** Ends the connection to the client. The server finishes the requests that it has, and then sees the end. */
  cut(): void {
    this.#client.destroy();
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  async #pass(data: Buffer): Promise<void> {
    if (this.#client.destroyed || this.#remaining <= 0) return;
    const fault = this.#parts.faultAt(`a request of ${data.length} bytes`);
    if (fault !== undefined && SERVER_FAULTS[fault].fails) this.#parts.fails(this.#ended());
    switch (fault) {
      case undefined:
        break;
      case 'delays':
        await pause(10);
        break;
      case 'cuts before':
        return this.cut();
      case 'cuts after':
        this.#server.write(data);
        return this.cut();
      case 'cuts the response':
        this.#remaining = 7;
        break;
      case 'freezes':
        this.#remaining = 0;
        return;
      case 'crashes before':
        return this.#parts.crash();
      case 'crashes after':
        this.#server.write(data);
        return this.#parts.crash();
    }
    this.#server.write(data);
  }

  #respond(data: Buffer): void {
    if (this.#remaining <= 0 || this.#client.destroyed) return;
    this.#client.write(data.subarray(0, this.#remaining));
    this.#remaining -= data.length;
    if (this.#remaining <= 0) this.#client.end(() => this.cut());
  }

  /** Resolves when the client's driver has seen the end of the connection, or has ended it. */
  async #ended(): Promise<void> {
    await Promise.race([closed(this.#client), closed(this.#server)]);
    await pause(ARRIVAL_MS);
    // A busy event loop may run the timer before it polls its sockets. It polls them before an immediate.
    await nextTurn();
    await nextTurn();
  }
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((done) => (socket.closed ? done(true) : socket.once('close', done)));
}
