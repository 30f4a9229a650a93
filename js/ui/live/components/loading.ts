import type { LiveSessionSnapshot } from '../types/live_session.js';
import { NO_RUNS } from '../store_runs.js';
import type { LiveSessionsSnapshot } from '../types/live_sessions.js';

/** What is shown of a session before anything has been read, on a server too. */
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
  state: {},
  scopes: { session: {}, user: {}, app: {} },
  lastUpdateTime: 0,
};

/** What is shown of a list before anything has been read, on a server too. */
export const LOADING_LIST: LiveSessionsSnapshot = {
  status: 'loading',
  error: undefined,
  sessions: [],
  hasMore: false,
};
