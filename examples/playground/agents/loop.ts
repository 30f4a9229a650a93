import { Invocation, type NewEvent } from 'adk-session-wasm';
import { answer as answerBy } from '../../agent_loop.js';
import { host, scriptedModel } from '../../tea_shop.js';
import { modelOf } from '../models/model_of.js';
import type { Turn } from './turn.js';

/** The tea shop, on the agent loop of the examples. It stores its events itself, and yields the pieces of answers. */
export async function* answer({ context, settings }: Turn): AsyncGenerator<NewEvent> {
  const { service, message, signal } = context;
  const { invocationId, content: userContent } = message;
  const model = modelOf(settings, scriptedModel);
  const session = await context.session();
  const invocation = new Invocation({ service, session, invocationId, userContent });
  const pieces = new ReadableStream<NewEvent>({
    async start(controller) {
      await answerBy(host, model, invocation, (piece) => {
        signal.throwIfAborted();
        controller.enqueue(piece);
      });
      controller.close();
    },
  });
  const reader = pieces.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
