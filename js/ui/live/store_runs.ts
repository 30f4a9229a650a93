import { SessionError } from '../../values/errors/errors.js';
import { requireFunction } from '../../values/errors/option_values.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { copyState } from '../../service/runs/agent/copies.js';
import type { Answers, AskedMessage, RunView, SessionRuns } from '../../service/runs/live_part.js';
import type { RunAgent } from '../../service/runs/agent/run_context.js';
import { loadPart } from '../../core/wasm/loader/part.js';
import type { LiveSessionSnapshot } from './types/live_session.js';

type Part = typeof import('../../service/runs/live_part.js');

/** The runs of a store's session, once `js/service/runs` is loaded. */
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

  /** Answers calls that wait for the user. @returns the message, once it is stored */
  async answer(service: SessionService, answers: Answers): Promise<Event> {
    const { part } = await this.require(service);
    part.requireAnswers(answers);
    const given = copyState(answers, 'answers');
    const admit = async () => ({
      ...(await part.answerMessage(service, this.#key, given)),
      isStored: false,
    });
    return this.ask(service, { ...asked(), callIds: Object.keys(given), admit });
  }

  /** Cancels a run, and then runs the agent for a message that `rewind` stores. */
  async askAfter(service: SessionService, rewind: () => Promise<Event>): Promise<Event> {
    const { runs } = await this.require(service);
    if (runs.isRunning) await runs.cancel(undefined, undefined);
    const admit = async () => ({ message: await rewind(), isStored: true });
    return this.ask(service, { ...asked(), admit }, true);
  }

  /** Cancels a run. @param pages the events that are shown */
  async cancel(
    service: SessionService,
    pages: LiveSessionSnapshot['pages'],
    messageId: string | undefined,
  ): Promise<void> {
    const { part, runs } = await this.require(service);
    await runs.cancel(messageId, part.unansweredMessage(pages));
  }

  /** Cancels a run, and then changes the history while no other run can begin. */
  async change(service: SessionService, change: () => Promise<unknown>): Promise<void> {
    if (this.#agent === undefined) await change();
    else await (await this.require(service)).runs.change(change);
  }

  async #load(service: SessionService): Promise<LoadedRuns> {
    const part = await loadPart(() => import('../../service/runs/live_part.js'));
    const runs = part.sessionRunsOf(service, this.#key);
    return (this.#loaded = { part, runs, view: new part.RunView(runs) });
  }
}

/** Returns the queue's entry for a message that is made only when it is admitted. */
function asked(): {
  readonly id: string;
  readonly callIds: readonly string[];
  readonly streaming: boolean;
} {
  return { id: newEventId(), callIds: [], streaming: true };
}
