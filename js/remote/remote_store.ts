import { loadPart } from '../wasm/loader/load_part.js';
import { raceSignal, untilAborted } from '../call/time_limit.js';
import { SessionError } from '../errors/errors.js';
import { isCompatible, PROTOCOL_HEADER, PROTOCOL_VERSION, VERSION_PATH } from '../http/protocol.js';
import { isPlainObject } from '../json/rules.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { ServiceCore } from '../service/service_core.js';
import type { SessionStore } from '../storage/session_store.js';
import type { Connection } from './connection/connection.js';
import type { Event } from '../model/event/event.js';
import type { HostAbortSignal } from '../model/host.js';
import { HandlerStore } from './handler_store.js';
import { type RunRequest, takeRun } from './run/run_request.js';
import type { ServerStore } from './server_store.js';

/** Stores at whatever server there is: asks it once what it is. */
export class RemoteStore implements SessionStore {
  readonly #connection: Connection;
  #server: Promise<ServerStore> | undefined;
  #keepsOperations: boolean | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get keepsOperations(): boolean | undefined {
    return this.#keepsOperations;
  }

  /** Asks the server what it is, also if an earlier call has asked. */
  async open(call: StorageCall): Promise<void> {
    await this.#probe(call);
  }

  readonly create = this.#verb('create');
  readonly describe = this.#verb('describe');
  readonly get = this.#verb('get');
  readonly page = this.#verb('page');
  readonly readChanges = this.#verb('readChanges');
  readonly list = this.#verb('list');
  readonly append = this.#verb('append');
  readonly update = this.#verb('update');
  readonly sharedState = this.#verb('sharedState');
  readonly delete = this.#verb('delete');
  readonly deleteUnchanged = this.#verb('deleteUnchanged');

  /**
   * Runs an agent and yields its events.
   *
   * @param core that of the service
   * @param stopped fires when the caller wants no more events
   */
  async *run<S extends object>(
    core: ServiceCore,
    request: RunRequest<S>,
    stopped: HostAbortSignal,
  ): AsyncGenerator<Event, void, undefined> {
    // Taken before anything is awaited: the caller may change the request meanwhile.
    const run = takeRun(core, request);
    try {
      const store = await raceSignal(stopped, this.#store(run.signal));
      yield* store.run(run, stopped);
    } catch (error) {
      if (!stopped.aborted) throw error;
    }
  }

  free(): void {
    // It holds nothing in the wasm.
  }

  #verb<Name extends Exclude<keyof ServerStore, 'keepsOperations'>>(name: Name): ServerStore[Name] {
    const run = async (...parameters: unknown[]): Promise<unknown> => {
      const store = await this.#store(signalOf(parameters));
      return Reflect.apply(store[name], store, parameters) as unknown;
    };
    return run as ServerStore[Name];
  }

  /** The signal ends only the wait of its call, because other calls wait for the same answer. */
  async #store(signal: HostAbortSignal | undefined): Promise<ServerStore> {
    this.#server ??= this.#probe({}).catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return untilAborted(signal, this.#server);
  }

  async #probe(call: StorageCall): Promise<ServerStore> {
    const request = { method: 'GET', path: VERSION_PATH } as const;
    const found = await this.#connection.request(request, call, (json, headers) => {
      const version = headers.get(PROTOCOL_HEADER);
      if (version === null) {
        return isPlainObject(json) && json.language === 'python' ? 'api_server' : undefined;
      }
      if (!isCompatible(version)) throw otherVersion(version);
      return { keepsOperations: isPlainObject(json) && json.keepsOperations === true };
    });
    if (found !== 'api_server') {
      this.#connection.isHandler = true;
      this.#keepsOperations = found!.keepsOperations;
      return new HandlerStore(this.#connection, found!.keepsOperations);
    }
    // Loaded on demand: most pages never need it.
    const { ApiServerStore } = await loadPart(() => import('./api_server_store.js'));
    return new ApiServerStore(this.#connection);
  }
}

/** Returns the signal of a call. A verb gets it in its last parameter, `create` in its first. */
function signalOf(parameters: readonly unknown[]): HostAbortSignal | undefined {
  const calls = [parameters.at(-1), parameters[0]].map((given) => Object(given) as StorageCall);
  return calls.find(({ signal }) => signal !== undefined)?.signal;
}

function otherVersion(version: string): SessionError {
  const message = `The server has version ${version.slice(0, 20)} of the protocol, this client ${PROTOCOL_VERSION}; update the older side.`;
  return new SessionError('unsupported', message);
}
