import type { connect } from 'node:net';
import { loadOptional } from '../../wasm/loader/optional_package.js';
import type { PgClient } from './postgres_types.js';

interface Net {
  connect: typeof connect;
}

/** The number that a cancel request has in place of a protocol version. */
const CANCEL = 80877102;

/** The limit of one request, in milliseconds. */
const CANCEL_MS = 2000;

/**
 * The delays, in milliseconds, after which the request is repeated. The server ignores a request that comes
 * before the statement began.
 */
const REPEATS_MS = [100, 1000, 5000];

/**
 * Asks the server to cancel the statement of a connection that was closed. Otherwise the server would wait
 * for further locks and keep those that it holds. The protocol uses a separate connection for the request,
 * and sends no answer. A request for a connection that has ended does nothing, because the key belongs to
 * that connection alone.
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
