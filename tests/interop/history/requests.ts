import { LlmAgent, Runner } from '@google/adk';

import { asAdkService } from '../../../js/service/adk/index.js';
import { type Event, type HistoryView, InMemorySessionService } from '../../../js/index.js';
import { type Part, RecordingModel } from '../../js/service/adk/histories/conversation.js';

const KEY = { appName: 'app', userId: 'u', sessionId: 's' };
const NEXT = 'the next message';

/**
 * Continues a history with the framework's Runner. Returns the texts of the request that reached the model, without
 * the next message, in the form of tests/interop/python/contents.py.
 */
export async function requestOf(
  events: readonly Event[],
  agentName: string,
  view: HistoryView,
): Promise<string[]> {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  if (events.length > 0) await service.appendEvents({ session, events: [...events] });
  const requests: { role?: string; parts?: Part[] }[][] = [];
  const model = new RecordingModel(requests, () => [{ text: 'tea' }]);
  const agent = new LlmAgent({ name: agentName, model });
  const sessionService = asAdkService(service, { view });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService });
  const newMessage = { role: 'user', parts: [{ text: NEXT }] };
  for await (const { errorMessage } of runner.runAsync({ ...KEY, newMessage })) {
    if (errorMessage !== undefined) throw new Error(errorMessage);
  }
  const texts = requests[0]!.map(
    ({ role, parts = [] }) => `${role}: ${parts.map(shownPart).join(' | ')}`,
  );
  if (texts.pop() !== `user: ${NEXT}`) throw new Error('the request lacks the next message');
  return texts;
}

function shownPart({ functionCall, functionResponse, text }: Part): string | undefined {
  if (functionCall !== undefined) return `call ${functionCall.name} ${idOf(functionCall)}`;
  if (functionResponse === undefined) return text;
  return `response ${functionResponse.name} ${idOf(functionResponse)}`;
}

/** The stored id: a view gives an id that was used again a number. */
function idOf({ id }: { readonly id?: string }): string | undefined {
  return id?.replace(/^(c\d)-\d$/, '$1');
}
