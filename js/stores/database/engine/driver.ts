/** The drivers, which are not installed with this package, and the sockets of their pools. */
import { loadOptional } from '../../../core/wasm/loader/optional_package.js';
import { SessionError } from '../../../values/errors/errors.js';
import type { Engine } from './engine.js';

/**
 * Loads the driver of an engine.
 *
 * @throws SessionError `storage_unavailable` with the package to install
 */
export async function loadDriver<Module>(
  engine: Pick<Engine, 'kind' | 'name' | 'driver'>,
): Promise<Module> {
  const module = await loadOptional<Module>(engine.driver);
  if (module === undefined) throw missingDriver(engine);
  return module;
}

/** Makes the `storage_unavailable` error for a driver that is not installed. */
export function missingDriver({
  kind,
  name,
  driver,
}: Pick<Engine, 'kind' | 'name' | 'driver'>): SessionError {
  const message = `The driver for ${name} is not installed; run: npm install ${driver}`;
  return new SessionError('storage_unavailable', message, { storage: kind });
}

// The sockets of a pool's connections to a server.

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
