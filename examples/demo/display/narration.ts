import type { Event, Part } from 'adk-session-wasm';
import { applyDelta, entriesOf, printJson } from './changes.js';
import type { Printer } from './printing.js';

/** Prints events and their changes of a state. */
export class Narration {
  readonly #printer: Printer;
  #state = new Map<string, unknown>();

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  /** Sets the state before the first event. */
  begin(state: Readonly<Record<string, unknown>>): void {
    this.#state = new Map(Object.entries(state));
  }

  /** Prints the instruction that the model got. */
  showInstruction(agentName: string, instruction: string): void {
    this.#printer.step(agentName, 'is told', instruction, 'dim');
  }

  /** Prints an event and its changes. Call it before the append, which removes the `temp:` keys. */
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
    // A partial event is not appended, so its delta changes nothing.
    if (showEvent.partial) return;
    this.#printer.changes(author, applyDelta(actions.stateDelta, this.#state));
  }

  /** Prints the stored state after a turn, and the `temp:` keys that ended with it. */
  endTurn(stored: Readonly<Record<string, unknown>>): void {
    const temporaryKeys = entriesOf(Object.fromEntries(this.#state)).filter(
      ({ scope }) => scope === 'temp',
    );
    this.#printer.state('state', 'stored', entriesOf(stored));
    if (temporaryKeys.length > 0) this.#printer.state('state', 'gone', temporaryKeys);
    this.begin(stored);
  }
}

/** Describes a part that is not text. */
function describePart(part: Part): [verb: string, text: string] {
  const { functionCall, functionResponse } = part;
  if (functionCall) return ['calls', `${functionCall.name} ${printJson(functionCall.args ?? {})}`];
  if (functionResponse) {
    return ['gets', `${functionResponse.name} ${printJson(functionResponse.response ?? {})}`];
  }
  return ['sends', Object.keys(part).join(', ')];
}
