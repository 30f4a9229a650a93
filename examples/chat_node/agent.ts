import { BaseLlm, type BaseLlmConnection, FunctionTool, LlmAgent } from '@google/adk';
import type { LlmRequest, LlmResponse } from '@google/adk';
import { z } from 'zod';

/** Answers word by word, and orders the tea that is asked for. With a key, Gemini takes its place. */
class ScriptedModel extends BaseLlm {
  async *generateContentAsync(
    { contents }: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    const { text = '', functionResponse } = contents.at(-1)?.parts?.[0] ?? {};
    const [, tea] = /^order (.+)/i.exec(text) ?? [];
    if (tea !== undefined) {
      const functionCall = { name: 'order_tea', args: { tea } };
      return yield { content: { role: 'model', parts: [{ functionCall }] } };
    }
    const { result, error } = functionResponse?.response ?? {};
    const answer = functionResponse ? String(result ?? error) : `You said: ${text}`;
    const model = (text: string) => ({ content: { role: 'model', parts: [{ text }] } });
    for (const word of stream ? answer.split(/(?<= )/) : []) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (signal?.aborted) return;
      yield { ...model(word), partial: true };
    }
    yield model(answer);
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('A scripted model has no live connection.'));
  }
}

const orderTea = new FunctionTool({
  name: 'order_tea',
  description: 'Orders a tea. The guest has to confirm it.',
  parameters: z.object({ tea: z.string() }),
  requireConfirmation: true,
  execute: ({ tea }) => ({ result: `One ${tea} is on its way.` }),
});

export const agent = new LlmAgent({
  name: 'guide',
  model: process.env.GOOGLE_API_KEY ? 'gemini-2.5-flash' : new ScriptedModel({ model: 'script' }),
  instruction: 'You are the host of a tea house.',
  tools: [orderTea],
});
