// The events of the measurements: 580 characters of JSON each, with a delta of three keys in three scopes.

const LENGTH = 580;

/** Filler without long repetitions, like a model's answer. */
const words = 'the quick brown fox jumps over the lazy dog while an agent waits for its tools ';

/** An id in the form of a UUID. Ids differ from the first character. @param {number} number */
function idOf(number) {
  const digits = (Math.imul(number + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return `${digits}-${digits.slice(4)}-4000-8000-${String(number).padStart(12, '0')}`;
}

/**
 * Makes an event. Equal numbers give equal events.
 *
 * @param {number} number
 */
export function makeEvent(number) {
  const part = { text: '' };
  const event = {
    id: idOf(number),
    invocationId: 'e-00000000-0000-4000-8000-000000000000',
    author: 'guide',
    timestamp: 1_700_000_000_000 + number,
    content: { role: 'model', parts: [part] },
    actions: {
      stateDelta: { step: number, 'user:last': `turn ${number}`, 'app:total': number * 2 },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    },
  };
  const missing = LENGTH - JSON.stringify(event).length;
  part.text = words.repeat(Math.ceil(missing / words.length)).slice(0, missing);
  return event;
}

/**
 * Makes an event of a short chat: a delta of one key, and as much text as the length of its JSON leaves.
 *
 * @param {number} number
 * @param {number} length at least 200
 */
export function makeShortEvent(number, length) {
  const part = { text: '' };
  const event = {
    id: `e${number}`,
    invocationId: 'i',
    author: 'user',
    timestamp: 1_700_000_000_000 + number,
    content: { role: 'user', parts: [part] },
    actions: {
      stateDelta: { n: number },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    },
  };
  part.text = words.repeat(9).slice(0, Math.max(1, length - JSON.stringify(event).length));
  return event;
}

/**
 * @template Event
 * @param {number} count
 * @param {number} first
 * @param {(event: ReturnType<typeof makeEvent>) => Event} create the function with which users of the measured
 *   package make events
 */
export function makeEvents(count, first, create) {
  return Array.from({ length: count }, (_, index) => create(makeEvent(first + index)));
}
