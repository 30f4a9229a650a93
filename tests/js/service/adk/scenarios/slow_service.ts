import type { AppendEventRequest, BaseSessionService, Event } from '@google/adk';

import type { Framework } from './scenario.js';

/**
 * The framework's own service with slow appends, like those of most storages. A service over a storage is compared
 * with it: a Workflow continues while an event is being appended, so the order of its appends depends on their
 * duration.
 */
export function slowService(framework: Framework): BaseSessionService {
  class SlowService extends framework.InMemorySessionService {
    override async appendEvent(request: AppendEventRequest): Promise<Event> {
      await new Promise((resolve) => setTimeout(resolve));
      return super.appendEvent(request);
    }
  }
  return new SlowService();
}
