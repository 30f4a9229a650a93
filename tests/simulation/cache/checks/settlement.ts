// The end of a seed, without faults: everything is sent and received, and then all copies are equal to the remote.

import type { SessionService } from '../../../../js/index.js';
import { canonical } from '../../model/canonical.js';
import { sessionName } from '../../model/world.js';
import { NAMES, USER } from '../cache_workload.js';
import type { Tab } from '../device.js';
import { idOf, type Ledger } from './ledger.js';
import type { Remote } from '../remote.js';
import { checkState } from './state_check.js';

interface Parts {
  readonly remote: Remote;
  readonly ledger: Ledger;
  /** Lets requests and time pass until a call has settled. */
  readonly wait: <T>(what: string, call: Promise<T>) => Promise<T>;
}

export class Settlement {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Sends and receives until no device has anything left to do. */
  async becomeQuiet(tabs: readonly Tab[]): Promise<void> {
    const { wait } = this.#parts;
    const [first, ...others] = onePerDevice(tabs);
    // The first device receives what the others have sent, and the titles of what it has sent itself.
    for (const tab of [first!, ...others, first!]) {
      await wait(`sync of tab ${tab.number}`, tab.service.sync());
    }
  }

  /** Drops what was set aside, until nothing is left. Then everything else must have arrived. */
  async dropRefusals(tabs: readonly Tab[]): Promise<void> {
    const { wait, ledger, remote } = this.#parts;
    for (;;) {
      const released = new Set<string>();
      for (const { service } of onePerDevice(tabs)) {
        for (const { key, error, events } of await wait('the outbox', service.outbox.list())) {
          const { appName, userId = '', sessionId = '' } = key;
          const name = sessionName({ appName, userId, sessionId });
          if (error === undefined) {
            // What stood behind a dropped event waits again.
            if (released.has(name)) continue;
            throw new Error(`something still waits for ${name}`);
          }
          released.add(name);
          const { eventId } = error;
          if (eventId === undefined) ledger.noteDeletion(name, undefined);
          const dropped = events.filter(({ id }) => id === (eventId ?? id));
          for (const event of dropped) ledger.giveUp(idOf(event));
          await wait('a drop', service.outbox.drop(key, eventId));
        }
      }
      if (released.size === 0) break;
      await this.becomeQuiet(tabs);
    }
    ledger.checkArrivals(remote.arrivals);
  }

  /**
   * Compares each device with the remote.
   *
   * @param created the names of the sessions that must be there, unless somebody deleted them
   */
  async compare(tabs: readonly Tab[], created: ReadonlySet<string>): Promise<void> {
    const { ledger, remote } = this.#parts;
    const expected = await this.#contentOf(remote.service, undefined);
    for (const name of created) {
      if (ledger.hasDeletion(name) || expected.get(name) !== undefined) continue;
      throw new Error(`session ${name} is not on the remote`);
    }
    for (const { service, device } of onePerDevice(tabs)) {
      const actual = await this.#contentOf(service, device.number);
      for (const [name, text] of expected) {
        if (actual.get(name) === text) continue;
        throw new Error(
          `device ${device.number} has ${name} as\n${actual.get(name)}\nand the remote has\n${text}`,
        );
      }
    }
  }

  /** The texts of all data, by the names of sessions and states. */
  async #contentOf(
    service: SessionService,
    device: number | undefined,
  ): Promise<Map<string, string | undefined>> {
    const { wait, ledger } = this.#parts;
    const texts = new Map<string, string | undefined>();
    for (const key of NAMES) {
      const name = sessionName(key);
      const session = await wait('a read', service.getSession(key));
      if (session !== undefined) {
        ledger.checkRead(name, device, session.events, Infinity);
        if (!ledger.hasDeletion(name)) checkState(name, session.state, ledger.versionsOf(name));
      }
      const content = session && canonical([session.title ?? null, session.state, session.events]);
      texts.set(name, content);
    }
    texts.set('user state', canonical(await wait('a state', service.getUserState(USER))));
    texts.set('app state', canonical(await wait('a state', service.getAppState(USER))));
    const { sessions } = await wait('a list', service.listSessions(USER));
    const lines = sessions.map(({ id, state }) => `${id} ${canonical(state)}`);
    texts.set('list', lines.sort().join('\n'));
    return texts;
  }
}

/** The tab of each device that was opened last. */
function onePerDevice(tabs: readonly Tab[]): Tab[] {
  return [...new Map(tabs.map((tab) => [tab.device, tab])).values()];
}
