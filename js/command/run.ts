import { open, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { isSessionError } from '../values/errors/errors.js';
import { DatabaseSessionService } from '../service/database/database_session_service.js';
import { loadWithKysely } from '../stores/database/kysely.js';
import { HEADER } from '../service/files/session_file.js';
import {
  type Command,
  type DatabaseLocation,
  parseCommand,
  type TransferLocation,
  USAGE,
} from './arguments.js';
import { copyToService, type OnSession } from './copy.js';
import { fileLines, eventsOf, type Line, lineName, type Report, withReport } from './file_lines.js';
import type { ReadOnlyDatabase } from '../service/database/read_only_database.js';
import { exportSession } from '../service/files/export_sessions.js';
import { artifactLines, artifactsOf } from '../service/files/artifact_lines.js';
import { invalid } from '../values/errors/invalid.js';

/** The part of an output stream that is used here. */
export interface Output {
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** The outputs of the command. */
export interface Outputs {
  /** The lines of TO, the usage or the SQL; the counts, unless TO is `-`. */
  readonly out: Output;
  /** Problems and errors. */
  readonly err: Output;
}

/**
 * Runs the command.
 *
 * @returns the exit code: 0 for success, 1 if something failed, 2 for wrong usage; never rejects
 */
export async function run(args: readonly string[], { out, err }: Outputs): Promise<number> {
  let command: Command;
  try {
    command = parseCommand(args);
  } catch (error) {
    await write(err, `${describeError(error)}Run adk-session-wasm --help for the usage.\n`);
    return 2;
  }
  try {
    switch (command.kind) {
      case 'help':
        await write(out, USAGE);
        return 0;
      case 'version':
        await write(out, `${packageVersion()}\n`);
        return 0;
      case 'schema':
        await write(out, await sqlOf(command));
        return 0;
      case 'copy':
        return await copy(command, { out, err });
    }
  } catch (error) {
    const { code } = Object(error) as { code?: unknown };
    // The reader of a pipe may have seen enough.
    if (code !== 'EPIPE') await write(err, describeError(error));
    return 1;
  }
}

async function sqlOf({
  engine,
  scheme,
  names,
}: Extract<Command, { kind: 'schema' }>): Promise<string> {
  const { schemaSql } = await loadWithKysely(engine, () => import('./schema_sql.js'));
  return schemaSql(engine, scheme, names);
}

async function copy(
  { from, to, apps }: Extract<Command, { kind: 'copy' }>,
  { out, err }: Outputs,
): Promise<number> {
  const counts = { FROM: newCount(), TO: newCount(), 'new in TO': newCount() };
  const problems = new Set<string>();
  const report: Report = (name, problem) => {
    const message = `${name}: ${problem}\n`;
    if (!problems.has(message)) err.write(message, () => undefined);
    problems.add(message);
  };
  const onSession: OnSession = (line, isNew) => {
    add(counts.TO, line);
    if (isNew) add(counts['new in TO'], line);
  };
  const seenApps = new Set<string>();
  await withLines(from, apps, report, async (lines) => {
    async function* selected(): AsyncGenerator<Line, void> {
      for await (const line of lines) {
        seenApps.add(line.appName);
        if (apps.length > 0 && !apps.includes(line.appName)) continue;
        add(counts.FROM, line);
        yield line;
      }
    }
    const writeAll = async (write: WriteText) => {
      await write(textOf(HEADER));
      for await (const line of selected()) {
        await write(textOf(line));
        onSession(line, true);
      }
    };
    if (to.kind === 'database') {
      await withService(to, (service) => copyToService(selected(), service, report, onSession));
    } else if (to.path === '-') await writeAll((text) => write(out, text));
    else await writeNewFile(to.path, writeAll);
  });
  for (const app of apps.filter((app) => !seenApps.has(app))) {
    report('--app', `FROM has no app ${JSON.stringify(app)}.`);
  }
  await write(to.kind === 'file' && to.path === '-' ? err : out, tableOf(counts));
  return problems.size === 0 ? 0 : 1;
}

/** Opens FROM, and reads its lines. */
async function withLines(
  from: TransferLocation,
  apps: readonly string[],
  report: Report,
  work: (lines: AsyncIterable<Line>) => Promise<void>,
): Promise<void> {
  if (from.kind === 'file') {
    if (from.path === '-') return work(fileLines(process.stdin, report));
    const file = await open(from.path);
    await work(fileLines(file.createReadStream(), report)).finally(() => file.close());
    return;
  }
  const { ReadOnlyDatabase } = await loadWithKysely(
    from.engine,
    () => import('../service/database/read_only_database.js'),
  );
  const database = new ReadOnlyDatabase(from.url, from.names);
  try {
    await database.ping();
    await work(databaseLines(database, apps, report));
  } finally {
    await database.close();
  }
}

async function withService(
  { url, names }: DatabaseLocation,
  work: (service: DatabaseSessionService) => Promise<void>,
): Promise<void> {
  const service = new DatabaseSessionService(url, { ...names, artifacts: true });
  try {
    await service.ping();
    await work(service);
  } finally {
    await service.close();
  }
}

interface Count {
  sessions: number;
  events: number;
}

function newCount(): Count {
  return { sessions: 0, events: 0 };
}

function add(count: Count, line: Line): void {
  const events = eventsOf(line);
  if (events === undefined) return;
  count.sessions += 1;
  count.events += events.length;
}

function tableOf(counts: Readonly<Record<string, Count>>): string {
  const rows = Object.entries(counts).map(
    ([name, { sessions, events }]) => [name, sessions, events] as const,
  );
  const pad = (value: string | number) => String(value).padStart(10);
  return [['', 'sessions', 'events'] as const, ...rows]
    .map(([name, ...cells]) => `${name.padEnd(9)}${cells.map(pad).join('')}\n`)
    .join('');
}

function textOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)('adk-session-wasm/package.json') as {
    version: string;
  };
  return version;
}

/** Returns a message without the cause of the error: a driver's error may quote its URL. */
function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : 'failed';
  return `adk-session-wasm: ${isSessionError(error) ? `${message} (${error.code})` : message}\n`;
}

type WriteText = (text: string) => Promise<unknown>;

/** Writes, and waits until the output has taken it. */
function write(output: Output, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Reads the sessions and states of a database, one at a time.
 *
 * @param apps the apps to read; if empty, all apps
 */
async function* databaseLines(
  database: ReadOnlyDatabase,
  apps: readonly string[],
  report: Report,
): AsyncGenerator<Line, void> {
  for (const appName of await database.apps()) {
    if (apps.length > 0 && !apps.includes(appName)) continue;
    const read = (key: object, work: () => Promise<Line | undefined>) =>
      withReport(report, lineName({ appName, ...key }), work);
    const line = await read({ appState: {} }, async () => {
      return { appName, appState: await database.getAppState({ appName }) };
    });
    if (line !== undefined) yield line;
    for await (const userId of database.usersWithState(appName)) {
      const line = await read({ userId, userState: {} }, async () => {
        return { appName, userId, userState: await database.getUserState({ appName, userId }) };
      });
      if (line !== undefined) yield line;
    }
    const artifacts = await artifactsOf(database);
    for await (const userId of database.usersWithFiles(appName)) {
      yield* artifactLines(artifacts, { appName, userId, sessionId: undefined }, {});
    }
    for await (const key of database.sessionKeys(appName)) {
      const line = await read({ ...key, id: key.sessionId }, async () => {
        try {
          return { ...(await exportSession(database, key, { initialState: true })), appName };
        } catch (error) {
          // It was deleted after its key was listed.
          if (isSessionError(error, 'not_found')) return undefined;
          throw error;
        }
      });
      if (line === undefined) continue;
      yield line;
      yield* artifactLines(artifacts, key, {});
    }
  }
}

/**
 * Writes a new file. It has another name until it is complete, so that an interrupted copy leaves no file that looks
 * complete.
 *
 * @throws SessionError `invalid_argument` if the path exists
 */
async function writeNewFile(
  path: string,
  work: (write: (text: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  if (await exists(path)) throw invalid('TO', 'exists; name a new file');
  const temporaryPath = `${path}.part`;
  // An interrupted copy may have left this file. If it is a link, it must not be written through.
  await rm(temporaryPath, { force: true });
  const file = await open(temporaryPath, 'wx');
  try {
    await work((text) => file.appendFile(text));
    await file.sync();
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
