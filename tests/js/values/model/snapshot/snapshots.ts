import assert from 'node:assert/strict';

import { isSessionError, type SessionErrorCode } from '../../../../../js/values/errors/errors.js';
import { createEvent } from '../../../../../js/values/model/event/create_event.js';
import type { Event } from '../../../../../js/values/model/event/event.js';
import {
  type EventSnapshot,
  snapshotEvent,
} from '../../../../../js/values/model/event/snapshot.js';

export const NOW = 1795155122530;

export function snapshotOf(event: unknown): EventSnapshot {
  return snapshotEvent(
    event as Event,
    () => NOW,
    () => 'new-id',
  );
}

export function refused(code: SessionErrorCode, path?: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isSessionError(error, code), String(error));
    if (path !== undefined) assert.equal(error.path, path);
    return true;
  };
}

/** A complete event, with the fields of `more`. */
export function complete(more: object = {}): Event {
  return { ...createEvent({ id: 'e1', author: 'a', timestamp: 5 }), ...more };
}

export function withDelta(stateDelta: unknown): Event {
  return complete({ actions: { stateDelta } });
}

export function textOf(snapshot: { readonly text: string }): Record<string, unknown> {
  return JSON.parse(snapshot.text) as Record<string, unknown>;
}
