/** Imports of files: their reads, their states, and the button that starts them. */
import type { GivenService } from '../../../core/call/given_service.js';
import { importSession, importSessions } from '../../../service/files/index.js';
import { isSessionError } from '../../../values/errors/errors.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { forgottenCheck } from '../../live/reading_store.js';
import { useAction } from '../view/hooks.js';
import { Button, ErrorNote } from '../view/parts.js';
import { useEffect, useRef, useState, type VNode } from '../view/preact.js';
import { errorWithMessage, sessionsText, visibleText } from '../view/text.js';

/** What became of the files. */
interface ImportReport {
  readonly imported: readonly CompositeSessionKey[];
  /** A sentence for each file or line that was not imported. */
  readonly problems: readonly string[];
  /** The texts of the session files whose session exists already. */
  readonly existing: readonly string[];
}

/** Imports files: each one session, or the JSON Lines of `exportSessions`. */
export async function importFiles(
  service: SessionService,
  files: Iterable<Pick<File, 'name' | 'text'>>,
): Promise<ImportReport> {
  const imported: CompositeSessionKey[] = [];
  const problems: string[] = [];
  const existing: string[] = [];
  const requireKept = forgottenCheck(service);
  for (const file of files) {
    requireKept();
    let text = '';
    try {
      text = await file.text();
      requireKept();
      if (isStream(file.name, text)) {
        for await (const { line, error, appName, userId, sessionId } of importSessions(
          service,
          text,
        )) {
          requireKept();
          if (error !== undefined) problems.push(`${file.name}, line ${line}: ${error.message}`);
          else if (appName !== undefined && userId !== undefined && sessionId !== undefined) {
            imported.push({ appName, userId, sessionId });
          }
        }
      } else {
        const { appName, userId, id } = await importSession(service, text);
        imported.push({ appName, userId, sessionId: id });
      }
    } catch (error) {
      problems.push(`${file.name}: ${errorWithMessage(error)}`);
      if (isSessionError(error, 'already_exists')) existing.push(text);
    }
  }
  return { imported, problems, existing };
}

/**
 * Imports sessions of files beside those with their ids, under new ids. What cannot be imported is `existing` in the
 * report again, so that a second try makes no second copy of the others.
 */
export async function importCopies(
  service: SessionService,
  texts: readonly string[],
): Promise<ImportReport> {
  const imported: CompositeSessionKey[] = [];
  const problems: string[] = [];
  const existing: string[] = [];
  const requireKept = forgottenCheck(service);
  for (const text of texts) {
    requireKept();
    try {
      const options = { sessionId: newEventId(), sharedState: 'keep' } as const;
      const { appName, userId, id } = await importSession(service, text, options);
      imported.push({ appName, userId, sessionId: id });
    } catch (error) {
      problems.push(errorWithMessage(error));
      existing.push(text);
    }
  }
  return { imported, problems, existing };
}

function isStream(name: string, text: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(name) || /^\s*\{[^\n]*"format"\s*:\s*"adk-sessions"/.test(text);
}

/** The imports of an inspector, which continue in every view. */
interface Imports {
  readonly isBusy: boolean;
  /** What the last import threw. */
  readonly error: unknown;
  /** What became of the last files. */
  readonly report: ImportReport | undefined;
  /** Imports files. Those that are added while an import runs come after it. */
  readonly add: (files: readonly File[]) => void;
  /** Imports copies of the sessions that exist already. */
  readonly copy: () => void;
}

/**
 * Returns the imports into a service.
 *
 * @param onImported called after each import with its last session; `isWhole` is false if the report has problems
 */
export function useImports(
  service: GivenService<SessionService>,
  onImported: (key: CompositeSessionKey, isWhole: boolean) => void,
): Imports {
  const { run, isBusy, error } = useAction();
  const files = useRef<File[]>([]);
  const [report, setReport] = useState<ImportReport | undefined>(undefined);
  const end = (report: ImportReport): void => {
    setReport(report);
    const last = report.imported.at(-1);
    if (last !== undefined) onImported(last, report.problems.length === 0);
  };
  const start = (): void => {
    void run(async () => {
      try {
        // Files that are added meanwhile come into the same report: the loop over the array reaches them.
        end(await importFiles(await service, files.current));
      } finally {
        files.current = [];
      }
    });
  };
  const add = (added: readonly File[]): void => {
    files.current.push(...added);
    if (files.current.length > 0) start();
  };
  // Files that were added while copies were imported.
  useEffect(() => void add([]), [isBusy]);
  const copy = (): void => {
    void run(async () => end(await importCopies(await service, report?.existing ?? [])));
  };
  return { isBusy, error, report, add, copy };
}

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
