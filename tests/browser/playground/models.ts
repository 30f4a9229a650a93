// Stand-ins for paid servers and for a browser with a model: no browser of the tests has one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { httpServer } from '../../http_server.js';

interface ModelServer<Asked> {
  readonly origin: string;
  /** The bodies of the requests. */
  readonly requests: readonly Asked[];
  readonly close: () => Promise<unknown>;
}

/** The pieces of an answer with text. The first answer of a server calls the tool, the others are texts. */
const textOf = (count: number): string[] => ['answer', ' ', String(count)];

/** A server with OpenAI's API. The arguments of a call come in two pieces, the second of which repeats the id. */
export function openAiServer(): Promise<
  ModelServer<{ stream?: boolean; messages: readonly Record<string, unknown>[] }>
> {
  const call = (called: object): object => ({ tool_calls: [{ index: 0, ...called }] });
  const calls = [
    call({ id: 'c1', type: 'function', function: { name: 'remember_taste', arguments: '' } }),
    call({ function: { arguments: '{"taste":' } }),
    call({ id: 'c1', function: { name: 'remember_taste', arguments: '"mild"}' } }),
  ];
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    headers.authorization === 'Bearer secret';
  return modelServer(isAllowed, (count) => {
    const deltas = count === 1 ? calls : textOf(count).map((content) => ({ content }));
    const lines = deltas.map((delta) => JSON.stringify({ choices: [{ index: 0, delta }] }));
    return [...lines, '[DONE]'].map((data) => `data: ${data}\n\n`);
  });
}

/** A server with the API of Gemini. */
export function geminiServer(): Promise<
  ModelServer<{ contents: readonly { parts: readonly object[] }[] }>
> {
  const called = { functionCall: { name: 'remember_taste', args: { taste: 'mild' } } };
  const isAllowed = ({ url = '', headers }: IncomingMessage): boolean =>
    headers['x-goog-api-key'] === 'secret' && url.endsWith(':streamGenerateContent?alt=sse');
  return modelServer(isAllowed, (count) => {
    const parts = count === 1 ? [called] : textOf(count).map((text) => ({ text }));
    const answers = parts.map((part) => ({ candidates: [{ content: { role: 'model', parts: [part] } }] })); // prettier-ignore
    return answers.map((answer) => `data: ${JSON.stringify(answer)}\r\n\r\n`);
  });
}

async function modelServer<Asked>(
  isAllowed: (request: IncomingMessage) => boolean,
  eventsOf: (count: number) => readonly string[],
): Promise<ModelServer<Asked>> {
  const requests: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', 'authorization, content-type, x-goog-api-key'); // prettier-ignore
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (!isAllowed(request)) return void response.writeHead(401).end();
    const count = requests.push((await json(request)) as Asked);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of eventsOf(count)) {
      response.write(event);
      // The page shows the pieces of several frames apart. On a busy machine a frame may take this long.
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    response.end();
  };
  const server = httpServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The script of a page with stand-ins. The server that the page's address names takes the requests to Google's. The
 * documented part of Chrome's Prompt API has a model that says which prompts it got, unless the address says that it is
 * unavailable.
 */
export const MODELS_OF_PAGE = `const google = new URLSearchParams(location.search).get('google');
const availability = new URLSearchParams(location.search).get('model') ?? 'available';
const original = globalThis.fetch;
globalThis.fetch = (url, init) =>
  original(String(url).replace('https://generativelanguage.googleapis.com', google), init);
globalThis.LanguageModel = class {
  static open = 0;
  static availability = () => Promise.resolve(availability);
  #prompts;
  static async create({ initialPrompts = [] } = {}) {
    LanguageModel.open += 1;
    const model = new LanguageModel();
    model.#prompts = initialPrompts;
    return model;
  }
  promptStreaming(prompts) {
    const { role, content } = prompts.at(-1);
    const text = this.#prompts.map(({ role }) => role).join() + ' and ' + role + ': ' + content;
    const pieces = text.split(/(?<= )/);
    return new ReadableStream({
      async pull(stream) {
        await new Promise((resolve) => setTimeout(resolve, 400));
        if (pieces.length === 0) stream.close();
        else stream.enqueue(pieces.shift());
      },
    });
  }
  destroy() {
    LanguageModel.open -= 1;
  }
};
`;
