import { isSessionError } from '../../../js/index.js';
import { eventOf } from '../model/events.js';
import { sessionName } from '../model/world.js';
import { USER } from './cache_workload.js';
import type { Ledger } from './checks/ledger.js';
import type { Remote } from './remote.js';
import type { RemoteOperation } from './script.js';

/** Other programs, which change the remote. Their requests fail only if a session was deleted meanwhile. */
export class OtherPrograms {
  readonly #remote: Remote;
  readonly #ledger: Ledger;
  readonly #created: Set<string>;

  /** @param created gets the names of the sessions that were created */
  constructor(remote: Remote, ledger: Ledger, created: Set<string>) {
    this.#remote = remote;
    this.#ledger = ledger;
    this.#created = created;
  }

  async change(operation: RemoteOperation, step: number): Promise<void> {
    const { service } = this.#remote;
    if (operation.kind === 'updateUser') {
      await service.updateState({ ...USER, stateDelta: { 'user:a': operation.value } });
      return;
    }
    const { key } = operation;
    const name = sessionName(key);
    if (operation.kind === 'create') {
      await service.getOrCreateSession(key);
      this.#created.add(name);
    } else if (operation.kind === 'delete') {
      this.#ledger.noteDeletion(name, undefined);
      await service.deleteSession(key);
    } else {
      const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
      if (session === undefined) return;
      const written = operation.events.map((spec) =>
        this.#ledger.begin(spec, name, step, undefined),
      );
      try {
        await service.appendEvents({ session, events: operation.events.map(eventOf) });
      } catch (error) {
        // Somebody has deleted the session since this program read it.
        if (isSessionError(error, 'not_found') && this.#ledger.hasDeletion(name)) return;
        throw error;
      }
      for (const version of written) this.#ledger.acknowledge(version, step);
    }
  }
}
