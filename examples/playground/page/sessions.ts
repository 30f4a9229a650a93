import { openSessionService } from 'adk-session-wasm';

/** Whose sessions the playground shows. */
export const USER = { appName: 'tea_house', userId: 'guest' };

/** Returns the id of a new conversation. A page on http has no `crypto.randomUUID`. */
export function newSessionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Resolves to the one service of the page. */
export const sessions = openSessionService({
  storage: 'auto',
  name: 'playground',
  autoTitle: true,
});
