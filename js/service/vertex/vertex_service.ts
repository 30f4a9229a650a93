import { rules } from '#rules';
import type { OwnStorage } from '../../core/storage/store.js';
import { VertexStore } from '../../stores/vertex/vertex_store.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { AppendedEvent, NewEvent } from '../../values/model/event/event.js';
import type {
  AppendEventRequest,
  AppendEventsRequest,
  Session,
} from '../../values/model/session.js';
import { isTemp } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { hasUnstoredWrite } from '../../values/state/write_order.js';
import { partsOver } from '../over_storage.js';
import { ServiceCore } from '../service_core.js';
import type { SessionServiceOptions } from '../service_options.js';
import { StoredSessionService } from '../stored_session_service.js';

/** A service over Vertex AI, which removes a key of a state whose value is `null`. */
export class VertexService<S extends object = StateShape> extends StoredSessionService<S> {
  /**
   * @param storage or a function that loads it at the first call
   * @internal
   */
  constructor(
    storage: OwnStorage | (() => Promise<OwnStorage>),
    options: SessionServiceOptions<S>,
  ) {
    const parts = partsOver({ kind: 'vertexai', durable: true }, storage, VertexStore);
    super(new ServiceCore({ ...parts, rules, expires: true }, withVertexIds(options)));
  }

  /** Appends an event; see `SessionService`. Then removes what is `null` from the state of the session object. */
  override async appendEvent<E extends NewEvent>(
    request: AppendEventRequest<S, E>,
  ): Promise<AppendedEvent<E>> {
    const appended = await super.appendEvent(request);
    removeNulls(request);
    return appended;
  }

  /** Appends events; see `SessionService`. Then removes what is `null` from the state of the session object. */
  override async appendEvents<E extends NewEvent>(
    request: AppendEventsRequest<S, E>,
  ): Promise<AppendedEvent<E>[]> {
    const appended = await super.appendEvents(request);
    removeNulls(request);
    return appended;
  }
}

/**
 * Removes the keys that are `null` from the state of an append's handle. Those that are not stored stay. Never throws.
 */
function removeNulls(request: { readonly session: Session<object> }): void {
  try {
    const { state } = request.session;
    for (const [key, value] of Object.entries(state) as [string, unknown][]) {
      const isStored = !isTemp(key) && !hasUnstoredWrite(state, key);
      if (isStored && value === null) Reflect.deleteProperty(state, key);
    }
  } catch {
    // A getter or a proxy of the caller threw. The next `getSession` returns the state.
  }
}

/**
 * Adds a `newId` to the options whose ids the server accepts: they begin with a letter. A given `newId` is
 * kept.
 */
function withVertexIds<O extends { newId?: (() => string) | undefined }>(options: O): O {
  return options.newId === undefined ? { ...options, newId: newVertexId } : options;
}

const LETTERS = 'abcdef';

function newVertexId(): string {
  const id = newEventId();
  const first = Number.parseInt(id.charAt(0), 16);
  return `${LETTERS.charAt(first % LETTERS.length)}${id.slice(1)}`;
}
