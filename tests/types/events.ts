// Pages of events, and what a server asks a service: what compiles, what must not, and what is inferred.

import {
  type ChangesSince,
  type CloseOptions,
  type Event,
  type EventsPage,
  type EventsRequest,
  InMemorySessionService,
  type ListChangesRequest,
  type ListEventsRequest,
  type Session,
  type SessionService,
  type StoredEvent,
} from '../../js/index.js';
import { describe, is, it } from './expect.js';

interface Shop {
  topic: string;
}

const service = new InMemorySessionService<Shop>();
const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const signal = undefined as AbortSignal | undefined;

describe('The types of pages of events', () => {
  it('are those of a page with two cursors', async () => {
    {
      const request: ListEventsRequest = { ...key, limit: 20, withCount: false, signal };
      const page = await service.listEvents(request);
      is<EventsPage>()(page);
      is<Event[]>()(page.events);
      is<string | undefined>()(page.before);
      is<number | undefined>()(page.eventCount);
      await service.listEvents({ ...key, before: page.before, skipCorrupt: true });
      // @ts-expect-error a page belongs to a session
      await service.listEvents({ appName: 'shop', userId: 'ada' });
      // @ts-expect-error a cursor is text
      await service.listEvents({ ...key, after: 5 });
      // @ts-expect-error only a walk has an order
      await service.listEvents({ ...key, order: 'desc' });
    }
  });

  it('are those of the changes since a revision', async () => {
    {
      const request: ListChangesRequest = { ...key, since: 1, created: 1, signal };
      const changes = await service.listChanges(request);
      is<ChangesSince<Shop>>()(changes);
      is<StoredEvent[] | undefined>()(changes.events);
      is<Partial<Shop> | undefined>()(changes.state);
      is<number>()(changes.revision);
      // @ts-expect-error changes are counted from a revision
      await service.listChanges(key);
      // @ts-expect-error a revision is a number
      await service.listChanges({ ...key, since: '1' });
      // @ts-expect-error changes are of a session
      await service.listChanges({ appName: 'shop', userId: 'ada', since: 1 });
    }
  });

  it('are those of a walk in either direction', async () => {
    {
      const request: EventsRequest = { ...key, order: 'desc', limit: 20, signal };
      is<AsyncGenerator<Event, void, undefined>>()(service.events(request));
      for await (const event of service.events(key)) is<Event>()(event);
      // @ts-expect-error 'up' is no order
      service.events({ ...key, order: 'up' });
      // @ts-expect-error a walk counts nothing
      service.events({ ...key, withCount: true });
    }
  });

  it('let a handle load older events', async () => {
    {
      const session = await service.createSession(key);
      is<boolean>()(await service.loadOlder(session));
      is<boolean>()(await service.loadOlder(session, 20, { signal }));
      is<boolean>()(await service.loadOlder(session, undefined, {}));
      // @ts-expect-error a limit is a number
      await service.loadOlder(session, '20');
      // @ts-expect-error a key is no handle
      await service.loadOlder(key);
      // @ts-expect-error a session of another shape
      await service.loadOlder({} as Session<{ topic: number }>);
      // @ts-expect-error no such option
      await service.loadOlder(session, 20, { sginal: signal });
    }
  });
});

describe('The types of a service on a server', () => {
  it('are those of its ping', async () => {
    {
      is<void>()(await service.ping());
      is<void>()(await service.ping({ signal }));
      // @ts-expect-error milliseconds are no signal
      await service.ping({ signal: 1000 });
      // @ts-expect-error no such option
      await service.ping({ timeoutMs: 1000 });
    }
  });

  it('are those of its end', async () => {
    {
      const options: CloseOptions = { timeoutMs: 5000 };
      const stored: SessionService<Shop> = service;
      is<void>()(await stored.close(options));
      // @ts-expect-error a time is a number
      await service.close({ timeoutMs: '5 s' });
      // @ts-expect-error no such option
      await service.close({ timeout: 5000 });
    }
  });
});
