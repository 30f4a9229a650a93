/** Formats the demo's output: columns, and colours in a terminal. */

import { type Change, type Entry, printJson } from './changes.js';

/** Output and width of a {@link Printer}. */
export interface PrinterOptions {
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly color: boolean;
  /** Width of the first column. */
  readonly actor: number;
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const CODES: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

const SIGNS: Record<Change['kind'], [sign: string, style: Style]> = {
  set: ['+', 'green'],
  changed: ['~', 'yellow'],
  removed: ['−', 'red'],
};

/** Widths of the columns after the first: the verb, the scope and the key. */
const VERB_WIDTH = 9;
const SCOPE_WIDTH = 9;
const NAME_WIDTH = 18;
/** Maximum number of lines of a text. */
const MAX_LINES = 6;

/** Prints actors and their actions, in lines that fit the terminal. */
export class Printer {
  readonly #options: PrinterOptions;
  /** The first columns of the last line, which are not repeated. */
  #last = '';

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  /**
   * Makes a printer for standard output, with at most 100 columns. Follows `NO_COLOR` (no-color.org).
   *
   * @param names the texts of the first column
   * @param write receives the text; default: standard output
   */
  static forStdout(
    names: Iterable<string>,
    write: PrinterOptions['write'] = (text) => void process.stdout.write(text),
  ): Printer {
    const { stdout, env } = process;
    const longest = Math.max(0, ...[...names].map((name) => width(clean(name))));
    return new Printer({
      write,
      columns: Math.max(80, Math.min(stdout.columns ?? 100, 100)),
      color: stdout.isTTY && !env.NO_COLOR,
      actor: Math.min(Math.max(longest, 8), 20) + 1,
    });
  }

  /** Prints a line across the page. */
  heading(text: string): void {
    const { columns } = this.#options;
    const title = fit(clean(text), columns - 8);
    const rule = '─'.repeat(columns - width(title) - 4);
    this.#line('');
    this.#line(
      `${this.#style('cyan', '──')} ${this.#style('bold', title)} ${this.#style('cyan', rule)}`,
    );
  }

  /** Prints a paragraph without columns. */
  paragraph(text: string): void {
    for (const line of wrap(text, this.#options.columns)) this.#line(line);
  }

  /** Prints one action of an actor. */
  step(actor: string, verb: string, text: string, style?: Style): void {
    const lines = wrap(text, this.#options.columns - 2 - this.#options.actor - VERB_WIDTH);
    const shown = lines.slice(0, MAX_LINES);
    if (lines.length > MAX_LINES)
      shown[MAX_LINES - 1] = `… (${lines.length - MAX_LINES + 1} more lines)`;
    for (const line of shown)
      this.#row(actor, verb, style === undefined ? line : this.#style(style, line));
    this.#last = '';
  }

  /** Prints the changes of an event: `+` set, `~` changed, `−` removed. */
  changes(actor: string, changes: readonly Change[]): void {
    for (const { kind, ...entry } of changes) {
      const [sign, style] = SIGNS[kind];
      this.#entry(actor, 'changes', entry, sign, style);
    }
    this.#last = '';
  }

  /** Prints a state, scope by scope. */
  state(title: string, verb: string, entries: readonly Entry[]): void {
    if (entries.length === 0) this.#row(title, verb, this.#style('dim', '(nothing)'));
    for (const entry of entries) this.#entry(title, verb, entry, ' ');
    this.#last = '';
  }

  #entry(
    actor: string,
    verb: string,
    { scope, name, value }: Entry,
    sign: string,
    style?: Style,
  ): void {
    const left = `${pad(scope, SCOPE_WIDTH)}${pad(name, NAME_WIDTH)}`;
    const room = this.#options.columns - 2 - this.#options.actor - VERB_WIDTH - 2 - width(left);
    const text = `${sign} ${left}${fit(clean(printJson(value)), room)}`;
    this.#row(actor, verb, style === undefined ? text : this.#style(style, text));
  }

  #row(actor: string, verb: string, text: string): void {
    const start = `${pad(actor, this.#options.actor)}${pad(verb, VERB_WIDTH)}`;
    const shown = start === this.#last ? ' '.repeat(width(start)) : this.#style('bold', start);
    this.#last = start;
    this.#line(`  ${shown}${text}`);
  }

  #line(text: string): void {
    this.#options.write(`${text.trimEnd()}\n`);
  }

  #style(style: Style, text: string): string {
    return this.#options.color ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
  }
}

/** Characters that terminals print two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += WIDE.test(character) ? 2 : 1;
  return columns;
}

/** Removes control characters: text of a model or file must not control the terminal. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function fit(text: string, columns: number): string {
  return width(text) <= columns ? text : `${cut(text, columns - 1)}…`;
}

/** Returns the beginning of the text that fits the columns. */
function cut(text: string, columns: number): string {
  let start = '';
  let room = columns;
  for (const character of text) {
    room -= width(character);
    if (room < 0) break;
    start += character;
  }
  return start;
}

/** Pads or cuts the text to the width, with at least one space at the end. */
function pad(text: string, columns: number): string {
  const shown = fit(clean(text), columns - 1);
  return shown + ' '.repeat(columns - width(shown));
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.trim().split('\n')) {
    let line = '';
    for (const word of clean(paragraph).split(/ +/)) {
      if (line !== '' && width(line) + 1 + width(word) > columns && width(word) <= columns) {
        lines.push(line);
        line = '';
      }
      line += line === '' ? word : ` ${word}`;
      // A word longer than a line is split.
      while (width(line) > columns) {
        const start = cut(line, columns);
        lines.push(start);
        line = line.slice(start.length);
      }
    }
    lines.push(line);
  }
  return lines;
}
