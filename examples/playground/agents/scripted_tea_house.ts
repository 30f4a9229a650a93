import type { Content, Part } from 'adk-session-wasm';
import type { Model } from '../../agent_loop.js';

/** The words of a message, and the call that the adviser makes for them. */
const CALLS: readonly [words: RegExp, name: string, args: (match: RegExpExecArray) => object][] = [
  [/\bI am (\w+)/i, 'remember_guest', ([, name]) => ({ name })],
  [/\b(morning|evening)\b/i, 'find_tea', ([, time = '']) => ({ time: time.toLowerCase() })],
  [/\btake\b(?:.*\b(Assam|Rooibos))?/i, 'order_tea', ([, tea = 'Rooibos']) => ({ tea })],
  [/\bcancel\b/i, 'cancel_order', () => ({})],
];

/** A model for the agents of the demo that understands a few words. */
export const scriptedTeaHouse: Model = (instruction, contents, tools) => {
  // Only the adviser has tools. The host says what the adviser wrote: the last line of the host's instruction.
  if (tools.length === 0) {
    const [, guest = ''] = /\bto (\w+) in one\b/.exec(instruction) ?? [];
    const advice = instruction.split('\n').at(-1) ?? '';
    return reply({ text: `Certainly${guest && `, ${guest}`}. ${advice}` });
  }
  const parts = contents.at(-1)?.parts ?? [];
  const outcomes = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (outcomes.length > 0) {
    const text = outcomes.map(({ response = {} }) => describe(response)).join(', and ');
    return reply({ text: `${text.charAt(0).toUpperCase()}${text.slice(1)}.` });
  }
  const message = parts.map(({ text = '' }) => text).join(' ');
  const calls = CALLS.flatMap(([words, name, args]) => {
    const match = words.exec(message);
    return match === null ? [] : [{ functionCall: { name, args: { ...args(match) } } }];
  });
  const help =
    'Say who you are, ask for a tea for the morning or the evening, take one, or cancel.';
  return reply(...(calls.length > 0 ? calls : [{ text: help }]));
};

function reply(...parts: Part[]): Promise<Content> {
  return Promise.resolve({ role: 'model', parts });
}

/** The tools of the demo return a tea, an order, or a status. */
function describe({ name, price, order, status }: Record<string, unknown>): string {
  if (typeof name === 'string') return `${name} would suit you, for ${Number(price)}`;
  if (Array.isArray(order)) return `your order is ${order.join(' and ')}`;
  return status === 'remembered' ? 'your name is noted' : `your order is ${String(status)}`;
}
