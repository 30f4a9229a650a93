import type { connect } from 'node:net';
import { loadOptional } from '../../loader/optional_package.js';
import type { PgClient } from './postgres_driver.js';

interface Net {
  connect: typeof connect;
}

/** The number that stands in the place of a version in a cancel request. */
const CANCEL = 80877102;

/** How long the request may take. */
const CANCEL_MS = 2000;

/**
 * Asks the server to cancel what it does for a connection: it would else keep its locks until it has got those
 * that it waits for. The protocol has a connection of its own for it, and no answer.
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
      const socket = net.connect({ host, port }, () => socket.end(new Uint8Array(message.buffer)));
      socket.on('error', () => undefined);
      socket.setTimeout(CANCEL_MS, () => socket.destroy());
      socket.unref();
    })
    .catch(() => undefined);
}
