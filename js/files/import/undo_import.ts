/** Undoes the import of a session that failed. */
import { isSessionError, SessionError } from '../../errors/errors.js';
import { isShared, REMOVED } from '../../state/scope.js';
import type { Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { BaseSessionService } from '../../model/session_service.js';
import { readSharedState } from './shared_state.js';
import type { StatePlan } from './state_plan.js';

/**
 * Deletes the session, and restores the `user:` and `app:` keys that the import changed. A key that someone
 * else has written since stays as it is.
 *
 * @param sharedBefore the `user:` and `app:` keys before the import
 * @param error why the import failed
 * @throws SessionError with the code of `error` if something could not be undone; the message names it
 */
export async function undoImport(
  service: BaseSessionService,
  { appName, userId, id: sessionId }: Session,
  sharedBefore: Readonly<StateShape>,
  plan: StatePlan,
  error: unknown,
): Promise<void> {
  const session = `the session ${JSON.stringify(sessionId)}`;
  await reportUndoFailure(error, session, () =>
    service.deleteSession({ appName, userId, sessionId }),
  );
  const written = writtenValues(plan);
  if (written.size === 0) return;
  const keys = [...written.keys()].map((key) => JSON.stringify(key)).join(', ');
  await reportUndoFailure(error, `a changed value of ${keys}`, async () => {
    const stateDelta = restoringDelta(
      written,
      sharedBefore,
      await readSharedState(service, { appName, userId }),
    );
    if (Object.keys(stateDelta).length === 0) return;
    await service.updateState({ appName, userId, stateDelta });
  });
}

async function reportUndoFailure(
  error: unknown,
  remainder: string,
  undo: () => Promise<void>,
): Promise<void> {
  try {
    await undo();
  } catch (cause) {
    const [code, message] = isSessionError(error)
      ? [error.code, error.message]
      : (['storage_failed', String(error)] as const);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SessionError(
      code,
      `${message} The import could not be undone (${reason}): ${remainder} remains in the store.`,
      { cause: error },
    );
  }
}

/** Returns the values that the import may have given to shared keys, as JSON. */
function writtenValues({ initial, events, afterwards }: StatePlan): Map<string, Set<string>> {
  const deltas = [initial, ...events.map(({ actions }) => actions.stateDelta), afterwards];
  const written = new Map<string, Set<string>>();
  for (const [key, value] of deltas.flatMap(Object.entries<unknown>)) {
    if (!isShared(key)) continue;
    written.set(key, (written.get(key) ?? new Set()).add(valueText(value)));
  }
  return written;
}

/** Returns the delta that restores the values from before the import. */
function restoringDelta(
  written: ReadonlyMap<string, ReadonlySet<string>>,
  sharedBefore: Readonly<StateShape>,
  storedShared: Readonly<StateShape>,
): StateShape {
  const valueIn = (state: Readonly<StateShape>, key: string): unknown =>
    Object.hasOwn(state, key) ? state[key] : REMOVED;
  const changed = [...written].filter(([key, values]) => {
    const value = valueText(valueIn(storedShared, key));
    return values.has(value) && value !== valueText(valueIn(sharedBefore, key));
  });
  return Object.fromEntries(changed.map(([key]) => [key, valueIn(sharedBefore, key)]));
}

/** Returns a value as JSON. In a delta, `undefined` and {@link REMOVED} both mean a removal. */
function valueText(value: unknown): string {
  return JSON.stringify(value ?? (value === undefined ? REMOVED : null));
}
