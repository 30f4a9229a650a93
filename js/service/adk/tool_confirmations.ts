/** The state key under which the framework's `SecurityPlugin` records each tool call. */
const TOOL_CALLS = 'orcas_tool_call_security_check_states';

/** The members of a request that contain state. */
interface DeltaCarrier {
  readonly event?: unknown;
  readonly events?: readonly unknown[] | undefined;
  readonly state?: unknown;
}

/**
 * Lets the framework's `SecurityPlugin` keep its record in the state. The plugin stores the user's answers
 * there as instances of the class `ToolConfirmation`. The rules for state refuse class instances, since they
 * would be read back as plain objects. Here that loses nothing: the class has only data members, and the
 * plugin only checks whether there is an answer. So each instance gets a `toJSON`, which returns what
 * `JSON.stringify` would produce anyway.
 *
 * The class itself is not used to recognise instances, since each copy of the framework has its own. Nor are
 * all class instances accepted: those of the program's own classes would lose their methods.
 *
 * @param request the request as the service will get it; it does not change visibly
 */
export function acceptToolConfirmations(request: DeltaCarrier): void {
  try {
    const { event, events = [event], state } = request;
    for (const event of events) {
      const { actions } = (event ?? {}) as { actions?: { stateDelta?: unknown } };
      addToJson(actions?.stateDelta);
    }
    addToJson(state);
  } catch {
    // Ignored: the service checks the same data next, and reports mistakes with a code.
  }
}

function addToJson(state: unknown): void {
  if (typeof state !== 'object' || state === null || !Object.hasOwn(state, TOOL_CALLS)) return;
  const calls = (state as Record<string, Record<string, unknown> | undefined>)[TOOL_CALLS];
  for (const confirmation of Object.values(calls ?? {})) {
    if (!isConfirmation(confirmation) || 'toJSON' in confirmation) continue;
    // Not enumerable, so that it is never copied.
    const toJSON = { value: () => ({ ...confirmation }), configurable: true, writable: true };
    Reflect.defineProperty(confirmation, 'toJSON', toJSON);
  }
}

/**
 * Recognises an answer by the member that the plugin reads. A list would be read back as an object, and a Map
 * empty.
 */
function isConfirmation(confirmation: unknown): confirmation is object {
  return typeof confirmation === 'object' && confirmation !== null && 'confirmed' in confirmation;
}
