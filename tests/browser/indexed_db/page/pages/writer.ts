// The script of a dedicated or shared worker: it appends, and then is idle or never ends its transaction.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { around } from '../around.js';
import { keepAlive } from '../bare.js';
import { keyOf, say } from '../events.js';
import type { StoreName } from '../../../../../js/stores/indexed_db/layout.js';

export interface WriterTask {
  name: string;
  /** Whether a transaction stays open. */
  writes: boolean;
}

async function append({ name, writes }: WriterTask): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.getOrCreateSession(keyOf('of the worker'));
  await service.appendEvent({ session, event: say('stored') });
  if (!writes) return;
  await new Promise<void>((isOpen) => {
    around(IDBTransaction.prototype, 'commit', (transaction) => {
      keepAlive(transaction, transaction.objectStoreNames[0] as StoreName);
      isOpen();
    });
    service.appendEvent({ session, event: say('open') }).catch(() => undefined);
  });
}

interface Port {
  postMessage(message: string): void;
}

/** Sends an empty text, or an error. */
function answer(port: Port, task: WriterTask): void {
  append(task).then(
    () => port.postMessage(''),
    (error: unknown) => port.postMessage(String(error)),
  );
}

addEventListener('message', ({ data }: MessageEvent<WriterTask>) => answer(globalThis, data));

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0]!;
  port.onmessage = ({ data }: MessageEvent<WriterTask>) => answer(port, data);
});
