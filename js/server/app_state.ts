import { isPlainObject, type JsonObject } from '../json/rules.js';
import type { NewEvent } from '../model/event.js';
import { HttpRefusal } from './http_refusal.js';
import type { RouteCall } from './route.js';

/** @throws HttpRefusal 403 if the state has an `app:` key and the request may not change these */
export function requireWritableState({ mayWriteAppState }: RouteCall, state: JsonObject): void {
  if (mayWriteAppState) return;
  const key = Object.keys(state).find((name) => name.startsWith('app:'));
  if (key !== undefined)
    throw new HttpRefusal(403, 'app: state cannot be changed by this request.');
}

/** @throws HttpRefusal 403 if an event changes `app:` state and the request may not change it */
export function requireWritableDeltas(call: RouteCall, events: readonly NewEvent[]): void {
  for (const { actions } of events) {
    const delta: unknown = actions?.stateDelta;
    if (isPlainObject(delta)) requireWritableState(call, delta);
  }
}
