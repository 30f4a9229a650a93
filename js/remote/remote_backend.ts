import { loadPart } from '../wasm/loader/load_part.js';
import { raceSignal, untilAborted } from '../call/time_limit.js';
import { SessionError } from '../errors/errors.js';
import { isCompatible, PROTOCOL_HEADER, PROTOCOL_VERSION, VERSION_PATH } from '../http/protocol.js';
import { isPlainObject } from '../json/rules.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { ServiceCore } from '../service/service_core.js';
import type { Backend, BackendCall } from '../storage/backend.js';
import type { Connection } from './connection/connection.js';
import type { Event } from '../model/event/event.js';
import type { HostAbortSignal } from '../model/host.js';
import { HandlerBackend } from './handler_backend.js';
import { type RunRequest, takeRun } from './run/run_request.js';
import type { ServerBackend } from './server_backend.js';

/** Sessions at whatever server there is: asks it once what it is. */
export class RemoteBackend implements Backend {
  readonly #connection: Connection;
  #server: Promise<ServerBackend> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Asks the server what it is, also if an earlier call has asked. */
  async open(call: BackendCall): Promise<void> {
    await this.#probe(call);
  }

  readonly keepsOperations = this.#verb('keepsOperations');
  readonly create = this.#verb('create');
  readonly describe = this.#verb('describe');
  readonly get = this.#verb('get');
  readonly page = this.#verb('page');
  readonly changes = this.#verb('changes');
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
      const server = await raceSignal(stopped, this.#ask(run.signal));
      yield* server.run(run, stopped);
    } catch (error) {
      if (!stopped.aborted) throw error;
    }
  }

  #verb<Name extends Exclude<keyof ServerBackend, 'run'>>(name: Name) {
    return async (
      request: Parameters<ServerBackend[Name]>[0],
    ): Promise<Awaited<ReturnType<ServerBackend[Name]>>> => {
      const server = await this.#ask(request.signal);
      const verb = server[name] as (given: typeof request) => ReturnType<ServerBackend[Name]>;
      return await verb.call(server, request);
    };
  }

  /** The signal ends only the wait of its call, because other calls wait for the same answer. */
  async #ask(signal: HostAbortSignal | undefined): Promise<ServerBackend> {
    this.#server ??= this.#probe({}).catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return untilAborted(signal, this.#server);
  }

  async #probe(call: StorageCall): Promise<ServerBackend> {
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
      return new HandlerBackend(this.#connection, found!.keepsOperations);
    }
    // Loaded on demand: most pages never need it.
    const { ApiServerBackend } = await loadPart(() => import('./api_server_backend.js'));
    return new ApiServerBackend(this.#connection);
  }
}

function otherVersion(version: string): SessionError {
  const message = `The server has version ${version.slice(0, 20)} of the protocol, this client ${PROTOCOL_VERSION}; update the older side.`;
  return new SessionError('unsupported', message);
}
