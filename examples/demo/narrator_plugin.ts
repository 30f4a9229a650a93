import {
  BasePlugin,
  type Context,
  type Event,
  type InvocationContext,
  type LlmRequest,
} from '@google/adk';
import type { Narration } from './display/narration.js';
import { instructionOf } from './model_script.js';

/** Prints everything that a Runner does, for any agents and models. */
export class NarratorPlugin extends BasePlugin {
  readonly #narration: Narration;

  constructor(narration: Narration) {
    super('narrator');
    this.#narration = narration;
  }

  override async onUserMessageCallback({ invocationContext }: InContext): Promise<undefined> {
    this.#narration.begin(invocationContext.session.state);
    return Promise.resolve(undefined);
  }

  override async beforeRunCallback({ invocationContext }: InContext): Promise<undefined> {
    // The user's message is the only event that the Runner does not pass to `onEventCallback`.
    const event = invocationContext.session.events.at(-1);
    if (event?.author === 'user') this.#narration.showEvent(event);
    return Promise.resolve(undefined);
  }

  override async beforeModelCallback(params: {
    callbackContext: Context;
    llmRequest: LlmRequest;
  }): Promise<undefined> {
    const { callbackContext, llmRequest } = params;
    this.#narration.showInstruction(callbackContext.agentName, instructionOf(llmRequest));
    return Promise.resolve(undefined);
  }

  override async onEventCallback({ event }: { event: Event }): Promise<undefined> {
    if (event.partial !== true) this.#narration.showEvent(event);
    return Promise.resolve(undefined);
  }

  override async afterRunCallback({ invocationContext }: InContext): Promise<void> {
    const { id: sessionId, appName, userId } = invocationContext.session;
    const service = invocationContext.sessionService;
    const stored = await service?.getSession({ appName, userId, sessionId });
    this.#narration.endTurn(stored?.state ?? {});
  }
}

interface InContext {
  invocationContext: InvocationContext;
}
