// PostgreSQL and MariaDB: faults at whatever a client sends to the server, in a proxy of each client's own.

import { type DatabaseOptions, DatabaseSessionService } from '../../../js/database/index.js';
import type { SessionServiceOptions } from '../../../js/index.js';
import { emptied, type Server } from '../../js/database/servers.js';
import type { SessionName } from '../operation.js';
import type { Boundary, Client, Simulated } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/real_pace.js';
import { namesOf } from '../run/workload.js';
import { FaultyProxy, SERVER_FAULTS, type ServerFault } from './faulty_proxy.js';

/** How long a client waits for a connection that has frozen. A busy machine answers in less. */
const TIMEOUT_MS = 15_000;

/** The connections of one client. The server must have room for those of all seeds that run at once. */
const CONNECTIONS = 2;

/** The number under which faults are counted that reach every client. */
const EVERYBODY = 0;

const ALL = Object.keys(SERVER_FAULTS) as ServerFault[];
const WITHOUT_FREEZING = ALL.filter((fault) => fault !== 'freezes');

/** A server that all seeds share, each with apps of its own. */
export async function databaseServerBoundary(
  kind: 'postgresql' | 'mariadb',
  server: Server,
): Promise<Boundary> {
  const url = await emptied(kind, server);
  const service = new DatabaseSessionService(url);
  await service.open();
  await service.close();
  return {
    name: kind,
    rules: { hasExactTimes: true },
    // A server may commit after its client has lost the connection.
    landsLate: true,
    start: (seed) => new DatabaseServer(seed, kind, server.port),
  };
}

class DatabaseServer implements Simulated {
  readonly notes: string[] = [];
  readonly pace = new RealPace();
  readonly faults: Faults<ServerFault>;
  readonly names: readonly SessionName[];
  onCrash?: (client: number) => void;
  readonly #kind: string;
  readonly #port: number;
  /** A freeze costs the whole time limit: it happens once, in one of ten seeds. */
  #mayFreeze: boolean;
  readonly #proxies: FaultyProxy[] = [];

  constructor(seed: number, kind: string, port: number) {
    this.names = namesOf(`seed ${seed} ${Math.random()} `);
    this.#kind = kind;
    this.#port = port;
    this.#mayFreeze = new Random(seed, 'freeze').isLikely(0.1);
    const note = (text: string): void => void this.notes.push(text);
    this.faults = new ServerFaults(new Random(seed, 'faults'), SERVER_FAULTS, note);
  }

  async openClient(number: number, options: SessionServiceOptions): Promise<Client> {
    const proxy = new FaultyProxy(this.#port, {
      pace: this.pace,
      faultAt: (request) => this.#faultAt(number, request),
      crash: () => this.onCrash?.(number),
      // Its transaction held locks until now, for which others may have waited too long.
      thaw: () => {
        this.faults.lasting -= 1;
        this.faults.blame(EVERYBODY);
      },
    });
    this.#proxies.push(proxy);
    const service = this.#serviceAt(await proxy.listen(), options);
    return {
      service,
      crash: () => {
        proxy.cutOff();
        void this.pace.until(service.close());
      },
    };
  }

  openObserver() {
    return this.#serviceAt(this.#port, { timeoutMs: 60_000 });
  }

  async end(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }

  #faultAt(client: number, request: string): ServerFault | undefined {
    const fault = this.faults.at(client, request, this.#mayFreeze ? ALL : WITHOUT_FREEZING);
    if (fault === 'freezes') {
      this.#mayFreeze = false;
      this.faults.lasting += 1;
      this.faults.blame(EVERYBODY);
    }
    return fault;
  }

  #serviceAt(port: number, options: DatabaseOptions): DatabaseSessionService {
    const size = this.#kind === 'postgresql' ? 'max' : 'connectionLimit';
    return new DatabaseSessionService(`${this.#kind}://adk@127.0.0.1:${port}/adk`, {
      timeoutMs: TIMEOUT_MS,
      ...options,
      driverOptions: { [size]: CONNECTIONS },
    });
  }
}

class ServerFaults extends Faults<ServerFault> {
  override countOf(client: number): number {
    return super.countOf(client) + (client === EVERYBODY ? 0 : super.countOf(EVERYBODY));
  }
}
