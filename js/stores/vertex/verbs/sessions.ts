/** Requests for sessions, shared by all verbs. */
import type { StorageKey } from '../../../core/storage/rows.js';
import type { JsonObject } from '../../../values/json/rules.js';
import { hasStatus } from '../../http/http_errors.js';
import { ListedEvents } from '../events/event_list.js';
import type { SeenEvents } from '../events/seen_events.js';
import type { EngineAddresses } from '../rest/engine_address.js';
import type { Rest } from '../rest/rest.js';

/** A session's key and URLs. */
export interface SessionAddress extends Required<StorageKey> {
  /** URL of the server up to the API version. */
  readonly apiUrl: string;
  /** URL of the list of the engine's sessions. */
  readonly listUrl: string;
  /** URL of the session. */
  readonly url: string;
}

/** Data about the server that all calls share. */
export interface SharedCaches {
  readonly addresses: EngineAddresses;
  readonly seen: SeenEvents;
}

/** The session requests of one call. */
export class Sessions {
  readonly rest: Rest;
  readonly events: ListedEvents;
  readonly seen: SeenEvents;
  readonly #addresses: EngineAddresses;

  constructor(rest: Rest, { addresses, seen }: SharedCaches) {
    this.rest = rest;
    this.events = new ListedEvents(rest);
    this.seen = seen;
    this.#addresses = addresses;
  }

  /**
   * Returns the URLs of a session.
   *
   * @returns `undefined` if Vertex AI does not allow the session id
   * @throws SessionError `invalid_argument` if the app names no engine
   */
  addressOf({ appName, userId, sessionId }: Required<StorageKey>): SessionAddress | undefined {
    const { apiUrl, listUrl } = this.engineUrls(appName);
    if (!isSessionId(sessionId)) return undefined;
    return { appName, userId, sessionId, apiUrl, listUrl, url: `${listUrl}/${sessionId}` };
  }

  engineUrls(appName: string): { readonly apiUrl: string; readonly listUrl: string } {
    const { url, engine } = this.#addresses.addressOf(appName);
    return { apiUrl: url, listUrl: `${url}/${engine}/sessions` };
  }

  /**
   * Reads the session, whoever owns it.
   *
   * @returns `undefined` if it does not exist
   */
  find({ url }: SessionAddress): Promise<JsonObject | undefined> {
    return this.unlessNotFound(this.rest.get(url));
  }

  /** Returns the outcome of a request, or `undefined` if the server answers 404. */
  async unlessNotFound<T>(request: Promise<T>): Promise<T | undefined> {
    try {
      return await request;
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }
}

/** Waits for both promises, even if one of them fails. Work left running would outlive the call and its turn. */
export async function settleBoth<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<[First, Second]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

/** Returns whether the server accepts this session id. It refuses other ids even in reads. */
function isSessionId(id: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(id);
}
