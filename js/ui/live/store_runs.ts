import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { requireFunction } from '../../values/errors/option_values.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { copyState } from '../../service/runs/agent/copies.js';
import type { AskedMessage, Runs, RunDisplay } from '../../service/runs/run_display.js';
import type { Answers } from '../../service/runs/user_answers.js';
import { type RunAgent, STORES_MESSAGE } from '../../service/runs/agent/run_context.js';
import { coreOf, type ServerAgent } from '../../core/core_of.js';
import { endsWithin } from '../../core/call/time_limit.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { cachingOf } from './snapshot/unsent_events.js';
import type { LiveSessionSnapshot } from './types.js';

type RunsChunk =
  | typeof import('../../service/runs/page_runs.js')
  | typeof import('../../service/runs/remote_runs.js')
  | typeof import('../../service/runs/api_server_runs.js');

/** Milliseconds to wait until the remote of a cache has told what it is. */
const FIND_MS = 3000;

/** The runs of a store's session, once `js/service/runs` is loaded. */
interface LoadedRuns {
  readonly part: RunsChunk;
  readonly runs: Runs;
  readonly view: RunDisplay;
  readonly isOfApiServer: boolean;
}

/** Rewinds the session, and stops the run that is under way. */
type Rewind<Result> = (running?: () => RunUnderWay | undefined) => Promise<Result>;

/** What a store without an agent shows of runs. */
export const NO_RUNS: Pick<LiveSessionSnapshot, 'run' | 'drafts' | 'questions'> = {
  run: undefined,
  drafts: [],
  questions: [],
};

/** The runs of the session of a store. They are loaded if the store has an agent, or the server of its service. */
export class StoreRuns {
  readonly #key: CompositeSessionKey;
  readonly #onChange: () => void;
  #agent: RunAgent | undefined;
  #loading: Promise<LoadedRuns> | undefined;
  #loaded: LoadedRuns | undefined;
  /** What follows the runs for the subscribers of the store. */
  #following: Runs | undefined;

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
    // The agent is now in the page, or no longer there: the loaded runs are those of the other.
    if ((agent === undefined) !== (this.#agent === undefined)) {
      this.#loading = undefined;
      this.#loaded = undefined;
    }
    this.#agent = agent;
  }

  /**
   * Returns the agent of the server. `undefined` if the page has an agent, if there is no server, and once the server
   * has said that it has no agent.
   */
  serverAgent(service: SessionService): ServerAgent | undefined {
    const agent = this.#agent === undefined ? coreOf(service)?.serverAgent : undefined;
    return agent?.isThere === false ? undefined : agent;
  }

  /**
   * Returns {@link StoreRuns.serverAgent} once the server has told whether it has an agent. A cache does not ask: it
   * stores the message in any case.
   */
  async findServerAgent(service: SessionService): Promise<ServerAgent | undefined> {
    const agent = this.serverAgent(service);
    if (agent?.isThere === undefined && coreOf(service)?.epochs === undefined) await agent?.find();
    return this.serverAgent(service);
  }

  /** Whether the service, as far as it is known, is over `adk api_server`. */
  #mayBeApiServer(service: SessionService): boolean | undefined {
    const { serverAgent } = coreOf(service) ?? {};
    return serverAgent === undefined ? false : serverAgent.isApiServer;
  }

  /** Whether the server is `adk api_server`, and the page has no agent. */
  async isOfApiServer(service: SessionService): Promise<boolean> {
    const agent = this.#agent === undefined ? coreOf(service)?.serverAgent : undefined;
    if (agent === undefined) return false;
    if (agent.isApiServer === undefined) {
      // A cache that has copies tells without the server, so that a message is stored at once.
      const isPlain = await agent.hasPlainCopies?.(this.#key);
      if (isPlain !== undefined) return isPlain;
      if (cachingOf(service)?.status.isOnline === false) return false;
      await endsWithin(agent.hasPlainCopies && FIND_MS, agent.find()).catch(() => undefined);
    }
    return agent.isApiServer === true;
  }

  /** @throws SessionError `unsupported` if the server has no route for a rewind */
  requireRewinds(service: SessionService, method: string): void {
    if (this.#mayBeApiServer(service) !== true) return;
    throw new SessionError('unsupported', `adk api_server has no route for ${method}.`, {
      key: method,
    });
  }

  /**
   * Whether a session has to be there before a message is stored: a Runner reads it, and `adk api_server` creates none.
   */
  get needsSession(): boolean {
    return this.#agent?.[STORES_MESSAGE] === true || this.#loaded?.isOfApiServer === true;
  }

  get loaded(): LoadedRuns | undefined {
    return this.#loaded;
  }

  /** @throws SessionError `unsupported` without an agent; `connection_lost` if the page cannot load it */
  require(service: SessionService): Promise<LoadedRuns> {
    const isApiServer = this.#mayBeApiServer(service);
    if (this.#agent === undefined) {
      if (isApiServer !== true && this.serverAgent(service) === undefined) {
        return Promise.reject(withoutAgent());
      }
      // The kind of the server was not known before.
      if (isApiServer === true && this.#loaded?.isOfApiServer === false) this.#loading = undefined;
    }
    const loading = (this.#loading ??= this.#load(service));
    loading.catch(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    return loading;
  }

  /** Follows the runs until the signal fires. */
  async follow(service: SessionService, signal: HostAbortSignal | undefined): Promise<void> {
    const agent = this.serverAgent(service);
    if (this.#agent === undefined) {
      // Without a connection nobody knows: a cache may have messages for an agent.
      const isThere = await agent?.find().catch(() => true);
      if (isThere !== true && this.#mayBeApiServer(service) !== true) {
        return agent && this.#onChange();
      }
    }
    // The call that needs them reports why they cannot be loaded.
    const loaded = await this.require(service).catch(() => undefined);
    if (loaded === undefined || signal?.aborted === true) return;
    const { runs } = loaded;
    const stop = runs.follow(() => this.#onChange());
    this.#following = runs;
    signal?.addEventListener('abort', () => {
      if (this.#following === runs) this.#following = undefined;
      stop();
    });
    this.#onChange();
  }

  /** Has a message answered, and follows its run. @returns the message, once it is stored */
  async ask(service: SessionService, asked: Omit<AskedMessage, 'agent'>): Promise<Event> {
    const { runs } = await this.require(service);
    let isAsked = false;
    const stopIfOver = (): void => void (isAsked && !runs.isRunning && stop());
    const stop = runs.follow(() => {
      // Each call may read the session.
      if (this.#following !== runs) this.#onChange();
      stopIfOver();
    });
    try {
      const stored = runs.ask({ ...asked, agent: this.#agent });
      coreOf(service)?.noteStoring(stored);
      return await stored;
    } catch (error) {
      const isOfServer = isSessionError(error, 'unsupported') && this.#agent === undefined;
      const { isThere, isApiServer } = coreOf(service)?.serverAgent ?? {};
      throw isOfServer && isThere === false && !isApiServer ? withoutAgent() : error;
    } finally {
      isAsked = true;
      stopIfOver();
    }
  }

  /** Answers calls that wait for the user. @returns the message, once it is stored */
  async answer(service: SessionService, answers: Answers): Promise<Event> {
    const { part } = await this.require(service);
    part.requireAnswers(answers);
    const given = copyState(answers, 'answers');
    const id = newEventId();
    const admit = async () => ({
      ...(await part.answerMessage(service, this.#key, given, id)),
      isStored: false,
    });
    const callIds = Object.keys(given);
    return this.ask(service, { id, callIds, streaming: true, isOfRewind: false, admit });
  }

  /** Lets the agent answer a message that a rewind stores: an agent in the page, once it has; the server, with it. */
  async askAfter(service: SessionService, id: string, rewind: Rewind<Event>): Promise<Event> {
    const asked = { id, callIds: [], streaming: true, isOfRewind: true };
    if (this.#agent === undefined) {
      const admit = async () => ({ message: await rewind(), isStored: true });
      return this.ask(service, { ...asked, admit });
    }
    const { runs } = await this.require(service);
    const message = await rewind(() => runs.underWay());
    return this.ask(service, {
      ...asked,
      admit: () => Promise.resolve({ message, isStored: true }),
    });
  }

  /** Cancels a run. @param unanswered the events that are shown, and which of them were refused */
  async cancel(
    service: SessionService,
    messageId: string | undefined,
    ...unanswered: Parameters<RunsChunk['unansweredMessage']>
  ): Promise<void> {
    const { part, runs } = await this.require(service);
    await runs.cancel(messageId, part.unansweredMessage(...unanswered));
  }

  /** Changes the history, and stops the run that is under way. */
  async rewind(service: SessionService, rewind: Rewind<unknown>): Promise<void> {
    if (this.#agent === undefined && this.#loaded === undefined) await rewind();
    else {
      const { runs } = await this.require(service);
      await rewind(() => runs.underWay());
    }
  }

  async #load(service: SessionService): Promise<LoadedRuns> {
    const isInPage = this.#agent !== undefined;
    const isOfApiServer = await this.isOfApiServer(service);
    const part: RunsChunk = await (isInPage
      ? loadChunk(() => import('../../service/runs/page_runs.js'))
      : isOfApiServer
        ? loadChunk(() => import('../../service/runs/api_server_runs.js'))
        : loadChunk(() => import('../../service/runs/remote_runs.js')));
    const runs = part.runsOf(service, this.#key);
    const loaded = { part, runs, view: new part.RunDisplay(runs), isOfApiServer };
    if (isInPage === (this.#agent !== undefined)) this.#loaded = loaded;
    return loaded;
  }
}

function withoutAgent(): SessionError {
  const message =
    'Neither the page nor a server has an agent: give liveSession the option run, as runWith(runner), or give it to the sessionHandler of the server.';
  return new SessionError('unsupported', message, { key: 'run' });
}
