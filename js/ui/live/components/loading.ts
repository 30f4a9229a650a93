import type { LiveSessionSnapshot } from '../types/live_session.js';
import { NO_RUNS } from '../store_runs.js';
import type { LiveSessionsSnapshot } from '../types/live_sessions.js';

/** The snapshot of a session before anything has been read, and on a server. */
export const LOADING: LiveSessionSnapshot = {
  status: 'loading',
  error: undefined,
  events: [],
  pages: [],
  summarised: new Set(),
  hasOlder: false,
  isLoadingOlder: false,
  ...NO_RUNS,
  // Inherits nothing: the id of an event may be `toString`.
  unsent: Object.create(null) as LiveSessionSnapshot['unsent'],
  turns: Object.create(null) as LiveSessionSnapshot['turns'],
  state: {},
  scopes: { session: {}, user: {}, app: {} },
  lastUpdateTime: 0,
};

/** The snapshot of a list before anything has been read, and on a server. */
export const LOADING_LIST: LiveSessionsSnapshot = {
  status: 'loading',
  error: undefined,
  sessions: [],
  hasMore: false,
};
