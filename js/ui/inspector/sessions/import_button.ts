import { Button, ErrorNote } from '../view/parts.js';
import { h, useRef, type VNode } from '../view/preact.js';
import { sessionsText, visibleText } from '../view/text.js';
import type { Imports } from './imports.js';

/** The most problems that are shown. */
const MOST = 20;

/** A button that imports session files, and what became of the last ones. */
export function ImportButton({ isBusy, error, report, add, copy }: Imports): VNode {
  const input = useRef<HTMLInputElement>(null);
  const problems = report?.problems ?? [];
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
    h(Button, {
      label: 'Import files…',
      isDisabled: isBusy,
      onClick: () => input.current?.click(),
    }),
    h(ErrorNote, { error }),
    report !== undefined &&
      h(
        'p',
        { role: 'status', class: 'muted' },
        `${sessionsText(report.imported.length)} imported`,
      ),
    problems
      .slice(0, MOST)
      .map((problem) => h('p', { class: 'error', role: 'alert' }, visibleText(problem))),
    problems.length > MOST &&
      h('p', { class: 'error', role: 'alert' }, `${problems.length - MOST} more problems`),
    (report?.existing.length ?? 0) > 0 &&
      h(Button, { label: 'Import as a copy', isDisabled: isBusy, onClick: copy }),
  ]);
}
