import {
  BaseAgent,
  type BaseSessionService,
  createEvent,
  createEventActions,
  type Event,
  type InvocationContext,
  LogLevel,
  Runner,
  type RunConfig,
  type Session,
  setLogLevel,
  State,
} from '@google/adk';

// Half of its agents are announced as deprecated, at each start.
setLogLevel(LogLevel.ERROR);

export const key = { appName: 'app', userId: 'u', sessionId: 's' };

export interface Turn {
  text?: string;
  stateDelta?: Record<string, unknown>;
  runConfig?: Partial<RunConfig>;
}

/** One turn with the framework's own Runner; throws what the agent's model threw. */
export async function turn(
  sessionService: BaseSessionService,
  agent: BaseAgent,
  { text = 'hi', stateDelta, runConfig }: Turn = {},
): Promise<Event[]> {
  const runner = new Runner({ appName: key.appName, agent, sessionService });
  const events: Event[] = [];
  const newMessage = { role: 'user', parts: [{ text }] };
  // The Runner fills in what is not given, whatever the type says.
  for await (const event of runner.runAsync({
    ...key,
    newMessage,
    ...(stateDelta && { stateDelta }),
    ...(runConfig && { runConfig: runConfig }),
  })) {
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
    events.push(event);
  }
  return events;
}

export async function stored(sessionService: BaseSessionService): Promise<Session> {
  const session = await sessionService.getSession(key);
  if (session === undefined) throw new Error('there is no session');
  return session;
}

/** An agent that is a function, for what the ready-made ones do not do. */
export class CodeAgent extends BaseAgent {
  readonly #run: (context: InvocationContext, agent: CodeAgent) => AsyncGenerator<Event, void>;

  constructor(
    name: string,
    run: (context: InvocationContext, agent: CodeAgent) => AsyncGenerator<Event, void>,
  ) {
    super({ name });
    this.#run = run;
  }

  protected override runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void> {
    return this.#run(context, this);
  }

  protected override async *runLiveImpl(): AsyncGenerator<Event, void> {
    await Promise.reject(new Error('not live'));
    yield* [];
  }

  /** An event with a delta of its own. */
  event(context: InvocationContext, stateDelta: Record<string, unknown>): Event {
    return createEvent({
      invocationId: context.invocationId,
      author: this.name,
      ...(context.branch !== undefined && { branch: context.branch }),
      actions: { ...createEventActions(), stateDelta },
    });
  }

  /** As tools and callbacks write: at once on the state, and into the delta of an event to come. */
  write(context: InvocationContext, key: string, value: unknown): Event {
    const delta: Record<string, unknown> = {};
    new State(context.session.state, delta).set(key, value);
    return this.event(context, delta);
  }
}

/** Promises that are settled from outside, to bring parallel agents into one order. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
