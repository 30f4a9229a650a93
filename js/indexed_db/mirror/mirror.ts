/**
 * The *mirror*: a second copy of a database, which Chromium does not lose together with the first. This
 * module is loaded only for a database that has a mirror or is about to get one.
 *
 * Chromium keeps all databases of an origin in one LevelDB. If that is damaged, Chromium deletes all of them.
 * The mirror is in a Storage Bucket, which has another LevelDB with files of its own.
 *
 * **Writing.** Each transaction that writes to the database also increments `seq` in the *mark*, a record in
 * the store `meta`. All writing transactions of all tabs share that record, so `seq` numbers them in commit
 * order, without a gap. After a transaction has committed, its puts and deletes are repeated in the mirror by
 * one transaction. That transaction checks that the mirror is at `seq - 1`, and sets it to `seq`. Only then
 * does the call resolve. So the mirror always holds the state after some commit: everything that was
 * acknowledged, and nothing that was not committed.
 *
 * **Catching up.** The mirror may lack a transaction: a tab or the browser ended between the two commits, or
 * another tab's transaction came first. The mark lists the keys that the last transactions changed. One tab
 * at a time, under a Web Lock, reads the current records of these keys in one transaction. It writes them to
 * the mirror in one transaction. If the mark does not list enough transactions, the whole database is copied
 * beside the current copy. One transaction then replaces the current copy.
 *
 * **Opening.** Before any call continues, the first matching row applies:
 *
 * | the database | action |
 * |---|---|
 * | is empty but for the note of its creation, and the mirror has a copy | it was lost: restore it |
 * | has a mark that says that it is being restored | restore it again |
 * | is behind the mirror, in the same epoch | it fell back: restore it |
 * | has a mark | bring the mirror up to date, then mirror all writes, whether the option is set or not |
 * | has no mark | if the option is set, create the mark and copy the database |
 *
 * Every connection to a database with a mirror must mirror its writes. If one tab wrote to the database only,
 * the mirror would get a state that never existed. The existence of the bucket tells each tab to look for a
 * mirror. So a tab that creates a mirror makes all tabs reopen their connections.
 *
 * **Epochs.** A restored database gets a new epoch. The mirror gets that epoch before the restore reads its
 * records. Another tab may have committed a transaction to the lost database without adding it to the mirror
 * yet. The mirror then refuses that transaction. Its call was not acknowledged; a retry writes the data
 * again.
 *
 * `deleteDatabase` deletes the mirror first, under the lock, so that nothing restores the deleted database.
 *
 * The mirror holds records as they are, so no upgrade of the layout may change them. The mark and the note of
 * the creation are not in the mirror: they say something about the database alone.
 */
import { lockOf } from './mirror_position.js';
import { MirrorDatabase } from './mirror_database.js';
import { mirrorWrites } from './mirrored_connection.js';
import { reconcile, type MirrorOptions } from './reconcile.js';

/**
 * Synchronises a database with its mirror, and mirrors all writes of this connection. Does nothing if there is
 * no mirror and none is wanted.
 */
export async function openMirror(
  name: string,
  database: IDBDatabase,
  options: MirrorOptions,
): Promise<void> {
  const mark = await reconcile(name, options);
  if (mark === undefined) return;
  mirrorWrites(database, name, await MirrorDatabase.open(name, options.timeout), options);
}

/**
 * Deletes the mirror, and then the database by `remove`. The lock keeps other tabs from restoring it in
 * between.
 */
export async function deleteWithMirror(
  name: string,
  timeout: number,
  remove: () => Promise<void>,
): Promise<void> {
  await navigator.locks.request(lockOf(name), async () => {
    await MirrorDatabase.delete(name, timeout);
    await remove();
  });
}
