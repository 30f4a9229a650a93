import { Invocation } from 'adk-session-wasm';
import { sessions, USER } from '../sessions';

/** Streams the answer to a stored message as text, and stores it. */
export async function POST(request: Request): Promise<Response> {
  const { sessionId, invocationId, text } = (await request.json()) as Record<string, string>;
  const session = await sessions.getOrCreateSession({ ...USER, sessionId });
  const invocation = new Invocation({ service: sessions, session, invocationId });
  let isRead = true;
  const stream = new ReadableStream<string>({
    async start(controller) {
      let whole = '';
      for await (const piece of reply(text)) {
        whole += piece;
        if (isRead) controller.enqueue(piece);
      }
      const content = { role: 'model', parts: [{ text: whole }] };
      await invocation.append({ author: 'guide', content });
      invocation.end();
      if (isRead) controller.close();
    },
    // The page was left or loaded again: it finds the whole answer in its session.
    cancel: () => void (isRead = false),
  });
  // A browser that looks for the type of a body keeps its beginning back.
  const headers = { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' };
  return new Response(stream.pipeThrough(new TextEncoderStream()), { headers });
}

/** Stands in for a model. Yield the pieces of your model's answer here. */
async function* reply(text = ''): AsyncGenerator<string> {
  for (const word of `You said: ${text}`.split(/(?<= )/)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield word;
  }
}
