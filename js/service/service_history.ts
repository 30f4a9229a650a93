import { after } from '../core/call/call.js';
import type { Calls } from '../core/call/calls.js';
import type { ServiceHistory } from '../core/history_types.js';
import type { SessionReader } from './read/session_reader.js';
import type { StoreHistory } from '../core/storage/store.js';
import type { ServiceFeed } from '../core/watch/service_feed.js';

/** The parts of a core that its histories use. */
interface HistoryParts {
  readonly calls: Calls;
  readonly feed: ServiceFeed;
  readonly reader: SessionReader;
}

/** Makes the verbs of a service from those of its store: publishes what they change, and makes the handle of a fork. */
export function serviceHistory(
  { calls, feed, reader }: HistoryParts,
  store: StoreHistory,
): ServiceHistory {
  return {
    rewind: (request) =>
      calls.run('rewind', request, (request, call) =>
        after(store.rewind(request, call), (rewound) => {
          feed.publish({ kind: 'rewind', ...request }, rewound);
          return rewound;
        }),
      ),
    fork: (request) =>
      calls.run('fork', request, (request, call) =>
        after(store.fork(request, call), (forked) => {
          const key = { ...request.key, sessionId: request.newSessionId };
          feed.publish({ kind: 'fork', ...request }, forked);
          return reader.openForked(key, forked);
        }),
      ),
    branches: (request) =>
      calls.run('branches', request, (request, call) => store.branches(request, call)),
    stateAt: (request) =>
      calls.run('stateAt', request, (request, call) => store.stateAt(request, call)),
  };
}
