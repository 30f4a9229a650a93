// The memory of 90,000 events: the package's are in wasm memory, which never shrinks; the peer's are in the heap.

import { initSync } from '../../pkg/adk_session_wasm.js';
import { limited } from '../measure.mjs';
import { fillOurs, fillPeer, keyOf, ourEvents, OurService, PeerService } from '../services.mjs';

const [FEW, MANY] = [10_000, 100_000];

function wasmBytes() {
  // The existing instance: the glue makes only one.
  return initSync(undefined).memory.buffer.byteLength;
}

function heapBytes() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** @param {OurService} service */
async function growOurs(service) {
  const key = keyOf(FEW);
  for (let first = FEW; first < MANY; first += 1000) {
    const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
    for (const event of ourEvents(1000, first)) await service.appendEvent({ session, event });
  }
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function memory() {
  const ours = new OurService();
  await fillOurs(ours, FEW);
  const [wasmBefore, heapBefore] = [wasmBytes(), heapBytes()];
  await growOurs(ours);
  const wasm = (wasmBytes() - wasmBefore) / (MANY - FEW);
  const heap = (heapBytes() - heapBefore) / (MANY - FEW);

  const peer = new PeerService();
  await fillPeer(peer, FEW);
  const peerBefore = heapBytes();
  await fillPeer(peer, MANY - FEW);
  const peerHeap = (heapBytes() - peerBefore) / (MANY - FEW);
  if (!(await peer.getSession({ ...keyOf(FEW), config: { numRecentEvents: 1 } })))
    throw new Error();

  const unit = 'bytes an event';
  return [
    limited({
      case: 'wasm memory, 10,000 to 100,000 events',
      ours: wasm,
      peer: peerHeap,
      unit,
      most: 700,
    }),
    limited({ case: 'heap beside it', ours: heap, unit, most: 16 }),
  ];
}
