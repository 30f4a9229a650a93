import type { connect } from 'node:net';
import { loadOptional } from '../../wasm/loader/optional_package.js';
import type { PgClient } from './postgres_driver.js';

interface Net {
  connect: typeof connect;
}

/** The number that stands in the place of a version in a cancel request. */
const CANCEL = 80877102;

/** How long the request may take. */
const CANCEL_MS = 2000;

/** When the request is repeated, in milliseconds: the server ignores one that comes before it has begun the statement. */
const REPEATS_MS = [100, 1000, 5000];

/**
 * Asks the server to cancel what it does for a connection that was closed: it would else keep its locks until it
 * has got those that it waits for. The protocol has a connection of its own for it, and no answer. A request for
 * a connection that has ended meanwhile does nothing: the key belongs to that connection alone.
 */
export function sendCancel({ processID, secretKey, connection }: PgClient): void {
  const { remoteAddress: host, remotePort: port } = connection.stream;
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  if (host === undefined || port === undefined) return;
  const message = new DataView(new ArrayBuffer(16));
  [16, CANCEL, processID, secretKey].forEach((word, index) => message.setInt32(index * 4, word));
  loadOptional<Net>('node:net')
    .then((net) => {
      if (net === undefined) return;
      const send = (): void => {
        const socket = net.connect({ host, port }, () =>
          socket.end(new Uint8Array(message.buffer)),
        );
        socket.on('error', () => undefined);
        socket.setTimeout(CANCEL_MS, () => socket.destroy());
        socket.unref();
      };
      send();
      for (const delay of REPEATS_MS) setTimeout(send, delay).unref();
    })
    .catch(() => undefined);
}
