// The remote of all devices: a service in memory that notes what arrives, and refuses some events for good.

import { SessionError } from '../../../js/index.js';
import { CoreStore } from '../../../js/storage/core_store.js';
import type {
  AppendRequest,
  CreateRequest,
  SessionStore,
} from '../../../js/storage/session_store.js';
import { APPENDED } from '../../../js/wasm/protocol.js';
import { createMemoryCore } from '../../../js/wasm/core.js';
import { serviceOver } from './linked_service.js';

/** An event with this text is refused by the remote, now and later. */
export const REFUSED = 'the remote refuses this';
/** An event with this text is refused by the server's own authorization: with a status, and without a code. */
export const FORBIDDEN = `${REFUSED} with 403`;

/** The key that an `updateState` writes beside its delta. The service chooses the id of its event. */
export const UPDATE_KEY = 'update';

/** The session's name and the id of an event that has arrived, as a text. */
export function markOf(session: string, eventId: string): string {
  return `${session} ${eventId}`;
}

export class Remote {
  readonly #core = new CoreStore(createMemoryCore(), true);
  /** How often each event was stored as a new one, by {@link markOf}. */
  readonly arrivals = new Map<string, number>();
  readonly store: SessionStore = this.#noting();
  /** Another program, whose requests do not fail. */
  readonly service = serviceOver('memory', this.store);

  /** The first event of a session that has arrived, by {@link markOf}. */
  oldestOf(session: string): string | undefined {
    return [...this.arrivals.keys()].find((mark) => mark.startsWith(markOf(session, '')));
  }

  end(): void {
    this.#core.free();
  }

  #noting(): SessionStore {
    const core = this.#core;
    return new Proxy<SessionStore>(core, {
      get: (_, name) => {
        if (name === 'append') return (request: AppendRequest) => this.#append(request);
        if (name === 'create') {
          return (request: CreateRequest, ifAbsent: boolean) => this.#create(request, ifAbsent);
        }
        if (name === 'appendMany') return undefined;
        if (name === 'free') return () => undefined;
        const value: unknown = Reflect.get(core, name, core);
        return typeof value === 'function' ? (value.bind(core) as unknown) : value;
      },
    });
  }

  #append(request: AppendRequest) {
    requireAccepted(request.events);
    const answer = this.#core.append(request);
    if (answer instanceof Promise) throw new Error('memory answers at once');
    const unchanged = new Set(answer[APPENDED.unchanged]?.map(([position]) => position));
    this.#note(request, ({ position }) => !unchanged.has(position));
    return answer;
  }

  #create(request: CreateRequest, ifAbsent: boolean) {
    requireAccepted(request.events);
    const created = this.#core.create(request, ifAbsent);
    if (created !== undefined) this.#note(request, () => true);
    return created;
  }

  #note(
    { key, events }: Pick<AppendRequest, 'key' | 'events'>,
    isNew: (event: { readonly position: number }) => boolean,
  ): void {
    const session = JSON.stringify([key.appName, key.userId, key.sessionId]);
    for (const [position, { id, delta }] of events.entries()) {
      const update = delta[UPDATE_KEY];
      const mark = markOf(session, typeof update === 'string' ? update : id);
      if (isNew({ position })) this.arrivals.set(mark, (this.arrivals.get(mark) ?? 0) + 1);
    }
  }
}

function requireAccepted(events: AppendRequest['events']): void {
  if (events.some(({ text }) => text.includes(FORBIDDEN))) {
    throw new SessionError('remote', 'The server responds 403.', { status: 403 });
  }
  if (events.some(({ text }) => text.includes(REFUSED))) {
    throw new SessionError('schema_violation', 'The remote refuses the event.');
  }
}
