// Vertex AI: faults at every request that a client makes of the loopback server.

import type { SessionServiceOptions } from '../../../js/index.js';
import { type VertexAiOptions, VertexAiSessionService } from '../../../js/vertex/index.js';
import type { Fault as ServerFault } from '../../vertex_server/faults.js';
import { LOCATION, PROJECT_ID, startVertexServer, type VertexServer } from '../../vertex_server/server.js'; // prettier-ignore
import type { SessionName } from '../operation.js';
import type { Boundary, Client, Simulated } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/real_pace.js';

const FAULTS = {
  /** The answer comes late. */
  'answers late': { fails: false },
  /** The server refuses, and a later try may succeed. */
  'answers 429': { fails: true },
  'answers 500': { fails: true },
  /** It is done, and the connection ends without an answer. */
  'loses the answer': { fails: true },
  /** It is done, and a gateway answers that it was not. */
  'does it and answers 504': { fails: true },
  /** It is done, and the answer is not the server's. */
  'answers garbage': { fails: true },
  /** The connection ends, and nothing is done. */
  cuts: { fails: true },
  /** Nothing is done or answered. */
  hangs: { fails: true },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const ALL = Object.keys(FAULTS) as Fault[];
const WITHOUT_HANGING = ALL.filter((fault) => fault !== 'hangs');

/** How long a client waits for a server that hangs. A busy machine answers in less. */
const TIMEOUT_MS = 15_000;

/** App names are the numbers of engines, and an engine's ids belong to one user each. */
const NAMES: readonly SessionName[] = [
  { appName: '1', userId: 'ada', sessionId: 's' },
  { appName: '1', userId: 'ada', sessionId: 't' },
  { appName: '1', userId: 'bob', sessionId: 'u' },
  { appName: '2', userId: 'ada', sessionId: 's' },
];

export const vertexBoundary: Boundary = {
  name: 'vertex',
  rules: { hasExactTimes: false, sharedStatesNeedSessions: true },
  without: ['pages', 'batches', 'shared updates', 'removals at creation', 'deleteUser', 'deleteUserState', 'deleteAppState'], // prettier-ignore
  isSequential: true,
  start: async (seed) => {
    const storage = new VertexStorage(seed);
    await storage.startServer();
    return storage;
  },
};

class VertexStorage implements Simulated {
  readonly names = NAMES;
  readonly notes: string[] = [];
  readonly pace = new RealPace();
  readonly faults: Faults<Fault>;
  onCrash?: (client: number) => void;
  readonly #random: Random;
  readonly #crashed = new Set<string>();
  /** A server that hangs costs the whole time limit: it happens once, in one of ten seeds. */
  #mayHang: boolean;
  #server!: VertexServer;

  constructor(seed: number) {
    this.#random = new Random(seed, 'vertex');
    this.#mayHang = this.#random.isLikely(0.1);
    const note = (text: string): void => void this.notes.push(text);
    this.faults = new Faults(new Random(seed, 'faults'), FAULTS, note);
  }

  async startServer(): Promise<void> {
    const random = this.#random;
    this.#server = await startVertexServer({
      pageSize: random.pick([2, 3, 100]),
      beginsEmpty: random.isLikely(0.3),
      // Others go on only when they are polled, which a client that lost the answer cannot do.
      operations: random.pick(['done', 'refused']),
      ordersEvents: random.isLikely(0.8),
      faultAt: (call, token) => this.#faultAt(call, token),
    });
  }

  openClient(number: number, options: SessionServiceOptions): Client {
    const token = String(number);
    const service = this.#serviceOf(token, options);
    return {
      service,
      crash: () => {
        this.#crashed.add(token);
        void this.pace.until(service.close());
      },
    };
  }

  openObserver() {
    return this.#serviceOf('observer', { timeoutMs: 60_000 });
  }

  end(): Promise<void> {
    return this.#server.end();
  }

  #serviceOf(accessToken: string, options: VertexAiOptions): VertexAiSessionService {
    return new VertexAiSessionService({
      timeoutMs: TIMEOUT_MS,
      ...options,
      projectId: PROJECT_ID,
      location: LOCATION,
      accessToken,
      baseUrl: this.#server.url,
    });
  }

  #faultAt(call: string, token: string): ServerFault | undefined {
    if (token === 'observer') return undefined;
    // Nothing of a client that has crashed arrives any more.
    if (this.#crashed.has(token)) return { kind: 'drop' };
    const fault = this.faults.at(Number(token), call, this.#mayHang ? ALL : WITHOUT_HANGING);
    switch (fault) {
      case undefined:
        return undefined;
      case 'answers late':
        return { kind: 'late', milliseconds: 20 };
      case 'answers 429':
        return { kind: 'refuse', code: 429, message: 'The quota is used up.' };
      case 'answers 500':
        return { kind: 'refuse', code: 500, message: 'The server has failed.' };
      case 'loses the answer':
        return { kind: 'lose' };
      case 'does it and answers 504':
        return { kind: 'deny', code: 504, message: 'The gateway has waited too long.' };
      case 'answers garbage':
        return { kind: 'answer', text: '<html>no answer of the server</html>' };
      case 'cuts':
        return { kind: 'drop' };
      case 'hangs':
        this.#mayHang = false;
        return { kind: 'hang' };
      case 'crashes before':
      case 'crashes after':
        this.onCrash?.(Number(token));
        return { kind: fault === 'crashes before' ? 'drop' : 'lose' };
    }
  }
}
