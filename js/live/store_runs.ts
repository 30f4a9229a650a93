import { SessionError } from '../errors/errors.js';
import { requireFunction } from '../errors/option_values.js';
import type { Event } from '../model/event/event.js';
import type { HostAbortSignal } from '../model/host.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import type { AskedMessage, RunView, SessionRuns } from '../runs/live_part.js';
import type { RunAgent } from '../runs/agent/run_agent.js';
import { loadPart } from '../wasm/loader/part.js';
import type { LiveSessionSnapshot } from './live_session.js';

type Part = typeof import('../runs/live_part.js');

/** The runs of a store, as they are once `js/runs` is loaded. */
interface LoadedRuns {
  readonly part: Part;
  readonly runs: SessionRuns;
  readonly view: RunView;
}

/** What a store without an agent shows of runs. */
export const NO_RUNS: Pick<LiveSessionSnapshot, 'run' | 'drafts' | 'questions'> = {
  run: undefined,
  drafts: [],
  questions: [],
};

/** The runs of the session of a store. They are loaded if the store has an agent. */
export class StoreRuns {
  readonly #key: CompositeSessionKey;
  readonly #onChange: () => void;
  #agent: RunAgent | undefined;
  #loading: Promise<LoadedRuns> | undefined;
  #loaded: LoadedRuns | undefined;

  /** @param onChange called after changes, while the store is watched or has asked something */
  constructor(key: CompositeSessionKey, onChange: () => void) {
    this.#key = key;
    this.#onChange = onChange;
  }

  get agent(): RunAgent | undefined {
    return this.#agent;
  }

  set agent(agent: RunAgent | undefined) {
    if (agent !== undefined) requireFunction('run', agent);
    this.#agent = agent;
  }

  get loaded(): LoadedRuns | undefined {
    return this.#loaded;
  }

  /** @throws SessionError `unsupported` without an agent; `connection_lost` if the page cannot load it */
  require(service: SessionService): Promise<LoadedRuns> {
    if (this.#agent === undefined) {
      const message = 'The live session has no agent; give it the option run, as runWith(runner).';
      return Promise.reject(new SessionError('unsupported', message, { key: 'run' }));
    }
    const loading = (this.#loading ??= this.#load(service));
    loading.catch(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    return loading;
  }

  /** Follows the runs until the signal fires. */
  async follow(service: SessionService, signal: HostAbortSignal | undefined): Promise<void> {
    if (this.#agent === undefined) return;
    // The call that needs them reports why they cannot be loaded.
    const loaded = await this.require(service).catch(() => undefined);
    if (loaded === undefined || signal?.aborted === true) return;
    const stop = loaded.runs.follow(() => this.#onChange());
    signal?.addEventListener('abort', stop);
    this.#onChange();
  }

  /** Runs the agent, and follows its run. @returns the message, once it is stored */
  async ask(
    service: SessionService,
    asked: Omit<AskedMessage, 'agent'>,
    isNext = false,
  ): Promise<Event> {
    const { runs } = await this.require(service);
    const stop = runs.follow(() => {
      this.#onChange();
      if (!runs.isRunning && !runs.isQueued(asked.id)) stop();
    });
    return runs.ask({ ...asked, agent: this.#agent! }, isNext);
  }

  async #load(service: SessionService): Promise<LoadedRuns> {
    const part = await loadPart(() => import('../runs/live_part.js'));
    const runs = part.sessionRunsOf(service, this.#key);
    return (this.#loaded = { part, runs, view: new part.RunView(runs) });
  }
}
