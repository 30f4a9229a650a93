import type { Candidate } from '../model/linearize.js';
import type { Call } from '../operation.js';
import { told } from '../operation.js';
import { knowledgeOf } from './boundary.js';

const READS: readonly string[] = ['get', 'list', 'userState', 'appState'];

/** Errors by which the model says what is stored. */
const ANSWERS: readonly string[] = ['already_exists', 'not_found', 'stale_session'];

/**
 * What a call's outcome means for what is stored; `undefined`: nothing.
 *
 * @throws Error if a call may not end so
 */
export function judge(call: Call): Candidate | undefined {
  const { outcome, operation } = call;
  const isRead = READS.includes(operation.kind);
  switch (outcome.kind) {
    case 'pending':
      throw new Error(`call ${call.number} never settles: ${told(operation)}`);
    case 'crashed':
      return isRead ? undefined : { call, isOpen: true };
    case 'done':
      return { call, isOpen: false };
    case 'failed':
      break;
  }
  const { code } = outcome;
  if (ANSWERS.includes(code)) return { call, isOpen: false };
  if (code === 'closed' && call.isAfterClose) return undefined;
  if (code === 'aborted' && call.isAborted) return undefined;
  // A service that closes gives up what a storage does not answer.
  const knowledge =
    code === 'closed' && call.isDuringClose ? 'it may have been written' : knowledgeOf(code);
  if (knowledge === undefined || call.faultsAfter === call.faultsBefore) {
    throw new Error(
      `call ${call.number} may not fail with ${code}: ${told(operation)}\n${String(outcome.error)}`,
    );
  }
  if (knowledge === 'nothing was written' || isRead) return undefined;
  return { call, isOpen: true };
}
