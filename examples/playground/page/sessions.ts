import { openSessionService } from 'adk-session-wasm';

/** Whose sessions the playground shows. */
export const USER = { appName: 'tea_house', userId: 'guest' };

/** Resolves to the one service of the page. */
export const sessions = openSessionService({
  storage: 'auto',
  name: 'playground',
  autoTitle: true,
});
