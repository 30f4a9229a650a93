// PostgreSQL and MariaDB: faults at whatever a client sends to the server, in a proxy of each client's own.

import { type DatabaseOptions, DatabaseSessionService } from '../../../js/database/index.js';
import type { BaseSessionService, SessionServiceOptions } from '../../../js/index.js';
import { emptied, type Server } from '../../js/database/servers.js';
import type { SessionName } from '../operation.js';
import type { Boundary, Client, Simulated } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/real_pace.js';
import { NEVER_MS, TimeLimits } from '../run/time_limits.js';
import { namesOf } from '../run/workload.js';
import { FaultyProxy, SERVER_FAULTS, type ServerFault } from './faulty_proxy.js';

/** The connections of one client. The server must have room for those of all seeds that run at once. */
const CONNECTIONS = 2;
const OBSERVER_CONNECTIONS = 10;

const ALL = Object.keys(SERVER_FAULTS) as ServerFault[];
const WITHOUT_FREEZING = ALL.filter((fault) => fault !== 'freezes');

type DatabaseKind = 'postgresql' | 'mariadb';

/** All seeds of a server share it. */
export type DatabaseBoundary = Boundary & { end(): Promise<void> };

/** A server that all seeds share, each with apps of its own. */
export async function databaseServerBoundary(
  kind: DatabaseKind,
  server: Server,
): Promise<DatabaseBoundary> {
  await emptied(kind, server);
  // All seeds share it: to look at the tables again takes longer than what it reads.
  const observer = serviceAt(kind, server.port, OBSERVER_CONNECTIONS, {});
  await observer.open();
  return {
    end: () => observer.close(),
    name: kind,
    rules: { hasExactTimes: true },
    // A server may commit after its client has lost the connection.
    landsLate: true,
    start: (seed) => new DatabaseServer(seed, kind, server.port, observer),
  };
}

class DatabaseServer implements Simulated {
  readonly notes: string[] = [];
  readonly pace = new RealPace();
  readonly faults: Faults<ServerFault>;
  readonly names: readonly SessionName[];
  onCrash?: (client: number) => void;
  readonly #kind: DatabaseKind;
  readonly #observer: DatabaseSessionService;
  readonly #port: number;
  /** A freeze takes long, and all that begins meanwhile may fail: it happens once, and not in all seeds. */
  #mayFreeze: boolean;
  readonly #proxies: FaultyProxy[] = [];

  constructor(seed: number, kind: DatabaseKind, port: number, observer: DatabaseSessionService) {
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
      (method, answer) => {
        if (!(answer instanceof Promise)) return;
        if (method === 'close') {
          // Its limits fail no call any more. Drivers do not always tell of the end of a frozen connection.
          const idle = Promise.allSettled(pending);
          void idle.then(() => this.pace.frozenUntil(answer, passLimit));
          return;
        }
        pending.add(answer);
        const settled = (): boolean => pending.delete(answer);
        answer.then(settled, settled);
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

  openObserver(): BaseSessionService {
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
  kind: DatabaseKind,
  port: number,
  connections: number,
  options: DatabaseOptions,
): DatabaseSessionService {
  const size = kind === 'postgresql' ? 'max' : 'connectionLimit';
  return new DatabaseSessionService(`${kind}://adk@127.0.0.1:${port}/adk`, {
    timeoutMs: NEVER_MS,
    ...options,
    driverOptions: { [size]: connections },
  });
}
