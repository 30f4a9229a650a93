/** Where the framework's `SecurityPlugin` keeps in the state what became of each tool call. */
const TOOL_CALLS = 'orcas_tool_call_security_check_states';

/** What a request may hold that brings state along. */
interface Bringing {
  readonly event?: unknown;
  readonly events?: readonly unknown[];
  readonly state?: unknown;
}

/**
 * Lets the framework's `SecurityPlugin` keep its record in the state. It puts the answers of the user
 * there as instances of a class, `ToolConfirmation`, which the rules for state refuse, since what is
 * read back would be something else. Of these nothing is lost: the class has members and no methods, and
 * the plugin only asks whether there is an answer. So each instance is told how it becomes JSON: as
 * `JSON.stringify` would have it anyway.
 *
 * Not the class, of which there is one in every copy of the framework. And not all instances of such
 * classes: a program's own would come back without what makes them what they are.
 *
 * @param request as the service is going to get it; nothing in it changes that can be seen
 */
export function acceptToolConfirmations(request: Bringing): void {
  try {
    const { event, events = [event], state } = request;
    for (const event of events) {
      const { actions } = (event ?? {}) as { actions?: { stateDelta?: unknown } };
      tellHow(actions?.stateDelta);
    }
    tellHow(state);
  } catch {
    // The service looks at the same things next, and says with a code what is wrong with them.
  }
}

function tellHow(state: unknown): void {
  if (typeof state !== 'object' || state === null || !Object.hasOwn(state, TOOL_CALLS)) return;
  const calls = (state as Record<string, Record<string, unknown> | undefined>)[TOOL_CALLS];
  for (const answer of Object.values(calls ?? {})) {
    if (!isConfirmation(answer) || 'toJSON' in answer) continue;
    // Not enumerable, so that it is copied with nothing.
    const toJSON = { value: () => ({ ...answer }), configurable: true, writable: true };
    Reflect.defineProperty(answer, 'toJSON', toJSON);
  }
}

/** By what the plugin asks of it: a list would come back as something else, and a Map empty. */
function isConfirmation(answer: unknown): answer is object {
  return typeof answer === 'object' && answer !== null && 'confirmed' in answer;
}
