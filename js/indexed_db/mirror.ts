/**
 * A second copy of a database, which Chromium does not lose together with the first: the *mirror*. This module
 * is loaded for a database that has one, and only then.
 *
 * Chromium keeps all databases of an origin in one LevelDB. When that is damaged, it deletes all of them. The
 * mirror lies in a Storage Bucket, whose LevelDB is another one, in files of its own.
 *
 * **Writing.** Each transaction that writes to the database also raises `seq` in the *mark*, a record in the
 * store `meta`. All such transactions of all tabs have that record in common, so `seq` numbers them in the order
 * of their commits, without a gap. Once a transaction has committed, its puts and deletes are repeated in the
 * mirror with one transaction, which checks that the mirror is at `seq - 1`, and takes it to `seq`. Only then the
 * call resolves. So the mirror always holds the state after some commit, has all that was acknowledged, and
 * nothing that was not committed.
 *
 * **Catching up.** The mirror may miss a transaction: a tab or the browser ended between the two commits, or
 * another tab's transaction came first. The mark lists the keys that the last transactions touched. Under a Web
 * Lock, one tab reads what the database has under these keys now, with one transaction, and puts that into the
 * mirror with one transaction. Where the mark does not reach back far enough, the whole database is copied
 * beside the copy that counts, and takes its place with one transaction.
 *
 * **Opening.** Before any call goes on:
 *
 * | the database | is |
 * |---|---|
 * | empty, without a mark, and the mirror has a copy | restored: it was lost |
 * | with a mark that says that it is being restored | restored again |
 * | behind the mirror, in the same epoch | restored: it fell back |
 * | with a mark | mirrored, whether the option is set or not, after the mirror has caught up |
 * | without a mark | marked if the option is set, and then copied |
 *
 * A database with a mirror is mirrored by all who open it: one tab that wrote past the mirror would leave it in a
 * state that never was. The bucket tells them to look. So whoever makes a mirror makes all tabs open their
 * connections anew.
 *
 * **Epochs.** A restored database gets a new epoch, and so does the mirror before it is read. What another tab
 * committed to the lost database, and had still to add to the mirror, is refused there. That call was not
 * acknowledged; its retry writes it again.
 *
 * `deleteDatabase` deletes the mirror first, under the lock: what is deleted does not come back.
 *
 * The mirror holds records as they are. A step to a later version of the schema has to bring the mirror's records
 * there as well.
 */
import { lockOf } from './mirror_layout.js';
import { MirrorDatabase } from './mirror_database.js';
import { mirrorWrites } from './mirrored_connection.js';
import { type Outcome, reconcile, type Wish } from './reconcile.js';

/**
 * Brings a database and its mirror together, and mirrors what this connection writes.
 *
 * @returns `undefined` where there is no mirror and none is wanted
 */
export async function openMirror(
  name: string,
  database: IDBDatabase,
  wish: Wish,
): Promise<Outcome['kind'] | undefined> {
  const outcome = await reconcile(name, wish);
  if (outcome === undefined) return undefined;
  mirrorWrites(database, name, await MirrorDatabase.open(name, wish.timeout), wish);
  return outcome.kind;
}

/** Deletes the mirror, and then the database by `remove`. Nobody restores it in between. */
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
