/** The questions of a run to its user, and the answers. */
import { invalid, sessionNotFound } from '../../values/errors/invalid.js';
import { requireObject } from '../../values/errors/option_values.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import type { FunctionCall } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { partsOf } from '../../values/model/event/parts.js';
import { closesCalls, isLongRunning, isQuestion } from '../../values/model/event/waiting.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { copyEvent } from './agent/copies.js';
import { readNewestEvents } from './agent/newest_events.js';
import type { AdmittedMessage } from './agent/run_storage.js';

/** A call that waits for an answer of the user. */
export interface Question {
  /** The id of the call, which `answer` takes. */
  readonly callId: string;
  /**
   * `confirmation`: whether a tool may run; answer `{ confirmed: true }` or `false`. `credential`: a login for a tool;
   * answer its `authConfig` with the credential. `input`: an input for a workflow. `tool`: the result of a long-running
   * tool.
   */
  readonly kind: 'confirmation' | 'credential' | 'input' | 'tool';
  /** The name of the tool that is to run, or of the call. */
  readonly name: string;
  /** The arguments of the tool that is to run, or of the call. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The text that the tool or the workflow shows, if it has one. */
  readonly hint?: string;
}

/** A question, and where it was asked. */
export interface AskedQuestion extends Question {
  /** The name of the call itself, which the answer repeats. */
  readonly callName: string;
  readonly eventId: string;
  readonly invocationId: string;
}

const KINDS: Readonly<Record<string, Question['kind']>> = {
  adk_request_confirmation: 'confirmation',
  adk_request_credential: 'credential',
};

/** Returns the ids of the calls that were answered by a user, or closed by an end event. */
export function answeredCalls(events: readonly Event[]): ReadonlySet<string> {
  const answers = events.filter(closesCalls).flatMap(partsOf);
  return new Set(answers.flatMap(({ functionResponse }) => functionResponse?.id ?? []));
}

/** Returns the calls that wait for the user, in the order in which they were asked. */
export function openQuestions(events: readonly Event[]): AskedQuestion[] {
  const answered = answeredCalls(events);
  const questions = new Map<string, AskedQuestion>();
  for (const event of events) {
    if (event.author === 'user') continue;
    for (const { functionCall } of partsOf(event)) {
      if (!isPlainObject(functionCall)) continue;
      const call = functionCall as FunctionCall;
      const waits = isQuestion(call) || isLongRunning(event, call);
      if (!waits || !call.id || answered.has(call.id)) continue;
      questions.set(call.id, questionOf(call, call.id, event));
    }
  }
  return [...questions.values()];
}

function questionOf(
  call: FunctionCall,
  callId: string,
  { id: eventId, invocationId }: Event,
): AskedQuestion {
  const { name = '', args } = call;
  const given: JsonObject = isPlainObject(args) ? args : {};
  const kind = KINDS[name] ?? (isQuestion(call) ? 'input' : 'tool');
  const subject = objectIn(given, 'originalFunctionCall', 'original_function_call');
  const confirmation = objectIn(given, 'toolConfirmation', 'tool_confirmation');
  const hint =
    confirmation.hint ?? (kind === 'input' ? (given.message ?? given.prompt) : undefined);
  return {
    callId,
    kind,
    callName: name,
    eventId,
    invocationId,
    name: typeof subject.name === 'string' ? subject.name : name,
    args: isPlainObject(subject.args) ? subject.args : given,
    ...(typeof hint === 'string' && hint !== '' && { hint }),
  };
}

/** Returns a member that is an object. Both languages' names occur. */
function objectIn(args: JsonObject, ...names: readonly string[]): JsonObject {
  return names.map((name) => args[name]).find(isPlainObject) ?? {};
}

/** The answers to calls, by the ids of the calls. */
export type Answers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Makes the message that answers open calls. It may be called again for the same message.
 *
 * @param id the id of the message
 * @returns the message, the revision at which the calls were open, and the event with the first of them
 * @throws SessionError `not_found` for the session; `invalid_argument` for a call that is not open
 */
export async function answerMessage(
  service: SessionService,
  key: CompositeSessionKey,
  answers: Answers,
  id: string,
): Promise<Omit<AdmittedMessage, 'isStored'>> {
  const callIds = Object.keys(answers);
  for await (const { session, events, isWhole } of readNewestEvents(service, key)) {
    const open = new Map(openQuestions(events).map((question) => [question.callId, question]));
    const unknown = callIds.find((callId) => !open.has(callId));
    if (unknown === undefined) {
      const parts = callIds.map((id) => {
        const functionResponse = { id, name: open.get(id)!.callName, response: answers[id]! };
        return { functionResponse };
      });
      const content = { role: 'user', parts };
      const message = copyEvent({ id, invocationId: `e-${id}`, author: 'user', content });
      const callEventId = open.get(callIds[0]!)!.eventId;
      return { message, expectedRevision: service.revisionOf(session), callEventId };
    }
    if (answeredCalls(events).has(unknown)) {
      throw invalid(`answers[${JSON.stringify(unknown)}]`, 'was answered already, or cancelled');
    }
    if (isWhole) {
      throw invalid(`answers[${JSON.stringify(unknown)}]`, 'names no call that waits for the user');
    }
  }
  throw sessionNotFound(key.sessionId);
}

/** @throws SessionError `invalid_argument` if it is no record of responses */
export function requireAnswers(answers: Answers): void {
  requireObject('answers', answers);
  if (Object.keys(answers).length === 0) throw invalid('answers', 'must have an answer to a call');
  for (const [callId, response] of Object.entries(answers)) {
    requireObject(`answers[${JSON.stringify(callId)}]`, response);
  }
}
