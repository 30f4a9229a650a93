import type { StorageFacts } from '../../core/storage/own_storage.js';

/** What is known of Vertex AI before its storage is loaded. */
export const VERTEX_FACTS = {
  kind: 'vertexai',
  durable: true,
  traits: { expires: true, removesNull: true, lacksTransactions: true, readsToEnd: true },
} as const satisfies StorageFacts;
