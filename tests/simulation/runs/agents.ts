// The agents of the servers. What an agent does with a message is drawn from the seed and the text of the message.

import { BaseAgent, BasePlugin, createEvent as createAdkEvent, type InvocationContext, Runner, setLogger } from '@google/adk'; // prettier-ignore
import { createEvent, type Event, SessionError, type SessionService } from '../../../js/index.js';
import { asAdkService, runWith } from '../../../js/service/adk/index.js';
import type { RunAgent } from '../../../js/ui/live/index.js';
import { APP } from '../cache/device.js';
import { Random } from '../run/random.js';
import type { Begins } from './model.js';

type RunContext = Parameters<RunAgent>[0];
type SentEvent = ReturnType<RunAgent> extends AsyncIterable<infer Sent> ? Sent : never;
type Content = NonNullable<Event['content']>;

// It logs what a plugin throws.
setLogger(null);

interface Action {
  readonly do: 'partial' | 'whole' | 'tool' | 'question' | 'throw' | 'not found' | 'agent running' | 'malformed' | 'id of the message'; // prettier-ignore
  /** Milliseconds before. */
  readonly wait: number;
}

interface Plan {
  readonly actions: readonly Action[];
  /** Whether it goes on when its signal has fired. */
  readonly isDeaf: boolean;
  /** Whether it reads the session before each append, and appends itself. */
  readonly appendsItself: boolean;
  /** Whether it throws before it returns an iterator. */
  readonly throwsAtOnce: boolean;
  /** Whether its iterator has no `return`. */
  readonly lacksReturn: boolean;
  readonly plugin: 'none' | 'redacts' | 'refuses' | 'refuses slowly' | 'is slow' | 'fails before the run' | 'fails at an event' | 'fails after the run'; // prettier-ignore
}

const CALM: Plan = {
  isDeaf: false,
  appendsItself: false,
  throwsAtOnce: false,
  lacksReturn: false,
  actions: [{ do: 'whole', wait: 5 }],
  plugin: 'none',
};

const WAITS = [0, 1, 5, 15, 40, 120, 600];

function planOf(random: Random, isHealthy: boolean): Plan {
  const isLikely = (share: number): boolean => !isHealthy && random.isLikely(share);
  const ill = isHealthy ? 0 : 1;
  const actionOf = (): Action => ({
    do: random.weighted({
      partial: 6,
      whole: 2,
      tool: 1.5,
      throw: 0.7 * ill,
      'not found': 0.3 * ill,
      'agent running': 0.2 * ill,
      malformed: 0.15 * ill,
      'id of the message': 0.15 * ill,
    }),
    wait: random.pick(WAITS),
  });
  const last = random.isLikely(0.25) ? 'question' : 'whole';
  const isLong = random.isLikely(0.06);
  const lacksReturn = isLikely(0.1) && !isLong;
  const isDeaf = isLikely(0.3);
  const first = isDeaf && isLikely(0.2) ? 6000 : 0;
  const actions: Action[] = [
    ...Array.from({ length: random.below(5) }, actionOf),
    { do: last, wait: isLong ? 30_000 : random.pick(WAITS) },
  ];
  return {
    actions: actions.map(({ do: action, wait }, at) => ({
      do: action,
      wait: at === 0 ? wait + first : wait,
    })),
    isDeaf,
    appendsItself: random.isLikely(0.25),
    throwsAtOnce: isLikely(0.06),
    lacksReturn,
    plugin: isLikely(0.5)
      ? random.pick(['redacts', 'refuses', 'refuses slowly', 'is slow', 'fails before the run', 'fails at an event', 'fails after the run'] as const) // prettier-ignore
      : 'none',
  };
}

/** What the agents of all servers share. */
export class Agents {
  readonly #seed: number;
  readonly #isHealthy: boolean;
  readonly #begins: Begins;
  /** Lets time pass, as the server whose code runs now. */
  readonly #pause: (milliseconds: number) => Promise<void>;
  readonly #plans = new Map<string, Plan>();
  /** From now on each agent answers at once. */
  isCalm = false;
  #count = 0;

  constructor(
    { seed, isHealthy }: { seed: number; isHealthy: boolean },
    begins: Begins,
    pause: (milliseconds: number) => Promise<void>,
  ) {
    this.#seed = seed;
    this.#isHealthy = isHealthy;
    this.#begins = begins;
    this.#pause = pause;
  }

  /** An agent that is a function. */
  readonly run: RunAgent = (context) => {
    const { message } = context;
    const plan = this.#planOf(message.content);
    const begun = this.#begins.begin(message, context.signal, 'agent');
    if (plan.throwsAtOnce) throw begun.failed(new Error('the agent throws at once'));
    const events = this.#note(begun, this.#events(plan, context));
    if (!plan.lacksReturn) return events;
    // The run refuses it, because nothing could end it.
    begun.failed(new Error('the iterator has no return'));
    return { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) };
  };

  /** An agent that is a `Runner` over a service. */
  runner(service: SessionService): RunAgent {
    const runner = new Runner({
      appName: APP,
      agent: new PlannedAgent(this),
      plugins: [new PlannedPlugin(this)],
      sessionService: asAdkService(service),
    });
    const run = runWith(runner);
    const noted = (context: RunContext) => {
      this.#begins.noteMessage(context.message, context.signal);
      return run(context);
    };
    // It stores its message after its plugins.
    return Object.assign(noted, run);
  }

  /** The events of an invocation of a Runner. */
  async *adkEvents(invocation: InvocationContext) {
    const { invocationId, userContent, abortSignal: signal = new AbortController().signal } = invocation; // prettier-ignore
    const plan = this.#planOf(userContent);
    const message = this.#begins.messageOf(invocationId);
    const begun = this.#begins.begin(message, signal, 'agent');
    if (plan.throwsAtOnce) throw begun.failed(new Error('the agent throws at once'));
    for await (const event of this.#note(begun, this.#actions(plan, message, signal))) {
      // The framework gives each event its id, and stores what has another form.
      const given = { ...event };
      delete given.id;
      yield createAdkEvent({ ...given, invocationId } as Parameters<typeof createAdkEvent>[0]);
    }
  }

  /** What a plugin does at one moment of an invocation. @returns the text that it makes of the message */
  async plugin(
    moment: 'message' | 'before' | 'event' | 'after',
    { invocationId, userContent }: InvocationContext,
  ): Promise<Content | undefined> {
    const { plugin } = this.#planOf(userContent);
    const message = this.#begins.messageOf(invocationId);
    if (moment === 'message') {
      const begun = this.#begins.begin(message, undefined, 'plugin');
      if (plugin.endsWith('slow') || plugin.endsWith('slowly')) await this.#pause(300);
      begun.end(!plugin.startsWith('refuses'));
      if (plugin.startsWith('refuses')) throw new Error('the plugin refuses the message');
      if (plugin !== 'redacts') return undefined;
      const redacted = structuredClone(userContent as Content);
      for (const part of redacted.parts ?? []) if (part.text) part.text = `${part.text} (redacted)`;
      return redacted;
    }
    if (
      plugin ===
      `fails ${{ before: 'before the run', event: 'at an event', after: 'after the run' }[moment]}`
    ) {
      // prettier-ignore
      this.#begins.fail(message.id);
      throw new Error(`the plugin ${plugin}`);
    }
    return undefined;
  }

  /** The plan of a message, which a message that is sent again has too. */
  #planOf(content: Content | undefined): Plan {
    if (this.isCalm) return CALM;
    const name = (content?.parts ?? [])
      .map(({ text = '', functionResponse }) => functionResponse?.id ?? text.split(' ', 1)[0])
      .join();
    const known = this.#plans.get(name);
    if (known !== undefined) return known;
    const plan = planOf(new Random(this.#seed, name), this.#isHealthy);
    this.#plans.set(name, plan);
    return plan;
  }

  async *#note<T>(begun: ReturnType<Begins['begin']>, events: AsyncIterable<T>) {
    let isDone = false;
    try {
      yield* events;
      isDone = true;
    } finally {
      begun.end(isDone);
    }
  }

  async *#events(plan: Plan, context: RunContext): AsyncGenerator<SentEvent> {
    const { appName, userId, sessionId, service, message, signal } = context;
    for await (const given of this.#actions(plan, message, signal)) {
      // What an agent stores by itself is its own business, unless it yields it.
      const isStored =
        plan.appendsItself &&
        given.partial !== true &&
        given.content !== undefined &&
        given.id !== message.id;
      if (!isStored) {
        yield given;
        continue;
      }
      const session = await service.getSession({ appName, userId, sessionId });
      if (session === undefined) throw new SessionError('not_found', 'the session is gone');
      const event = createEvent({ ...given, invocationId: message.invocationId });
      await service.appendEvent({ session, event });
      yield event;
    }
  }

  async *#actions(plan: Plan, message: Event, signal: AbortSignal): AsyncGenerator<SentEvent> {
    let text = '';
    for (const { do: action, wait } of plan.actions) {
      await this.#wait(wait, plan.isDeaf ? undefined : signal);
      const n = (this.#count += 1);
      const says = (text: string): SentEvent => ({ author: 'guide', content: { role: 'model', parts: [{ text }] } }); // prettier-ignore
      switch (action) {
        case 'partial':
          text += `p${n} `;
          yield { ...says(`p${n} `), partial: true };
          break;
        case 'whole':
          yield says(`${text}w${n}`);
          text = '';
          break;
        case 'tool': {
          const call = { id: `c${n}`, name: 'look' };
          yield { ...says(''), content: { role: 'model', parts: [{ functionCall: { ...call, args: {} } }] } }; // prettier-ignore
          await this.#wait(wait, plan.isDeaf ? undefined : signal);
          yield { ...says(''), content: { role: 'user', parts: [{ functionResponse: { ...call, response: { tea: 1 } } }] } }; // prettier-ignore
          break;
        }
        case 'question': {
          const id = `q${n}`;
          const functionCall = { id, name: 'buy', args: {} };
          yield { ...says(''), content: { role: 'model', parts: [{ functionCall }] }, longRunningToolIds: [id] }; // prettier-ignore
          break;
        }
        case 'throw':
          throw new Error('the agent throws');
        case 'not found':
          throw new SessionError('not_found', 'another session does not exist');
        case 'agent running':
          throw new SessionError('agent_running', 'another session has a run');
        case 'malformed':
          yield { author: 'guide', content: 5 as unknown as Content };
          break;
        case 'id of the message':
          yield { ...says('takes the id of the message'), id: message.id };
      }
    }
  }

  /** Lets time pass. @param signal ends the wait, and the agent with it */
  async #wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    let onAbort = (): void => undefined;
    const aborted = new Promise<void>((resolve) => (onAbort = resolve));
    signal?.addEventListener('abort', onAbort);
    await Promise.race([this.#pause(milliseconds), aborted]);
    signal?.removeEventListener('abort', onAbort);
    signal?.throwIfAborted();
  }
}

class PlannedAgent extends BaseAgent {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    super({ name: 'guide' });
    this.#agents = agents;
  }

  protected override runAsyncImpl(context: InvocationContext) {
    return this.#agents.adkEvents(context);
  }

  protected override async *runLiveImpl(): AsyncGenerator<never> {
    yield* [];
  }
}

class PlannedPlugin extends BasePlugin {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    super('planned');
    this.#agents = agents;
  }

  override async onUserMessageCallback({
    invocationContext,
  }: {
    invocationContext: InvocationContext;
  }) {
    // prettier-ignore
    const content = await this.#agents.plugin('message', invocationContext);
    return content as InvocationContext['userContent'];
  }

  override async beforeRunCallback({
    invocationContext,
  }: {
    invocationContext: InvocationContext;
  }): Promise<undefined> {
    // prettier-ignore
    await this.#agents.plugin('before', invocationContext);
  }

  override async onEventCallback({
    invocationContext,
  }: {
    invocationContext: InvocationContext;
  }): Promise<undefined> {
    // prettier-ignore
    await this.#agents.plugin('event', invocationContext);
  }

  override async afterRunCallback({
    invocationContext,
  }: {
    invocationContext: InvocationContext;
  }): Promise<void> {
    // prettier-ignore
    await this.#agents.plugin('after', invocationContext);
  }
}
