import { isTime } from '../../values/model/values/time.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { ListedSession } from '../../core/storage/store.js';

/** A session as it is stored. Each member except the ids may be damaged. */
export interface ListedRecord {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly number?: unknown;
  readonly numberCopy?: unknown;
  readonly created?: unknown;
  readonly revision?: unknown;
  readonly lastUpdateTime?: unknown;
  readonly createTime?: unknown;
  /** The JSON object of the session's own state. */
  readonly state?: unknown;
  readonly title?: unknown;
  readonly labels?: unknown;
  readonly parent?: unknown;
}

/**
 * Checks records as `Record::head` in `src/wasm/indexed_db/records/record.rs` does. The check is repeated here because
 * the wasm would need eleven calls into JavaScript for each listed session.
 */
export function toListed(records: readonly unknown[]): ListedSession[] {
  return (records as readonly ListedRecord[]).map(listedSession);
}

function listedSession(record: ListedRecord): ListedSession {
  const { userId, sessionId, number, state } = record;
  const numberCopy = record.numberCopy;
  const createTime = record.createTime;
  const created = isRevision(record.created) ? record.created : NaN;
  const revision = isRevision(record.revision) ? record.revision : NaN;
  const lastUpdateTime = isTime(record.lastUpdateTime) ? record.lastUpdateTime : NaN;
  const isSound =
    isRevision(number) && number === numberCopy && created <= revision && lastUpdateTime >= 0;
  return {
    sessionId,
    userId,
    created,
    revision,
    lastUpdateTime,
    createTime: isTime(createTime) ? createTime : undefined,
    state: textOf(state) ?? '',
    title: textOf(record.title),
    labels: textOf(record.labels),
    parent: textOf(record.parent),
    isDamaged: !isSound,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
