import { invalid } from '../errors/invalid.js';
import { parseArgs } from 'node:util';
import type { TimeUnit } from '../python/time.js';
import type { NameOptions } from '../database/tables/table_names.js';
import { requireTimeUnit } from '../files/format/session_file.js';
import { schemaSql } from './schema_sql.js';

export const USAGE = `Usage: adk-session-wasm migrate FROM TO [options]
       adk-session-wasm schema ENGINE [--schema NAME] [--table-prefix PREFIX]

migrate copies all sessions and the states of users and apps from one store to another, and
verifies each. FROM is only read. After an interruption, run the same command again: it resumes.

FROM, TO:
  sqlite:PATH   postgresql://…   mysql://…   mariadb://…
  PATH          TO: a file of JSON Lines; a folder (it ends in /): a session file each
                FROM: the same, or a session file of any ADK

Options:
  --app NAME          only this app, which FROM must have; may be given several times
  --overwrite         replace different data in the target; without it, report the data
  --time-unit UNIT    of the times in FROM's files: seconds or milliseconds
  --from-schema NAME, --from-table-prefix PREFIX
                      where FROM's tables are, as DatabaseSessionService takes it
  --to-schema NAME, --to-table-prefix PREFIX
                      the same of TO
  --quiet             print only failures
  --help

schema prints the SQL that creates the tables of DatabaseSessionService, for its option
createTables: false. ENGINE: sqlite, postgresql, mysql or mariadb.

Exit code: 0 everything is copied and verified, 1 something failed, 2 wrong usage.
`;

/** A parsed command. */
export type Command =
  | { readonly kind: 'help' }
  | {
      readonly kind: 'migrate';
      readonly from: string;
      readonly to: string;
      readonly apps: readonly string[];
      readonly overwrite: boolean;
      readonly quiet: boolean;
      readonly timeUnit: TimeUnit | undefined;
      readonly fromNames: NameOptions;
      readonly toNames: NameOptions;
    }
  | { readonly kind: 'schema'; readonly sql: string };

/**
 * Parses the command line.
 *
 * @throws SessionError `invalid_argument`; the message shows no argument, since one may contain a password
 */
export function parseCommand(args: readonly string[]): Command {
  const { values, positionals } = parseOptions(args);
  if (values.help === true) return { kind: 'help' };
  const [command, from, to, ...furtherArguments] = positionals;
  if (command === 'schema') {
    if (to !== undefined)
      throw invalid('schema', `takes one ENGINE; there are ${positionals.length - 1} arguments`);
    refuseOtherOptions(values, SCHEMA_OPTIONS);
    const { schema, 'table-prefix': tablePrefix } = values;
    return { kind: 'schema', sql: schemaSql(from, { schema, tablePrefix }) };
  }
  if (command !== 'migrate') throw invalid('The command', 'must be migrate or schema');
  if (from === undefined || to === undefined || furtherArguments.length > 0) {
    throw invalid('migrate', `takes FROM and TO; there are ${positionals.length - 1} arguments`);
  }
  refuseOtherOptions(values, MIGRATE_OPTIONS);
  const { app: apps = [], overwrite = false, quiet = false } = values;
  const timeUnit =
    values['time-unit'] === undefined ? undefined : requireTimeUnit(values['time-unit']);
  const fromNames = { schema: values['from-schema'], tablePrefix: values['from-table-prefix'] };
  const toNames = { schema: values['to-schema'], tablePrefix: values['to-table-prefix'] };
  return { kind: 'migrate', from, to, apps, overwrite, quiet, timeUnit, fromNames, toNames };
}

const MIGRATE_OPTIONS = {
  app: { type: 'string', multiple: true },
  overwrite: { type: 'boolean' },
  quiet: { type: 'boolean' },
  'time-unit': { type: 'string' },
  'from-schema': { type: 'string' },
  'from-table-prefix': { type: 'string' },
  'to-schema': { type: 'string' },
  'to-table-prefix': { type: 'string' },
} as const;

const SCHEMA_OPTIONS = {
  schema: { type: 'string' },
  'table-prefix': { type: 'string' },
} as const;

const HELP_OPTION = { help: { type: 'boolean', short: 'h' } } as const;

/** Refuses options of the other command, which would otherwise be ignored. */
function refuseOtherOptions(values: object, known: object): void {
  const other = Object.keys(values).find((name) => !Object.hasOwn(known, name));
  if (other !== undefined) throw invalid(`--${other}`, 'is not for this command; see --help');
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...MIGRATE_OPTIONS, ...SCHEMA_OPTIONS, ...HELP_OPTION },
    });
  } catch {
    throw invalid('The options', 'must be those that --help shows, each with its value');
  }
}
