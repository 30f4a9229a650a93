import type { Event, Part } from 'adk-session-wasm';
import { applyDelta, entriesOf, printJson } from './changes.js';
import type { Printer } from './printing.js';

/** Tells what events do to a state that it follows along. */
export class Narration {
  readonly #printer: Printer;
  #state = new Map<string, unknown>();

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  /** The state before the first event. */
  begin(state: Readonly<Record<string, unknown>>): void {
    this.#state = new Map(Object.entries(state));
  }

  /** What the model was told. */
  showInstruction(agentName: string, instruction: string): void {
    this.#printer.step(agentName, 'is told', instruction, 'dim');
  }

  /** What an event says and changes; to be called before it is appended, while it has its `temp:` keys. */
  showEvent(showEvent: Event): void {
    const { author = 'unknown', content, actions, errorCode = '', errorMessage } = showEvent;
    let text = '';
    const flushText = (): void => {
      if (text.trim() !== '')
        this.#printer.step(author, showEvent.partial ? 'streams' : 'says', text);
      text = '';
    };
    for (const part of content?.parts ?? []) {
      if (part.thought) continue;
      if (typeof part.text === 'string') {
        text += part.text;
        continue;
      }
      flushText();
      this.#printer.step(author, ...describePart(part));
    }
    flushText();
    if (errorMessage !== undefined) {
      this.#printer.step(author, 'fails', `${errorCode} ${errorMessage}`, 'red');
    }
    // A piece of a stream is not appended, whatever it carries.
    if (showEvent.partial) return;
    this.#printer.changes(author, applyDelta(actions.stateDelta, this.#state));
  }

  /** What is stored after a turn, and what was there for this turn only. */
  endTurn(stored: Readonly<Record<string, unknown>>): void {
    const temporaryKeys = entriesOf(Object.fromEntries(this.#state)).filter(
      ({ scope }) => scope === 'temp',
    );
    this.#printer.state('state', 'stored', entriesOf(stored));
    if (temporaryKeys.length > 0) this.#printer.state('state', 'gone', temporaryKeys);
    this.begin(stored);
  }
}

/** What a part does that is no text. */
function describePart(part: Part): [verb: string, text: string] {
  const { functionCall, functionResponse } = part;
  if (functionCall) return ['calls', `${functionCall.name} ${printJson(functionCall.args ?? {})}`];
  if (functionResponse) {
    return ['gets', `${functionResponse.name} ${printJson(functionResponse.response ?? {})}`];
  }
  return ['sends', Object.keys(part).join(', ')];
}
