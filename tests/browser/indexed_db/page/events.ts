import {
  createEvent,
  type Event,
  isSessionError,
  type Session,
  type SessionErrorCode,
  type StateShape,
} from 'adk-session-wasm';

export const APP = 'shop';
export const USER = 'ada';

export function keyOf(sessionId: string): { appName: string; userId: string; sessionId: string } {
  return { appName: APP, userId: USER, sessionId };
}

/** An event with a text and a state delta. */
export function say(id: string, stateDelta: StateShape = {}, text = id): Event {
  const content = { role: 'user', parts: [{ text }] };
  const event = createEvent({ id, author: 'user', content });
  event.actions.stateDelta = stateDelta;
  return event;
}

/** An event that leaves its id in each of the three scopes. */
export function mark(id: string): Event {
  return say(id, { [id]: id, [`user:${id}`]: id, [`app:${id}`]: id });
}

export function idsOf(session: Session | undefined): string[] {
  return (session?.events ?? []).map(({ id }) => id);
}

/** The numbers from 0, written so that they sort as text. */
export function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, number) => String(number).padStart(5, '0'));
}

/** The members of an error that tests check. */
export interface Failure {
  code: string;
  message: string;
  record?: string | undefined;
}

/** Returns the error of a call. Throws if the call succeeds, or fails with another kind of error. */
export async function failure(run: () => unknown): Promise<Failure> {
  try {
    await run();
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return { code: error.code, message: error.message, record: error.record };
  }
  throw new Error('it did not fail');
}

/** Does it again as long as it fails with that code: a retry is safe. */
export async function persist<T>(
  run: () => Promise<T>,
  code: SessionErrorCode = 'connection_lost',
): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!isSessionError(error, code)) throw error;
    }
  }
}
