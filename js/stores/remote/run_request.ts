import { requireNotAborted, takeRequest } from '../../core/call/call.js';
import { type Handles, type HandleSnapshot, snapshotHandle } from '../../core/handle/handle.js';
import type { HandleFacts } from '../../core/handle/handle_facts.js';
import { invalid } from '../../values/errors/invalid.js';
import { writeJson } from '../../values/json/write.js';
import type { Content } from '../../values/model/event/content.js';
import type { Abortable, CompositeSessionKey, Session } from '../../values/model/session.js';
import { requireKey } from '../../values/model/values/ids.js';
import type { DeltaSnapshot } from '../../values/state/delta.js';
import type { StateDelta, StateShape } from '../../values/state/state_shape.js';

/** What the agent gets in a {@link RunRequest}. */
export interface RunOptions<S extends object = StateShape> extends Abortable {
  /** The user's message. It may be absent only with `invocationId`. */
  newMessage?: Content | undefined;
  /**
   * Whether the model's answer also comes in partial events: events with `partial`, which are not stored. Default
   * `false`.
   */
  streaming?: boolean | undefined;
  /** Changes of the state, stored with the message. The server removes no keys. */
  stateDelta?: StateDelta<S> | undefined;
  /** An interrupted invocation to resume. */
  invocationId?: string | undefined;
  /** The event with the long-running call that `newMessage` answers. */
  functionCallEventId?: string | undefined;
  /** Stored in `customMetadata` of the run's events. */
  customMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The request to run an agent: the key of a session, or a handle that gets the events. */
export type RunRequest<S extends object = StateShape> = RunOptions<S> &
  (
    | (CompositeSessionKey & {
        /** Absent, because the key is given. */
        session?: undefined;
      })
    | {
        /** Gets the message and the events of the run, as the server has stored them. */
        session: Session<S>;
        /** Absent, because `session` is given. */
        appName?: undefined;
        /** Absent, because `session` is given. */
        userId?: undefined;
        /** Absent, because `session` is given. */
        sessionId?: undefined;
      }
  );

/** A checked request to run an agent. */
export interface CheckedRun extends Abortable {
  readonly key: CompositeSessionKey;
  /** The body of the request to the server, in JSON. */
  readonly body: string;
  readonly stateDelta: Readonly<Record<string, unknown>>;
  readonly handle: RunHandle | undefined;
  /**
   * Called when the server has accepted the request. A live session has it called by a hidden member of its request.
   */
  readonly onAccepted: (() => void) | undefined;
}

/** The handle that gets the events of a run. */
export interface RunHandle {
  readonly session: HandleSnapshot;
  readonly facts: HandleFacts;
}

/** What the request uses of the service. */
interface RunCore {
  readonly calls: { requireOpen(): void };
  readonly handles: Pick<Handles, 'factsOf'>;
  takeDelta(given: unknown): DeltaSnapshot;
}

/** @throws SessionError `invalid_argument`, `unserializable`, `schema_violation`, `aborted`, `closed` */
export function takeRun<S extends object>(core: RunCore, request: RunRequest<S>): CheckedRun {
  core.calls.requireOpen();
  const taken = takeRequest<typeof request & Partial<Pick<CheckedRun, 'onAccepted'>>>(request);
  const { session: given, signal, stateDelta } = taken;
  const { newMessage, streaming, invocationId, functionCallEventId, customMetadata } = taken;
  requireNotAborted(signal);
  if (newMessage === undefined && invocationId === undefined) {
    throw invalid('newMessage', 'must be given, or invocationId');
  }
  const session = given && snapshotHandle(given);
  const { appName, userId, sessionId } = (
    session ? { ...session, sessionId: session.id } : taken
  ) as CompositeSessionKey;
  const key = { appName, userId, sessionId };
  requireKey(key);
  const { delta } = core.takeDelta(stateDelta);
  const asked = { newMessage, streaming, invocationId, functionCallEventId, customMetadata };
  const body = writeJson(
    { ...asked, ...key, stateDelta: stateDelta && delta },
    { rules: 'event' },
  )!;
  const handle = session && { session, facts: core.handles.factsOf(session) };
  return { key, body, stateDelta: delta, handle, signal, onAccepted: taken.onAccepted };
}
