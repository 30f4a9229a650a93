// Performs an operation by a call of the service, and converts its result to the model's form.

import type { SessionService, Event, Session, StateShape } from '../../../js/index.js';
import type { Rules } from '../model/apply.js';
import { canonical, canonicalEvent } from '../model/canonical.js';
import { eventOf } from '../model/events.js';
import { textOfList } from '../model/list.js';
import type { ObservedHandle } from '../model/linearize.js';
import { textOfSession } from '../model/world.js';
import { countingDelta, type EventSpec, type Handle, type Operation } from '../operation.js';

/** The result of a call: the text to compare, and the returned session as a handle. */
export interface CallResult {
  readonly value: string | undefined;
  readonly session?: Session | undefined;
}

/** The callers' event objects, so that a retry can append the same object. */
export type EventObjects = WeakMap<EventSpec, Event>;

/** Calls the service synchronously, and converts the result when the call settles. */
export async function perform(
  service: SessionService,
  operation: Operation,
  handles: ReadonlyMap<number, Handle>,
  objects: EventObjects,
  signal: AbortSignal | undefined,
  rules: Rules,
): Promise<CallResult> {
  switch (operation.kind) {
    case 'create':
    case 'getOrCreate': {
      const request = { ...operation.key, state: operation.state, signal };
      const session = await (operation.kind === 'create'
        ? service.createSession(request)
        : service.getOrCreateSession(request));
      return { value: readText(session, rules), session };
    }
    case 'get': {
      const { key, last } = operation;
      const config = { numRecentEvents: last };
      const session = await service.getSession({ ...key, ...(last !== undefined && { config }), signal }); // prettier-ignore
      return { value: session && readText(session, rules), session };
    }
    case 'list': {
      const { appName, userId, order, limit, page: number } = operation;
      const page = limit === undefined ? {} : { limit, page: number };
      const list = await service.listSessions({ appName, ...(userId !== undefined && { userId }), order, ...page, signal }); // prettier-ignore
      const texts = list.sessions.map((session) => readText(session, rules));
      return { value: textOfList(texts, list.totalItems, rules.hasExactTimes) };
    }
    case 'delete':
      await service.deleteSession({ ...operation.key, signal });
      return { value: undefined };
    case 'append': {
      const { session } = handles.get(operation.handle)!;
      const events = operation.events.map((spec) => {
        const event = objects.get(spec) ?? eventOf(spec);
        objects.set(spec, event);
        return event;
      });
      if (operation.isBatch) await service.appendEvents({ session, events, signal });
      else await service.appendEvent({ session, event: events[0]!, signal });
      return { value: undefined };
    }
    case 'update': {
      const { appName, userId, sessionId, delta, counter } = operation;
      const compute = (state: StateShape) => countingDelta(delta, counter!, state);
      await service.updateState({
        appName,
        ...(userId !== undefined && { userId }),
        ...(sessionId !== undefined && { sessionId }),
        stateDelta: counter === undefined ? delta : compute,
        signal,
      });
      return { value: undefined };
    }
    case 'userState': {
      const { appName, userId } = operation;
      return { value: canonical(await service.getUserState({ appName, userId, signal })) };
    }
    case 'appState':
      return { value: canonical(await service.getAppState({ appName: operation.appName, signal })) }; // prettier-ignore
    case 'deleteUser':
      await service.deleteUser({ appName: operation.appName, userId: operation.userId, signal });
      return { value: undefined };
    case 'deleteUserState':
      await service.deleteUserState({
        appName: operation.appName,
        userId: operation.userId,
        signal,
      });
      return { value: undefined };
    case 'deleteAppState':
      await service.deleteAppState({ appName: operation.appName, signal });
      return { value: undefined };
  }
}

/** The canonical text of a read session. */
export function readText(session: Session, { hasExactTimes }: Rules): string {
  const { id: sessionId, appName, userId, lastUpdateTime, state, events } = session;
  return textOfSession(
    { appName, userId, sessionId },
    hasExactTimes ? lastUpdateTime : 0,
    state,
    events.map(canonicalEvent),
  );
}

/** The content of a handle, without the caller's own `temp:` keys. */
export function shownBy({ session }: Handle, { hasExactTimes }: Rules): ObservedHandle {
  const state = Object.entries(session.state).filter(([key]) => !key.startsWith('temp:'));
  return {
    events: session.events.map(canonicalEvent),
    state: canonical(Object.fromEntries(state)),
    lastUpdateTime: hasExactTimes ? session.lastUpdateTime : 0,
  };
}
