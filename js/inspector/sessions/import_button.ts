import type { GivenService } from '../../live/index.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { useAction } from '../view/hooks.js';
import { ErrorNote } from '../view/parts.js';
import { h, useEffect, useRef, useState, type VNode } from '../view/preact.js';
import { sessionsText, visibleText } from '../view/text.js';
import { importCopy, importFiles, type ImportReport } from './import_files.js';

/** A button that imports session files. Files that are dropped onto the inspector come here too. */
export function ImportButton(props: {
  service: GivenService;
  dropped: readonly File[];
  onImported: (key: CompositeSessionKey) => void;
}): VNode {
  const { service, dropped, onImported } = props;
  const input = useRef<HTMLInputElement>(null);
  const { run, isBusy, error } = useAction();
  const [report, setReport] = useState<ImportReport | undefined>(undefined);
  const start = (files: readonly File[]): void => {
    if (files.length === 0) return;
    void run(async () => {
      const report = await importFiles(await service, files);
      setReport(report);
      const last = report.imported.at(-1);
      if (last !== undefined) onImported(last);
    });
  };
  const copy = (): void => {
    void run(async () => {
      let last: CompositeSessionKey | undefined;
      for (const text of report?.existing ?? []) last = await importCopy(await service, text);
      setReport(undefined);
      if (last !== undefined) onImported(last);
    });
  };
  useEffect(() => start(dropped), [dropped]);
  return h('div', null, [
    h('input', {
      type: 'file',
      multiple: true,
      hidden: true,
      accept: '.json,.jsonl,.ndjson,application/json',
      'aria-label': 'Session files',
      ref: input,
      onChange: ({ currentTarget }) => {
        start([...(currentTarget.files ?? [])]);
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
