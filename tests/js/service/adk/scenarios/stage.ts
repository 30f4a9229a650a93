import { requirePairs } from '../pairing/pairing_rules.js';
import type {
  BaseAgent,
  BaseLlm,
  BaseLlmConnection,
  BaseSessionService,
  CompositeSessionKey,
  Event,
  InvocationContext,
  LlmRequest,
  RunnerConfig,
  RunConfig,
  Session,
} from '@google/adk';

import { instructionOf, ModelScript, type Reply } from '../model_script.js';
import { type Framework, key } from './scenario.js';

/** The function of a function agent; `agent` is the agent itself. */
export type Play = (context: InvocationContext) => AsyncGenerator<Event, void>;

/** A model with scripted responses. */
export type ScriptedModel = BaseLlm & Pick<ModelScript, 'requests'>;

export interface Turn {
  text?: string;
  /** In place of a text. */
  newMessage?: { role?: string; parts: object[] };
  stateDelta?: Record<string, unknown>;
  runConfig?: Partial<RunConfig>;
  /** The Runner's options besides agent and session service. */
  runner?: Partial<RunnerConfig>;
}

/** A service and a copy of the framework, and what scenarios are played with on them. */
export class Stage {
  constructor(
    readonly adk: Framework,
    readonly sessionService: BaseSessionService,
    /** Which calls may lack a response in a request. */
    readonly mayWait = (name: string): boolean => name === 'pay',
  ) {}

  model(...replies: Reply[]): ScriptedModel {
    const { mayWait } = this;
    class Scripted extends this.adk.BaseLlm {
      readonly #script = new ModelScript(replies);

      get requests(): LlmRequest[] {
        return this.#script.requests;
      }

      generateContentAsync(request: LlmRequest) {
        requirePairs(request, mayWait);
        return this.#script.answer(request);
      }

      /** A live connection, which sends the whole script after the first message. */
      async connect(request: LlmRequest): Promise<BaseLlmConnection> {
        const modelRequests = gate();
        const script = this.#script;
        return {
          sendHistory: async () => undefined,
          sendContent: async () => modelRequests.open(),
          sendRealtime: async () => modelRequests.open(),
          receive: async function* () {
            await modelRequests.opened;
            yield* script.answer(request);
          },
          close: async () => undefined,
        };
      }
    }
    return new Scripted({ model: 'scripted' });
  }

  /** An agent that is a function, for what the ready-made ones do not do. */
  agent(name: string, play: Play): BaseAgent {
    class CodeAgent extends this.adk.BaseAgent {
      protected override runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void> {
        return play(context);
      }

      protected override runLiveImpl(context: InvocationContext): AsyncGenerator<Event, void> {
        return play(context);
      }
    }
    return new CodeAgent({ name });
  }

  /** An event with a delta that was made by hand, as `outputKey` makes it. */
  event(
    { agent, invocationId, branch }: InvocationContext,
    stateDelta: Record<string, unknown>,
  ): Event {
    return this.adk.createEvent({
      invocationId,
      ...(agent && { author: agent.name }),
      ...(branch !== undefined && { branch }),
      actions: this.adk.createEventActions({ stateDelta }),
    });
  }

  /** Writes like tools and callbacks: to the state immediately, and to the delta of the next event. */
  write(context: InvocationContext, key: string, value: unknown): Event {
    const delta: Record<string, unknown> = {};
    new this.adk.State(context.session.state, delta).set(key, value);
    return this.event(context, delta);
  }

  create(state: Record<string, unknown> = {}): Promise<Session> {
    return this.sessionService.createSession({ ...key, state });
  }

  /** One turn in the session of {@link key}, by the framework's Runner; gives what it yielded. */
  async turn(agent: RunnerConfig['agent'], turn: Turn = {}): Promise<Event[]> {
    const { text = 'hi', newMessage, stateDelta, runConfig } = turn;
    const runner = new this.adk.Runner({
      appName: key.appName,
      sessionService: this.sessionService,
      ...(agent && { agent }),
      ...turn.runner,
    });
    const events = runner.runAsync({
      ...key,
      newMessage: newMessage ?? { role: 'user', parts: [{ text }] },
      ...(stateDelta && { stateDelta }),
      ...(runConfig && { runConfig }),
    });
    return all(events);
  }

  /** All that is stored, also what an agent does not get. The framework's own services know no views. */
  async stored(session: CompositeSessionKey = key): Promise<Session> {
    const config: object = { view: 'raw' };
    const found = await this.sessionService.getSession({ ...session, config });
    if (found === undefined) throw new Error(`there is no session ${JSON.stringify(session)}`);
    return found;
  }
}

/** The agent's own instruction in each request to the model. */
export function modelRequests({ requests }: ScriptedModel): string[] {
  return requests.map((request) => instructionOf(request).split('\n').at(-1) ?? '');
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A promise that is settled from outside, to bring parallel agents into one order. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Waits for the next millisecond, by any clock. Compactors distinguish events by the millisecond. */
export async function nextMillisecond(): Promise<void> {
  const start = Date.now();
  while (Date.now() === start) await new Promise((resolve) => setTimeout(resolve));
}
