import { newEventId } from '../../model/event.js';
import type { SessionServiceOptions } from '../../service/service_options.js';

/** Whether a session can be called that. The server refuses other ids also where it is only asked for them. */
export function isSessionId(id: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(id);
}

/** With fresh ids that the server takes for sessions: their first character is a letter. */
export function withVertexIds<O extends SessionServiceOptions>(options: O): O {
  return options.newId === undefined ? { ...options, newId: newVertexId } : options;
}

const LETTERS = 'abcdef';

function newVertexId(): string {
  const id = newEventId();
  const first = Number.parseInt(id.charAt(0), 16);
  return `${LETTERS.charAt(first % LETTERS.length)}${id.slice(1)}`;
}
