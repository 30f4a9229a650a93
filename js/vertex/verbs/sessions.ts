/** Requests for sessions, shared by all verbs. */
import type { StorageKey } from '../../storage/adapter.js';
import type { EngineAddresses } from '../rest/engine_address.js';
import { EventList } from '../events/event_list.js';
import { hasStatus } from '../rest/failure.js';
import type { NewestFirst } from '../events/newest_first.js';
import type { Json, Rest } from '../rest/rest.js';
import type { SeenEvents } from '../events/seen_events.js';
import { isSessionId } from './session_ids.js';

/** A session's key and URLs. */
export interface SessionPlace extends Required<StorageKey> {
  /** URL of the server up to the API version. */
  readonly apiUrl: string;
  /** URL of the list of the engine's sessions. */
  readonly listUrl: string;
  /** URL of the session. */
  readonly url: string;
}

/** Data about the server that all calls share. */
export interface Known {
  readonly addresses: EngineAddresses;
  readonly seen: SeenEvents;
  readonly newestFirst: NewestFirst;
}

/** The session requests of one call. */
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
   * Returns the URLs of a session.
   *
   * @returns `undefined` if Vertex AI does not allow the session id
   * @throws SessionError `invalid_argument` if the app names no engine
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

  /**
   * Reads the session, whoever owns it.
   *
   * @returns `undefined` if it does not exist
   */
  find({ url }: SessionPlace): Promise<Json | undefined> {
    return this.orAbsent(this.rest.get(url));
  }

  /** Returns the outcome of a request, or `undefined` if the server answers 404. */
  async orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }
}
