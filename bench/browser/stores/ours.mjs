// The package with the same interface as the bare code, so that each case is written once.

import { IndexedDbSessionService } from 'adk-session-wasm';

/**
 * @typedef {import('adk-session-wasm').Session} Session
 * @typedef {import('adk-session-wasm').Event} Event
 */

export class Ours {
  /** @type {IndexedDbSessionService} */ #service;
  /** @type {{ appName: string, userId: string }} */ #user;

  /**
   * @param {string} name
   * @param {{ appName: string, userId: string }} user
   */
  constructor(name, user) {
    this.#service = new IndexedDbSessionService({ name, durability: 'relaxed' });
    this.#user = user;
  }

  /** @param {string} name @param {{ appName: string, userId: string }} user */
  static async open(name, user) {
    return new Ours(name, user);
  }

  /** @param {string} name */
  static async drop(name) {
    await IndexedDbSessionService.deleteDatabase(name);
  }

  /** @param {string[]} ids */
  create(ids) {
    return Promise.all(
      ids.map((sessionId) => this.#service.createSession({ ...this.#user, sessionId })),
    );
  }

  /** @param {Session} session @param {Event} event */
  append(session, event) {
    return this.#service.appendEvent({ session, event });
  }

  /** @param {{ id: string }} handle @param {Event[]} events */
  async fill({ id }, events) {
    // A separate handle, so that the caller's handle does not hold all events.
    const session = await this.load(id, 0);
    await this.#service.appendEvents({ session, events });
  }

  /** @param {string} sessionId @param {number} [numRecentEvents] */
  load(sessionId, numRecentEvents) {
    const config = numRecentEvents === undefined ? undefined : { numRecentEvents };
    return this.#service.getSession({ ...this.#user, sessionId, ...(config && { config }) });
  }

  /** @param {number} limit */
  async newest(limit) {
    const { sessions } = await this.#service.listSessions({ ...this.#user, order: 'desc', limit });
    return sessions;
  }

  close() {
    return this.#service.close();
  }
}
