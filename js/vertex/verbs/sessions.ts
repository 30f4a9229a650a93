/** Requests for sessions, which all verbs share. */
import type { StorageKey } from '../../storage/adapter.js';
import type { EngineAddresses } from '../rest/engine_address.js';
import { EventList } from '../events/event_list.js';
import { hasStatus } from '../rest/failure.js';
import type { NewestFirst } from '../events/newest_first.js';
import type { Json, Rest } from '../rest/rest.js';
import type { SeenEvents } from '../events/seen_events.js';
import { isSessionId } from './session_ids.js';

/** Which session, and where. */
export interface SessionPlace extends Required<StorageKey> {
  /** Up to the API's version. */
  readonly apiUrl: string;
  /** Of all sessions of the engine. */
  readonly listUrl: string;
  /** Of the session. */
  readonly url: string;
}

/** What is known of a server, which all calls share. */
export interface Known {
  readonly addresses: EngineAddresses;
  readonly seen: SeenEvents;
  readonly newestFirst: NewestFirst;
}

/** The sessions, for one call. */
export class Sessions {
  readonly rest: Rest;
  readonly events: EventList;
  readonly seen: SeenEvents;
  readonly #addresses: EngineAddresses;

  constructor(rest: Rest, { addresses, seen, newestFirst }: Known) {
    this.rest = rest;
    this.events = new EventList(rest, newestFirst);
    this.seen = seen;
    this.#addresses = addresses;
  }

  /**
   * @returns `undefined` for an id that no session can have
   * @throws SessionError `invalid_argument` for an app that names no engine
   */
  placeOf({ appName, userId, sessionId }: Required<StorageKey>): SessionPlace | undefined {
    const { apiUrl, listUrl } = this.placesOf(appName);
    if (!isSessionId(sessionId)) return undefined;
    return { appName, userId, sessionId, apiUrl, listUrl, url: `${listUrl}/${sessionId}` };
  }

  placesOf(appName: string): { readonly apiUrl: string; readonly listUrl: string } {
    const { url, engine } = this.#addresses.of(appName);
    return { apiUrl: url, listUrl: `${url}/${engine}/sessions` };
  }

  /** Whosever it is. @returns `undefined` if it is not there */
  find({ url }: SessionPlace): Promise<Json | undefined> {
    return this.orAbsent(this.rest.get(url));
  }

  async orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }
}
