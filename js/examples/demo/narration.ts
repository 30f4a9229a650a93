import type { Event, Part } from 'adk-session-wasm';
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
    const { author = 'unknown', content, actions, errorCode = '', errorMessage } = event;
    let text = '';
    const sayIt = (): void => {
      if (text.trim() !== '') this.#printer.step(author, event.partial ? 'streams' : 'says', text);
      text = '';
    };
    for (const part of content?.parts ?? []) {
      if (part.thought) continue;
      if (typeof part.text === 'string') {
        text += part.text;
        continue;
      }
      sayIt();
      this.#printer.step(author, ...toldOf(part));
    }
    sayIt();
    if (errorMessage !== undefined) {
      this.#printer.step(author, 'fails', `${errorCode} ${errorMessage}`, 'red');
    }
    // A piece of a stream is not appended, whatever it carries.
    if (event.partial) return;
    this.#printer.changes(author, applyDelta(actions.stateDelta, this.#state));
  }

  /** What is stored after a turn, and what was there for this turn only. */
  end(stored: Readonly<Record<string, unknown>>): void {
    const gone = entriesOf(Object.fromEntries(this.#state)).filter(({ scope }) => scope === 'temp');
    this.#printer.state('state', 'stored', entriesOf(stored));
    if (gone.length > 0) this.#printer.state('state', 'gone', gone);
    this.begin(stored);
  }
}

/** What a part does that is no text. */
function toldOf(part: Part): [does: string, text: string] {
  const { functionCall, functionResponse } = part;
  if (functionCall) return ['calls', `${functionCall.name} ${printed(functionCall.args ?? {})}`];
  if (functionResponse) {
    return ['gets', `${functionResponse.name} ${printed(functionResponse.response ?? {})}`];
  }
  return ['sends', Object.keys(part).join(', ')];
}
