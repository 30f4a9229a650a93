import { invalid } from '../errors/invalid.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { type Command, parseCommand, USAGE } from './arguments.js';
import { overwriteNeedsDatabase } from './stores/file_target.js';
import { migrate, type MigrateResult } from './migrate.js';
import { describeStore, parseLocation } from './stores/location.js';
import { makeSource, makeTarget } from './stores/open_store.js';
import { type Output, Progress } from './progress.js';
import type { Source, Target } from './stores/store.js';

/** The outputs of the command. */
export interface Outputs {
  /** The summary, the usage or the SQL. */
  readonly out: Output;
  /** Progress and errors. */
  readonly err: Output;
}

/**
 * Runs the command.
 *
 * @returns the exit code: 0 for success, 1 if something failed, 2 for wrong usage; never rejects
 */
export async function run(args: readonly string[], { out, err }: Outputs): Promise<number> {
  let command: Command;
  let source: Source;
  let target: Target;
  try {
    command = parseCommand(args);
    if (command.kind === 'help') {
      out.write(USAGE);
      return 0;
    }
    if (command.kind === 'schema') {
      out.write(command.sql);
      return 0;
    }
    const { apps, timeUnit, overwrite, fromNames, toNames } = command;
    const from = parseLocation('FROM', command.from);
    const to = parseLocation('TO', command.to);
    source = makeSource(from, { apps, timeUnit }, fromNames);
    target = makeTarget(to, toNames);
    if (from.place === to.place && JSON.stringify(fromNames) === JSON.stringify(toNames)) {
      throw invalid('TO', 'must not be FROM');
    }
    if (overwrite && target.isFile) throw overwriteNeedsDatabase();
  } catch (error) {
    err.write(
      `adk-session-wasm: ${describeError(error)}\nRun adk-session-wasm --help for the usage.\n`,
    );
    return 2;
  }
  try {
    return await runMigrate(command, source, target, { out, err });
  } catch (error) {
    err.write(`adk-session-wasm: ${describeError(error)}\n`);
    return 1;
  }
}

async function runMigrate(
  { from, to, apps, overwrite, quiet }: Extract<Command, { kind: 'migrate' }>,
  source: Source,
  target: Target,
  { out, err }: Outputs,
): Promise<number> {
  let result: MigrateResult;
  try {
    await source.open();
    await target.open();
    const progress = new Progress(err, await source.size());
    result = await migrate(source, target, {
      overwrite,
      apps,
      onProblem(message) {
        progress.clear();
        err.write(`${message}\n`);
      },
      onProgress: (at, result) => {
        if (!quiet) progress.show(at, result);
      },
    }).finally(() => progress.clear());
  } catch (error) {
    // The failure of the run matters more than a failure to close.
    await closeBoth(source, target).catch(() => undefined);
    throw error;
  }
  await closeBoth(source, target);
  // Only after the target is closed, which is when a file is completely on disk.
  if (!quiet) out.write(`${describeStore(from)} -> ${describeStore(to)}\n${formatTable(result)}`);
  return result.failed + result.conflictingKeys === 0 ? 0 : 1;
}

/** Closes both, also if one of them fails to close. */
async function closeBoth(source: Source, target: Target): Promise<void> {
  await source.close().finally(() => target.close());
}

function formatTable({
  copied,
  skipped,
  verified,
  failed,
  conflictingKeys,
}: MigrateResult): string {
  const rows: [string, number, number | ''][] = [
    ['copied', copied.sessions, copied.events],
    ['there already', skipped.sessions, skipped.events],
    ['verified', verified.sessions, verified.events],
    ['failed', failed, ''],
  ];
  const lines = [['', 'sessions', 'events'], ...rows].map(([name = '', sessions, events]) => {
    return `${String(name).padEnd(14)}${String(sessions).padStart(10)}${String(events).padStart(10)}`;
  });
  if (conflictingKeys > 0)
    lines.push(`keys of state that differ${String(conflictingKeys).padStart(9)}`);
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Returns an error's message for the user, without its cause: a driver's error may quote its URL. */
function describeError(error: unknown): string {
  if (isSessionError(error)) return `${error.message} (${error.code})`;
  const { message } = new SessionError(
    'internal',
    error instanceof Error ? error.message : 'failed',
  );
  return `${message} (internal)`;
}
