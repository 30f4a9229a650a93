// Vertex AI: faults at every request of a client to the loopback server.

import type { SessionServiceOptions } from '../../../js/index.js';
import { type VertexAiOptions, VertexAiSessionService } from '../../../js/service/vertex/index.js';
import type { Fault as ServerFault } from '../../vertex_server/faults.js';
import { LOCATION, PROJECT_ID, startVertexServer, type VertexServer } from '../../vertex_server/server.js'; // prettier-ignore
import type { SessionName } from '../operation.js';
import type { Boundary, Client, SimulatedStorage } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/pace/real_pace.js';
import { NEVER_MS, TimeLimits } from '../run/time_limits.js';

const FAULTS = {
  /** The response comes late. */
  'responds late': { fails: false },
  /** The server refuses, and a retry may succeed. */
  'responds 429': { fails: true },
  'responds 500': { fails: true },
  /** The request takes effect, and the connection ends without a response. */
  'loses the response': { fails: true },
  /** The request takes effect, and a gateway reports a timeout. */
  'takes effect and responds 504': { fails: true },
  /** The request takes effect, and the response is not the server's. */
  'responds garbage': { fails: true },
  /** The connection ends, and the request has no effect. */
  cuts: { fails: true },
  /** The request has no effect and no response. */
  hangs: { fails: true },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const ALL = Object.keys(FAULTS) as Fault[];
const WITHOUT_HANGING = ALL.filter((fault) => fault !== 'hangs');

/** The factor by which a client's pauses between attempts are shortened. */
const SPEED_UP = 50;

/** An app name is the number of an engine. Within an engine, a session id belongs to one user. */
const NAMES: readonly SessionName[] = [
  { appName: '1', userId: 'ada', sessionId: 's' },
  { appName: '1', userId: 'ada', sessionId: 't' },
  { appName: '1', userId: 'bob', sessionId: 'u' },
  { appName: '2', userId: 'ada', sessionId: 's' },
];

export const vertexBoundary: Boundary = {
  name: 'vertex',
  rules: { hasExactTimes: false, sharedStatesNeedSessions: true },
  without: ['pages', 'batches', 'shared updates', 'computed deltas', 'removals at creation', 'deleteUser', 'deleteUserState', 'deleteAppState'], // prettier-ignore
  isSequential: true,
  start: async (seed) => {
    const storage = new VertexStorage(seed);
    await storage.startServer();
    return storage;
  },
};

/** The access token of services without faults. */
const OBSERVER = 'observer';

/** The servers of running seeds, by URL. */
const servers = new Map<string, VertexServer>();

let isHooked = false;

/** Two of three requests are the observer's. Without a connection, they take a tenth of the time. */
function observeWithoutConnections(): void {
  if (isHooked) return;
  isHooked = true;
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    if (new Headers(init?.headers).get('authorization') !== `Bearer ${OBSERVER}`) {
      return fetch(input, init);
    }
    const url = input instanceof Request ? input.url : String(input);
    const server = servers.get(new URL(url).origin);
    if (server === undefined) throw new Error(`no server of a seed is at ${url}`);
    return server.fetch(url, init);
  };
}

class VertexStorage implements SimulatedStorage {
  readonly names = NAMES;
  readonly notes: string[] = [];
  readonly pace = new RealPace();
  readonly faults: Faults<Fault>;
  onCrash?: (client: number) => void;
  readonly #random: Random;
  readonly #crashed = new Set<string>();
  /** By client. */
  readonly #limits = new Map<number, TimeLimits>();
  /** Whether a request may still hang. It happens at most once, and only in some seeds. */
  #mayHang: boolean;
  #server!: VertexServer;

  constructor(seed: number) {
    this.#random = new Random(seed, 'vertex');
    this.#mayHang = this.#random.isLikely(0.3);
    const note = (text: string): void => void this.notes.push(text);
    this.faults = new Faults(new Random(seed, 'faults'), FAULTS, note);
  }

  async startServer(): Promise<void> {
    const random = this.#random;
    this.#server = await startVertexServer({
      pageSize: random.pick([2, 3, 100]),
      beginsEmpty: random.isLikely(0.3),
      // Other operations continue only when they are polled. A client that lost the response cannot poll.
      operations: random.pick(['done', 'refused']),
      ordersEvents: random.isLikely(0.8),
      faultAt: (call, token) => this.#faultAt(call, token),
    });
    servers.set(this.#server.url, this.#server);
    observeWithoutConnections();
  }

  openClient(number: number, options: SessionServiceOptions): Client {
    const token = String(number);
    const limits = new TimeLimits(SPEED_UP);
    this.#limits.set(number, limits);
    const service = limits.of(this.#serviceOf(token, options));
    return {
      service,
      crash: () => {
        this.#crashed.add(token);
        void this.pace.frozenUntil(service.close(), () => limits.passOne());
      },
    };
  }

  openObserver() {
    return this.#serviceOf(OBSERVER, {});
  }

  end(): Promise<void> {
    servers.delete(this.#server.url);
    return this.#server.end();
  }

  #serviceOf(accessToken: string, options: VertexAiOptions): VertexAiSessionService {
    return new VertexAiSessionService({
      timeoutMs: NEVER_MS,
      callTimeoutMs: 2 * NEVER_MS,
      ...options,
      projectId: PROJECT_ID,
      location: LOCATION,
      accessToken,
      baseUrl: this.#server.url,
    });
  }

  #freeze(client: number, end: Promise<unknown>): void {
    const passLimit = (): void => this.#limits.get(client)?.passOne();
    void this.faults.lastUntil(client, this.pace.frozenUntil(end, passLimit));
  }

  #faultAt(call: string, token: string): ServerFault | undefined {
    // No request of a crashed client arrives.
    if (this.#crashed.has(token)) return { kind: 'drop' };
    const fault = this.faults.at(Number(token), call, this.#mayHang ? ALL : WITHOUT_HANGING);
    switch (fault) {
      case undefined:
        return undefined;
      case 'responds late':
        return { kind: 'late', milliseconds: 20 };
      case 'responds 429':
        return { kind: 'refuse', code: 429, message: 'The quota is used up.' };
      case 'responds 500':
        return { kind: 'refuse', code: 500, message: 'The server has failed.' };
      case 'loses the response':
        return { kind: 'lose' };
      case 'takes effect and responds 504':
        return { kind: 'deny', code: 504, message: 'The gateway has waited too long.' };
      case 'responds garbage':
        return { kind: 'answer', text: '<html>not a response of the server</html>' };
      case 'cuts':
        return { kind: 'drop' };
      case 'hangs':
        this.#mayHang = false;
        return { kind: 'hang', onHang: (end) => this.#freeze(Number(token), end) };
      case 'crashes before':
      case 'crashes after':
        this.onCrash?.(Number(token));
        return { kind: fault === 'crashes before' ? 'drop' : 'lose' };
    }
  }
}
