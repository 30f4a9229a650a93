// PostgreSQL and MariaDB: each client has a proxy that causes faults at its requests.

import {
  type DatabaseOptions,
  DatabaseSessionService,
} from '../../../js/service/database/index.js';
import type { SessionService, SessionServiceOptions } from '../../../js/index.js';
import {
  emptied,
  type Server,
  type ServerName,
  SERVERS,
} from '../../js/stores/database/servers.js';
import type { SessionName } from '../operation.js';
import type { Boundary, Client, SimulatedStorage } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/pace/real_pace.js';
import { NEVER_MS, TimeLimits } from '../run/time_limits.js';
import { namesOf } from '../run/workload.js';
import { FaultyProxy, SERVER_FAULTS, type ServerFault } from './faulty_proxy.js';

/** The connections of one client. The server must allow those of all concurrent seeds. */
const CONNECTIONS = 2;
const OBSERVER_CONNECTIONS = 10;

const ALL = Object.keys(SERVER_FAULTS) as ServerFault[];
const WITHOUT_FREEZING = ALL.filter((fault) => fault !== 'freezes');

/** The boundary of a server, which all seeds share. */
export type DatabaseBoundary = Boundary & { end(): Promise<void> };

/** Makes the boundary of a server. All seeds share the server, and each has its own apps. */
export async function databaseServerBoundary(
  kind: ServerName,
  server: Server,
): Promise<DatabaseBoundary> {
  await emptied(kind, server);
  // All seeds share one observer: opening another one would take longer than its reads.
  const observer = serviceAt(kind, server.port, OBSERVER_CONNECTIONS, {});
  await observer.ping();
  return {
    end: () => observer.close(),
    name: kind,
    rules: { hasExactTimes: true },
    // A server may commit after the client has lost its connection.
    mayCommitLate: true,
    start: (seed) => new DatabaseServer(seed, kind, server.port, observer),
  };
}

class DatabaseServer implements SimulatedStorage {
  readonly notes: string[] = [];
  readonly pace = new RealPace();
  readonly faults: Faults<ServerFault>;
  readonly names: readonly SessionName[];
  onCrash?: (client: number) => void;
  readonly #kind: ServerName;
  readonly #observer: DatabaseSessionService;
  readonly #port: number;
  /** Whether a connection may still freeze. It takes long, so it happens at most once, and only in some seeds. */
  #mayFreeze: boolean;
  readonly #proxies: FaultyProxy[] = [];

  constructor(seed: number, kind: ServerName, port: number, observer: DatabaseSessionService) {
    this.#observer = observer;
    this.names = namesOf(`seed ${seed} ${Math.random()} `);
    this.#kind = kind;
    this.#port = port;
    this.#mayFreeze = new Random(seed, 'freeze').isLikely(0.3);
    const note = (text: string): void => void this.notes.push(text);
    this.faults = new Faults(new Random(seed, 'faults'), SERVER_FAULTS, note);
  }

  async openClient(number: number, options: SessionServiceOptions): Promise<Client> {
    const limits = new TimeLimits();
    const passLimit = (): void => limits.passOne();
    const proxy = new FaultyProxy(this.#port, {
      pace: this.pace,
      faultAt: (request) => this.#faultAt(number, request),
      crash: () => this.onCrash?.(number),
      fails: (end) => void this.faults.lastUntil(number, this.pace.frozenUntil(end, passLimit)),
    });
    this.#proxies.push(proxy);
    const pending = new Set<Promise<unknown>>();
    const service = limits.of(
      serviceAt(this.#kind, await proxy.listen(), CONNECTIONS, options),
      (method, result) => {
        if (!(result instanceof Promise)) return;
        if (method === 'close') {
          // The limits pass only after all calls have settled. Drivers do not always report the end of a frozen connection.
          const idle = Promise.allSettled(pending);
          void idle.then(() => this.pace.frozenUntil(result, passLimit));
          return;
        }
        pending.add(result);
        const settled = (): boolean => pending.delete(result);
        result.then(settled, settled);
      },
    );
    return {
      service,
      crash: () => {
        proxy.cutOff();
        void this.pace.frozenUntil(service.close(), passLimit);
      },
    };
  }

  openObserver(): SessionService {
    const close = (): Promise<void> => Promise.resolve();
    return new Proxy(this.#observer, {
      get: (observer, name) => {
        if (name === 'close') return close;
        const value: unknown = Reflect.get(observer, name, observer);
        return typeof value === 'function' ? (value.bind(observer) as unknown) : value;
      },
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }

  #faultAt(client: number, request: string): ServerFault | undefined {
    const fault = this.faults.at(client, request, this.#mayFreeze ? ALL : WITHOUT_FREEZING);
    if (fault === 'freezes') this.#mayFreeze = false;
    return fault;
  }
}

function serviceAt(
  kind: ServerName,
  port: number,
  connections: number,
  options: DatabaseOptions,
): DatabaseSessionService {
  return new DatabaseSessionService(`${kind}://adk@127.0.0.1:${port}/adk`, {
    timeoutMs: NEVER_MS,
    ...options,
    driverOptions: { [SERVERS[kind].poolSize]: connections },
  });
}
