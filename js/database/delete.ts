import type { Deleted, DeleteRequest } from '../storage/adapter.js';
import { readFloor } from './found.js';
import { revisionOf } from './rows.js';
import { floorText, METADATA } from './tables.js';
import { microsOf, timeText } from './times.js';
import type { WriteContext } from './write.js';

/** What a state that was deleted is. */
const EMPTY = '{}';

/**
 * Deletes, and raises the floor to the last revision of what was deleted, so that none of it is ever
 * given again.
 *
 * A state that is deleted becomes an empty one, whose revision goes on: Python cannot append where there
 * is no row. With all sessions of a user the row goes as well, since creating one makes it anew.
 */
export async function remove(context: WriteContext, request: DeleteRequest): Promise<Deleted> {
  const { connection, statements } = context;
  const { appName: app } = request.key;
  const deleted: number[] = [];
  if (request.what === 'session') {
    const { userId, sessionId } = request.key;
    deleted.push(...(await removeSessions(context, app, userId, sessionId)));
  } else if (request.what === 'appState') {
    const [row] = await statements.lockedApp.run(connection, { app });
    if (row !== undefined) {
      const revision = nextRevision(context, row.update_time);
      const values = { app, state: EMPTY, updated: timeText(revision) };
      await statements.updateApp.run(connection, values);
      return { floor: revision };
    }
  } else {
    const { userId: user } = request.key;
    if (request.what === 'user') deleted.push(...(await removeSessions(context, app, user)));
    const [row] = await statements.lockedUser.run(connection, { app, user });
    if (row !== undefined && request.what === 'user') {
      deleted.push(revisionOf(row.update_time, 'a state'));
      await connection
        .deleteFrom('user_states')
        .where('app_name', '=', app)
        .where('user_id', '=', user)
        .execute();
    } else if (row !== undefined) {
      const revision = nextRevision(context, row.update_time);
      const values = { app, user, state: EMPTY, updated: timeText(revision) };
      await statements.updateUser.run(connection, values);
      return { floor: revision };
    }
  }
  return { floor: await raiseFloor(context, deleted) };
}

function nextRevision({ now }: WriteContext, updateTime: string): number {
  return Math.max(revisionOf(updateTime, 'a state') + 1, microsOf(now));
}

/** Deletes one session, or all of a user; gives their revisions. */
async function removeSessions(
  { connection, engine }: WriteContext,
  app: string,
  user: string,
  session?: string,
): Promise<number[]> {
  const ofUser = connection
    .selectFrom('sessions')
    .select((of) => engine.time(of.ref('update_time')).as('update_time'))
    .where('app_name', '=', app)
    .where('user_id', '=', user);
  const chosen = session === undefined ? ofUser : ofUser.where('id', '=', session);
  const rows = await (engine.locksRows ? chosen.forUpdate() : chosen).execute();
  if (rows.length === 0) return [];
  for (const table of ['events', 'adk_session_wasm_sessions'] as const) {
    const parts = connection
      .deleteFrom(table)
      .where('app_name', '=', app)
      .where('user_id', '=', user);
    await (session === undefined ? parts : parts.where('session_id', '=', session)).execute();
  }
  const sessions = connection
    .deleteFrom('sessions')
    .where('app_name', '=', app)
    .where('user_id', '=', user);
  await (session === undefined ? sessions : sessions.where('id', '=', session)).execute();
  return rows.map((row) => revisionOf(row.update_time, 'a session'));
}

async function raiseFloor(
  { connection, statements }: WriteContext,
  revisions: readonly number[],
): Promise<number> {
  if (revisions.length > 0) {
    const value = floorText(revisions.reduce((one, other) => Math.max(one, other)));
    await connection
      .updateTable('adk_internal_metadata')
      .set({ value })
      .where('key', '=', METADATA.floor)
      .where('value', '<', value)
      .execute();
  }
  return readFloor(connection, statements);
}
