import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { useAction } from '../view/hooks.js';
import { useEffect, useRef, useState } from '../view/preact.js';
import { importCopies, importFiles, type ImportReport } from './import_files.js';

/** The imports of an inspector, which continue in every view. */
export interface Imports {
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
