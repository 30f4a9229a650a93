import type { StorageFacts } from '../../core/storage/own_storage.js';

/** What is known of Vertex AI before its storage is loaded. */
export const VERTEX_FACTS = {
  kind: 'vertexai',
  durable: true,
  expires: true,
  removesNull: true,
} as const satisfies StorageFacts;
