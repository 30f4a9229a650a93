import { type Event, isFinalResponse } from 'adk-session-wasm';
import { applyDelta, entriesOf, printed } from './changes.js';
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
  told(agentName: string, instruction: string): void {
    this.#printer.step(agentName, 'is told', instruction, 'dim');
  }

  /** What an event says and changes; to be called before it is appended, while it has its `temp:` keys. */
  event(event: Event): void {
    const { author = 'unknown', content, actions, errorCode, errorMessage } = event;
    let text = '';
    for (const part of content?.parts ?? []) {
      if (part.functionCall) {
        const { name = '', args = {} } = part.functionCall;
        this.#printer.step(author, 'calls', `${name} ${printed(args)}`);
      } else if (part.functionResponse) {
        const { name = '', response = {} } = part.functionResponse;
        this.#printer.step(author, 'gets', `${name} ${printed(response)}`);
      } else if (typeof part.text === 'string' && part.thought !== true) {
        text += part.text;
      } else if (part.thought !== true) {
        this.#printer.step(author, 'sends', Object.keys(part).join(', '));
      }
    }
    if (text.trim() !== '')
      this.#printer.step(author, isFinalResponse(event) ? 'says' : 'adds', text);
    if (errorMessage !== undefined) {
      this.#printer.step(author, 'fails', `${errorCode ?? ''} ${errorMessage}`, 'red');
    }
    this.#printer.changes(author, applyDelta(actions.stateDelta, this.#state));
  }

  /** What is stored after a turn, and what only this turn had. */
  end(stored: Readonly<Record<string, unknown>>): void {
    const entries = entriesOf(Object.fromEntries(this.#state));
    this.#printer.state('state', 'stored', entriesOf(stored));
    const temp = entries.filter(({ scope }) => scope === 'temp');
    if (temp.length > 0) this.#printer.state('', 'gone', temp);
  }
}
