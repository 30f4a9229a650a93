import { ErrorNote } from '../view/parts.js';
import { h, useRef, type VNode } from '../view/preact.js';
import { sessionsText, visibleText } from '../view/text.js';
import type { Imports } from './imports.js';

/** A button that imports session files, and what became of the last ones. */
export function ImportButton({ isBusy, error, report, add, copy }: Imports): VNode {
  const input = useRef<HTMLInputElement>(null);
  return h('div', null, [
    h('input', {
      type: 'file',
      multiple: true,
      hidden: true,
      accept: '.json,.jsonl,.ndjson,application/json',
      'aria-label': 'Session files',
      ref: input,
      onChange: ({ currentTarget }) => {
        add([...(currentTarget.files ?? [])]);
        currentTarget.value = '';
      },
    }),
    h(
      'button',
      { type: 'button', disabled: isBusy, onClick: () => input.current?.click() },
      'Import files…',
    ),
    h(ErrorNote, { error }),
    report !== undefined &&
      h(
        'p',
        { role: 'status', class: 'muted' },
        `${sessionsText(report.imported.length)} imported`,
      ),
    report?.problems
      .slice(0, 20)
      .map((problem) => h('p', { class: 'error', role: 'alert' }, visibleText(problem))),
    (report?.existing.length ?? 0) > 0 &&
      h('button', { type: 'button', disabled: isBusy, onClick: copy }, 'Import as a copy'),
  ]);
}
