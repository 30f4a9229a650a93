import { invalid } from '../../values/errors/invalid.js';
import { requireObject } from '../../values/errors/option_values.js';
import { sessionNotFound } from '../../values/errors/session_not_found.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { copyEvent } from './agent/copies.js';
import type { AdmittedMessage } from './agent/run_storage.js';
import { answeredCalls, openQuestions } from './state/questions.js';

/** The answers to calls, by the ids of the calls. */
export type Answers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** How many events are read at first. A question is mostly among the last. */
const FIRST_WINDOW = 64;

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
  for (let numRecentEvents = FIRST_WINDOW; ; numRecentEvents *= 4) {
    const config = { numRecentEvents, view: 'transcript' } as const;
    const session = await service.getSession({ ...key, config });
    if (session === undefined) throw sessionNotFound(key.sessionId);
    const { events } = session;
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
    if (events.length < numRecentEvents) {
      throw invalid(`answers[${JSON.stringify(unknown)}]`, 'names no call that waits for the user');
    }
  }
}

/** @throws SessionError `invalid_argument` if it is no record of responses */
export function requireAnswers(answers: Answers): void {
  requireObject('answers', answers);
  if (Object.keys(answers).length === 0) throw invalid('answers', 'must have an answer to a call');
  for (const [callId, response] of Object.entries(answers)) {
    requireObject(`answers[${JSON.stringify(callId)}]`, response);
  }
}
