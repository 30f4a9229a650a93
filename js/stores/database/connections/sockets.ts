/** The sockets of a pool's connections to a server. */

/** The part of a socket that is used, with or without TLS. */
export interface Socket {
  readonly bytesRead?: number;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
  on?(event: 'close', listener: () => void): unknown;
}

/** The time, in milliseconds, that a server has to close its side of a connection after the pool's end. */
const END_MS = 2000;

/** Closes the sockets that a frozen server leaves open. They would keep the program running. */
export class Sockets {
  readonly #open = new Set<Socket>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  add(socket: Socket | undefined): void {
    if (socket === undefined) return;
    this.#open.add(socket);
    socket.on?.('close', () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) clearTimeout(this.#timer);
    });
  }

  /** Ends the pool, and closes its sockets later. */
  async end(pool: { end(): Promise<void> }): Promise<void> {
    await pool.end();
    if (this.#open.size === 0) return;
    this.#timer = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, END_MS);
  }
}
