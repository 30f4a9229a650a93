import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from '@google/adk';
import type { Model, Tool } from '../../agent_loop.js';

/** A model of the playground as one of the framework. */
export class PageModel extends BaseLlm {
  readonly #model: Model;

  constructor(model: Model) {
    super({ model: 'playground' });
    this.#model = model;
  }

  async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const pieces: string[] = [];
    let isDone = false;
    let wake = (): void => undefined;
    const onText = (text: string): void => {
      pieces.push(text);
      wake();
    };
    // The framework always sets a text.
    const instruction = request.config?.systemInstruction as string;
    const answer = this.#model(instruction, request.contents, toolsOf(request), onText);
    const onEnd = (): void => {
      isDone = true;
      wake();
    };
    answer.then(onEnd, onEnd);
    for (;;) {
      for (const text of pieces.splice(0)) {
        yield { content: { role: 'model', parts: [{ text }] }, partial: true };
      }
      if (isDone && pieces.length === 0) break;
      if (pieces.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
    yield { content: await answer };
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('The models of the playground hold no live connection.'));
  }
}

/** The tools of a request. The framework runs them itself. */
function toolsOf({ config }: LlmRequest): Tool[] {
  const tools = (config?.tools ?? []) as { functionDeclarations?: Tool['declaration'][] }[];
  return tools.flatMap(({ functionDeclarations = [] }) =>
    functionDeclarations.map((declaration) => ({
      declaration,
      run: () => Promise.reject(new Error(`The framework runs ${declaration.name}.`)),
    })),
  );
}
