// An operation as a call of the service, and its answer as the model says it.

import type { BaseSessionService, Event, Session } from '../../../js/index.js';
import type { Rules } from '../model/apply.js';
import { canonical, canonicalEvent } from '../model/canonical.js';
import { eventOf } from '../model/events.js';
import { textOfList } from '../model/list.js';
import type { SeenHandle } from '../model/linearize.js';
import { textOfSession } from '../model/world.js';
import type { EventSpec, Handle, Operation } from '../operation.js';

/** What a call gives: the text to compare, and the session if there is one to hold. */
export interface Answer {
  readonly value: string | undefined;
  readonly session?: Session | undefined;
}

/** The callers' event objects, so that a retry may hand in the same one. */
export type EventObjects = WeakMap<EventSpec, Event>;

/** Calls the service at once, and reads the answer in the moment when it comes. */
export async function perform(
  service: BaseSessionService,
  operation: Operation,
  handles: ReadonlyMap<number, Handle>,
  objects: EventObjects,
  signal: AbortSignal | undefined,
  rules: Rules,
): Promise<Answer> {
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
      const { appName, userId, order, limit, offset } = operation;
      const page = limit === undefined ? {} : { limit, offset };
      const answer = await service.listSessions({ appName, ...(userId !== undefined && { userId }), order, ...page, signal }); // prettier-ignore
      const texts = answer.sessions.map((session) => readText(session, rules));
      return { value: textOfList(texts, answer.totalItems, rules.hasExactTimes) };
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
      const { appName, userId, sessionId, delta } = operation;
      await service.updateState({
        appName,
        ...(userId !== undefined && { userId }),
        ...(sessionId !== undefined && { sessionId }),
        stateDelta: delta,
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
      await service.deleteUser({ ...operation, signal });
      return { value: undefined };
    case 'deleteUserState':
      await service.deleteUserState({ ...operation, signal });
      return { value: undefined };
    case 'deleteAppState':
      await service.deleteAppState({ appName: operation.appName, signal });
      return { value: undefined };
  }
}

/** What was read, in the model's form. */
export function readText(session: Session, { hasExactTimes }: Rules): string {
  const { id: sessionId, appName, userId, lastUpdateTime, state, events } = session;
  return textOfSession(
    { appName, userId, sessionId },
    hasExactTimes ? lastUpdateTime : 0,
    state,
    events.map(canonicalEvent),
  );
}

/** What a handle shows. `temp:` keys are the caller's own. */
export function shownBy({ session }: Handle, { hasExactTimes }: Rules): SeenHandle {
  const state = Object.entries(session.state).filter(([key]) => !key.startsWith('temp:'));
  return {
    events: session.events.map(canonicalEvent),
    state: canonical(Object.fromEntries(state)),
    lastUpdateTime: hasExactTimes ? session.lastUpdateTime : 0,
  };
}
