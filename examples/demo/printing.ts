/** Prints events and states in columns of at most 100 characters. */

import { type Event, State, type StateShape } from 'adk-session-wasm';

const WIDTH = 100;

export function heading(text: string): void {
  console.log(`\n── ${clean(text)} `.padEnd(WIDTH + 1, '─'));
}

/** Prints what somebody does. Each line of the text has its own. */
export function line(actor: string, verb: string, text: string): void {
  const start = `  ${actor.padEnd(8)} ${verb.padEnd(9)}`;
  for (const [index, part] of text.trim().split('\n').entries()) {
    const row = (index === 0 ? start : ' '.repeat(start.length)) + clean(part);
    console.log(row.length > WIDTH ? `${row.slice(0, WIDTH - 1)}…` : row.trimEnd());
  }
}

/** Prints what an event says, and what it changes. */
export function showEvent({ author = 'unknown', content, actions }: Event): void {
  for (const { text, functionCall, functionResponse } of content?.parts ?? []) {
    if (text) line(author, 'says', text);
    if (functionCall) line(author, 'calls', `${functionCall.name} ${json(functionCall.args)}`);
    if (functionResponse) {
      line(author, 'gets', `${functionResponse.name} ${json(functionResponse.response)}`);
    }
  }
  showState(author, 'changes', actions.stateDelta);
}

/** Prints a state or a delta, a line for each key. */
export function showState(actor: string, verb: string, state: StateShape): void {
  for (const [key, value] of Object.entries(state)) {
    const isRemoved = value === State.REMOVED || value === undefined;
    line(actor, verb, isRemoved ? `${key} removed` : `${key} = ${json(value)}`);
  }
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? typeof value;
}

/** Text of a model or of a file must not control the terminal. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
