import type { OutboxChange, OutboxEntry, OutboxError } from '../../../service/cache/index.js';

/** Changes of a session that are no events. A state's refusal is in the outbox alone: it belongs to a user or an app. */
const KINDS = ['create', 'title', 'labels', 'delete'] as const;

/** A change of a session that the remote of a cache has refused. The session is shown without it. */
export interface RefusedChange {
  /** `create`: the remote does not have the session, so it is shown as it is here. */
  readonly kind: (typeof KINDS)[number];
  /** Why the remote refused it. */
  readonly error: OutboxError;
}

/** Returns the refused changes of sessions that are no events. */
export function refusedIn(entries: readonly OutboxEntry[]): readonly RefusedChange[] {
  return entries.flatMap(({ changes, error }) =>
    error === undefined
      ? []
      : changes.flatMap((change) =>
          change.isRefused && isOfSession(change) ? [{ kind: change.kind, error }] : [],
        ),
  );
}

/** Returns `last` if `next` says the same. Each list of an outbox makes other errors. */
export function keepRefused(
  last: readonly RefusedChange[],
  next: readonly RefusedChange[],
): readonly RefusedChange[] {
  const textOf = (refused: readonly RefusedChange[]): string =>
    JSON.stringify(refused.map(({ kind, error }) => [kind, error.code, error.message]));
  return textOf(last) === textOf(next) ? last : next;
}

function isOfSession(
  change: OutboxChange,
): change is OutboxChange & { readonly kind: RefusedChange['kind'] } {
  return (KINDS as readonly string[]).includes(change.kind);
}
