import type { Content } from 'adk-session-wasm';
import type { Model } from '../../agent_loop.js';

interface Prompt {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The part of Chrome's Prompt API that is used here. */
interface LanguageModel {
  availability(): Promise<'unavailable' | 'downloadable' | 'downloading' | 'available'>;
  create(options: { initialPrompts: Prompt[] }): Promise<{
    promptStreaming(prompts: Prompt[]): ReadableStream<string>;
    destroy(): void;
  }>;
}

const browserApi = globalThis as { readonly LanguageModel?: LanguageModel };

/** Returns whether the browser has a model that this device can run. */
export async function hasBrowserModel(): Promise<boolean> {
  const availability = await browserApi.LanguageModel?.availability();
  return availability !== undefined && availability !== 'unavailable';
}

/** The model that is built into the browser. It knows no tools: it gets the texts, and answers with one. */
export const browserModel: Model = async (instruction, contents, _tools, onText) => {
  const { LanguageModel } = browserApi;
  if (LanguageModel === undefined) throw new Error('This browser has no model.');
  const system: Prompt = { role: 'system', content: instruction };
  const session = await LanguageModel.create({ initialPrompts: [system] });
  try {
    let whole = '';
    const pieces = session.promptStreaming(contents.flatMap(promptsOf)).getReader();
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
      whole += piece.value;
      onText?.(piece.value);
    }
    return { role: 'model', parts: [{ text: whole }] };
  } finally {
    session.destroy();
  }
};

function promptsOf({ role, parts = [] }: Content): Prompt[] {
  const content = parts.map(({ text = '' }) => text).join('');
  return content === '' ? [] : [{ role: role === 'model' ? 'assistant' : 'user', content }];
}
