import type { Call } from '../core/call/call.js';
import type { ServiceFeed } from '../core/watch/service_feed.js';
import type { Calls } from '../core/call/calls.js';
import type { ServiceHistory } from '../core/history_types.js';
import type { ReadResults, SessionRead } from '../core/read.js';
import type { Results } from '../core/storage/store.js';
import type { Placed } from '../core/write.js';
import { sessionNotFound } from '../values/errors/session_not_found.js';
import type { ReaderParts } from './read/reader_parts.js';
import type { SessionReader } from './read/session_reader.js';

/** The parts of a core that its histories use. */
interface HistoryParts extends Pick<ReaderParts, 'callStore'> {
  readonly calls: Calls;
  readonly reader: SessionReader;
  readonly feed: ServiceFeed;
  /** Stores a write, and publishes what it has changed. */
  write<Kind extends 'rewind' | 'fork'>(write: Placed<Kind>, call: Call): Promise<Results[Kind]>;
}

/** Makes the verbs of a service whose store computes histories. */
export function serviceHistory(core: HistoryParts): ServiceHistory {
  const { calls, reader } = core;
  const read = async <Kind extends 'branches' | 'stateAt'>(
    request: SessionRead<Kind>,
    call: Call,
  ): Promise<ReadResults[Kind]> => {
    const found = await core.callStore<ReadResults[Kind] | undefined>(call, (store) =>
      store.read(request, call),
    );
    if (found === undefined) throw sessionNotFound(request.key.sessionId);
    return found;
  };
  return {
    rewind: (request) =>
      calls.run('rewind', request, async ({ claim, ...write }, call) => {
        const rewound = await core.write(write, call);
        if (claim !== undefined && rewound.message !== undefined) {
          const { invocationId } = rewound.message;
          core.feed.feed.runRevisions.begin(write.key, invocationId, rewound.revision);
        }
        return rewound;
      }),
    fork: (request) =>
      calls.run('fork', request, async (request, call) => {
        const forked = await core.write(request, call);
        return reader.openForked({ ...request.key, sessionId: request.newSessionId }, forked);
      }),
    branches: (request) =>
      calls.run('branches', request, (request, call) =>
        read({ ...request, kind: 'branches' }, call),
      ),
    stateAt: (request) =>
      calls.run('stateAt', request, (request, call) => read({ ...request, kind: 'stateAt' }, call)),
  };
}
