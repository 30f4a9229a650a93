// A call of a tool and its response, folded into one line.

import type { Event, Part } from 'adk-session-wasm';
import { element } from '../page/element.js';

/** The parts of messages, with each response beside its call. */
export interface FoldedParts {
  /** The response of a call, as far as there is one. */
  readonly responses: ReadonlyMap<Part, Part>;
  /** The responses that stand beside their call. */
  readonly folded: ReadonlySet<Part>;
}

/** Finds the response of each call: by its id, or in the order of calls without one. */
export function foldParts(events: readonly Event[]): FoldedParts {
  const open = new Map<string, Part[]>();
  const responses = new Map<Part, Part>();
  const folded = new Set<Part>();
  for (const { invocationId, content } of events) {
    for (const part of content?.parts ?? []) {
      const { functionCall, functionResponse } = part;
      const { id, name } = functionCall ?? functionResponse ?? {};
      const key = JSON.stringify([invocationId, name, id]);
      if (functionCall !== undefined) open.set(key, [...(open.get(key) ?? []), part]);
      const call = functionResponse === undefined ? undefined : open.get(key)?.shift();
      if (call === undefined) continue;
      responses.set(call, part);
      folded.add(part);
    }
  }
  return { responses, folded };
}

/** What the mark in front of a tool's name says. */
const MARKS = { open: 'not answered yet', done: 'answered', failed: 'failed' };

/** Returns the line of a call, or of a response whose call is not shown. It opens to the whole values. */
export function toolLine(
  { functionCall, functionResponse }: Part,
  answer: Part | undefined,
): HTMLDetailsElement {
  const result = functionResponse ?? answer?.functionResponse;
  const { name = '', args = {} } = functionCall ?? {};
  const state = result === undefined ? 'open' : 'error' in (result.response ?? {}) ? 'failed' : 'done'; // prettier-ignore
  const mark = element('span', {
    className: `mark ${state}`,
    role: 'img',
    ariaLabel: MARKS[state],
  });
  const brief = Object.entries(args).map(([key, value]) => `${key}: ${briefly(value)}`);
  const values = [
    ...(functionCall === undefined ? [] : [valueOf('called with', args)]),
    ...(result === undefined ? [] : [valueOf('returned', result.response ?? {})]),
  ];
  return element(
    'details',
    { className: 'tool' },
    element(
      'summary',
      {},
      mark,
      element('code', { textContent: functionCall === undefined ? (result?.name ?? '') : name }),
      element('span', { className: 'brief', textContent: brief.join(', ') }),
    ),
    ...values,
  );
}

function valueOf(label: string, value: unknown): HTMLElement {
  const short = JSON.stringify(value);
  const text = short.length > 60 ? JSON.stringify(value, undefined, 2) : short;
  return element('div', {}, element('small', { textContent: label }), element('pre', { textContent: text })); // prettier-ignore
}

function briefly(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
