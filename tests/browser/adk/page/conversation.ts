// A guest who talks with an agent: one turn a call, so that the page can be left between two of them.

import {
  type BaseSessionService,
  type Event,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  Runner,
} from '@google/adk';
import { instruction } from 'adk-session-wasm';
import { IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm/adk';
import { z } from 'zod';
import { type Answer, instructionOf } from '../../../js/service/adk/model_script.js';
import { ScriptedModel } from '../../../js/service/adk/pairing/scripted_model.js';
import { meet } from '../../rendezvous.js';

export interface Turn {
  userId: string;
  sessionId: string;
  text: string;
  /** The model's responses, one per request. */
  answers: Answer[];
}

/** The content of one request to the model. */
export interface RequestSummary {
  instruction: string;
  contents: string[];
}

export interface TurnReport {
  requests: RequestSummary[];
  /** The events that the Runner yielded. */
  yielded: string[];
  /** The session as it is stored after that. */
  events: string[];
  state: Record<string, unknown>;
}

/** Has one turn over a database, which this page opens if it has not done so before. */
export function converse(database: string, turn: Turn): Promise<TurnReport> {
  const service = services.get(database) ?? new IndexedDbSessionService({ name: database });
  services.set(database, service);
  return take(turn, service);
}

/** Has one turn over the page's memory. */
export function converseInMemory(turn: Turn): Promise<TurnReport> {
  return take(turn, memory);
}

const APP = { appName: 'inn' };

const services = new Map<string, IndexedDbSessionService>();
const memory = new InMemorySessionService();

/** A tool that writes to every scope. */
const checkIn = new FunctionTool({
  name: 'check_in',
  description: 'Notes who has come.',
  parameters: z.object({ name: z.string(), room: z.number() }),
  execute: ({ name, room }, context) => {
    const { state } = context!;
    state.set('user:name', name);
    state.set('app:guests', state.get('app:guests', 0)! + 1);
    state.set('room', room);
    state.set('temp:mood', 'in a hurry');
    return { status: 'ok' };
  },
});

/** A tool that takes until two pages have called it. */
const order = new FunctionTool({
  name: 'order',
  description: 'Orders a drink.',
  parameters: z.object({ drink: z.string(), point: z.string() }),
  execute: async ({ drink, point }, context) => {
    context!.state.set(drink, 'ordered');
    await meet(point);
    return { status: 'ok' };
  },
});

async function take(turn: Turn, sessionService: BaseSessionService): Promise<TurnReport> {
  const { userId, sessionId, text, answers } = turn;
  const model = new ScriptedModel(answers);
  const agent = new LlmAgent({
    name: 'host',
    model,
    instruction: instruction(
      '{user:name?}, room {room?}, {temp:mood?}; guests: {app:guests?}; said: {answer?}',
    ),
    tools: [checkIn, order],
    outputKey: 'answer',
  });
  const runner = new Runner({ ...APP, agent, sessionService });
  const session = await sessionService.getOrCreateSession({ ...APP, userId, sessionId });
  const yielded: Event[] = [];
  const newMessage = { role: 'user', parts: [{ text }] };
  for await (const event of runner.runAsync({ userId, sessionId: session.id, newMessage })) {
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
    yielded.push(event);
  }
  const stored = await sessionService.getSession({ ...APP, userId, sessionId });
  return {
    requests: model.requests.map(toldBy),
    yielded: yielded.flatMap(linesOf),
    events: stored!.events.flatMap(linesOf),
    state: stored!.state,
  };
}

function toldBy(request: LlmRequest): RequestSummary {
  return {
    instruction: instructionOf(request).split('\n').at(-1)!,
    contents: request.contents.flatMap((content) => linesOf({ content })),
  };
}

/** Describes each part in one line: its author, and its text, call or response. */
function linesOf({ content }: Pick<Event, 'content'>): string[] {
  return (content?.parts ?? []).map(({ text, functionCall, functionResponse }) => {
    const what = functionCall
      ? `calls ${functionCall.name}`
      : functionResponse
        ? `answers ${functionResponse.name}`
        : text;
    return `${content!.role}: ${what}`;
  });
}
