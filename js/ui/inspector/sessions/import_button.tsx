import { Button, ErrorNote } from '../view/parts.js';
import { useRef, type VNode } from '../view/preact.js';
import { sessionsText, visibleText } from '../view/text.js';
import type { Imports } from './imports.js';

/** The most problems that are shown. */
const MOST = 20;

/** A button that imports session files, and what became of the last ones. */
export function ImportButton({ isBusy, error, report, add, copy }: Imports): VNode {
  const input = useRef<HTMLInputElement>(null);
  const problems = report?.problems ?? [];
  return (
    <div>
      <input
        type="file"
        multiple
        hidden
        accept=".json,.jsonl,.ndjson,application/json"
        aria-label="Session files"
        ref={input}
        onChange={({ currentTarget }) => {
          add([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      <Button label="Import files…" isDisabled={isBusy} onClick={() => input.current?.click()} />
      <ErrorNote error={error} />
      {report !== undefined && (
        <p role="status" class="muted">
          {sessionsText(report.imported.length)} imported
        </p>
      )}
      {problems.slice(0, MOST).map((problem) => (
        <p class="error" role="alert">
          {visibleText(problem)}
        </p>
      ))}
      {problems.length > MOST && (
        <p class="error" role="alert">
          {problems.length - MOST} more problems
        </p>
      )}
      {(report?.existing.length ?? 0) > 0 && (
        <Button label="Import as a copy" isDisabled={isBusy} onClick={copy} />
      )}
    </div>
  );
}
