import type { Candidate } from '../model/linearize.js';
import type { Call } from '../operation.js';
import { describeOperation } from '../operation.js';
import { knowledgeOf } from './boundary.js';

const READS: readonly string[] = ['get', 'list', 'userState', 'appState'];

/** The codes of errors that the model itself returns, because they depend on the stored data. */
const MODEL_ERRORS: readonly string[] = ['already_exists', 'not_found', 'stale_session'];

/**
 * Returns the call as a candidate for the search; `undefined` if it cannot have changed data.
 *
 * @throws Error if the contract does not allow the outcome
 */
export function judge(call: Call): Candidate | undefined {
  const { outcome, operation } = call;
  const isRead = READS.includes(operation.kind);
  switch (outcome.kind) {
    case 'pending':
      throw new Error(`call ${call.number} never settles: ${describeOperation(operation)}`);
    case 'crashed':
      return isRead ? undefined : { call, isOpen: true };
    case 'done':
      return { call, isOpen: false };
    case 'failed':
      break;
  }
  const { code } = outcome;
  if (MODEL_ERRORS.includes(code)) return { call, isOpen: false };
  if (code === 'closed' && call.isAfterClose) return undefined;
  if (code === 'aborted' && call.isAborted) return undefined;
  // A closing service abandons requests without a response.
  const knowledge =
    code === 'closed' && call.isDuringClose ? 'it may have been written' : knowledgeOf(code);
  if (knowledge === undefined || call.faultsAfter === call.faultsBefore) {
    throw new Error(
      `call ${call.number} may not fail with ${code}: ${describeOperation(operation)}\n${String(outcome.error)}`,
    );
  }
  if (knowledge === 'nothing was written' || isRead) return undefined;
  return { call, isOpen: true };
}
