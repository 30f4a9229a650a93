import { newEventId } from '../../../values/model/event/create_event.js';

/** Returns whether the server accepts this session id. It refuses other ids even in reads. */
export function isSessionId(id: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(id);
}

/**
 * Adds a `newId` to the options whose ids the server accepts: they begin with a letter. A given `newId` is
 * kept.
 */
export function withVertexIds<O extends { newId?: (() => string) | undefined }>(options: O): O {
  return options.newId === undefined ? { ...options, newId: newVertexId } : options;
}

const LETTERS = 'abcdef';

function newVertexId(): string {
  const id = newEventId();
  const first = Number.parseInt(id.charAt(0), 16);
  return `${LETTERS.charAt(first % LETTERS.length)}${id.slice(1)}`;
}
