import type { AppendEventRequest, BaseSessionService, Event } from '@google/adk';

import type { Framework } from './scenario.js';

/**
 * The framework's own service with appends that take a moment, as those of most storages do: what a service
 * over a storage is to be compared with. A Workflow goes on while an event is being appended, so
 * that the order in which it asks for appends depends on how long they take, whatever the service.
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
