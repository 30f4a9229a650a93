import type { Abortable, CompositeSessionKey, SessionParent } from './session.js';
import type { StateShape } from '../state/state_shape.js';

/** The request to compute what a session holds. */
export interface SessionInfoRequest extends CompositeSessionKey, Abortable {
  /** Leaves out events whose stored record cannot be read. By default such an event fails the call. */
  skipCorrupt?: boolean | undefined;
}

/**
 * The tokens of events, by the names of the model's `usageMetadata`. A number that no event has is absent. Numbers of
 * later models, whose names also end in `TokenCount`, are there too.
 */
export interface TokenUsage {
  /** The tokens that were sent to the model. */
  promptTokenCount?: number;
  /** The tokens of its answers. */
  candidatesTokenCount?: number;
  /** The tokens of its reasoning. */
  thoughtsTokenCount?: number;
  /** Those of the prompt that came from a cache. */
  cachedContentTokenCount?: number;
  /** Those of the prompt that tools used. */
  toolUsePromptTokenCount?: number;
  /** All of them. */
  totalTokenCount?: number;
}

/** What a session holds. It is computed from the stored events, so it counts what other programs wrote as well. */
export interface SessionInfo<S extends object = StateShape> {
  /**
   * The first `lastUpdateTime` of the session, but no later than its creation: milliseconds since 1970. In SQL
   * databases it is the column `create_time`. Absent if the storage does not keep it, as a storage may.
   */
  createTime?: number;
  /** Milliseconds since 1970. */
  lastUpdateTime: number;
  /** The number of events. */
  eventCount: number;
  /** The size of the events' JSON texts, as `JSON.stringify` prints what `listEvents` returns, in bytes of UTF-8. */
  bytes: number;
  /** Absent without a title. */
  title?: string;
  /** Absent without labels. */
  labels?: Record<string, string>;
  /** See `Session.parent`. */
  parent?: SessionParent;
  /**
   * The tokens by model: by the events' `modelVersion`, or by `'unknown'` where events have none. An event that was
   * replaced counts once, as it is now. An event without `usageMetadata` does not count.
   */
  usage: Record<string, TokenUsage>;
  /**
   * The session's own state when it was created, without `user:` and `app:` keys. Absent if it is not known: at
   * Vertex AI, in storages that do not store it, for sessions that other programs created, and for sessions that were
   * imported with events but without their initial state.
   */
  initialState?: Partial<S>;
}
