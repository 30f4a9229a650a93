import { invalid } from '../values/errors/invalid.js';
import { parseArgs } from 'node:util';
import {
  alternatives,
  FORMS,
  isDurable,
  kindOfScheme,
  parseAddress,
  splitUri,
} from '../stores/database/engine/address.js';
import type { TableNames, EngineKind } from '../stores/database/engine/engine.js';
import { type NameOptions, requireTableNames } from '../stores/database/tables/table_names.js';

/** The engines of `schema`: what stands before the colon of a database's URL. */
const SCHEMAS = alternatives(FORMS.map((form) => splitUri(form).scheme));

export const USAGE = `Usage: adk-session-wasm copy FROM TO [options]
       adk-session-wasm schema ENGINE [--schema NAME] [--table-prefix PREFIX]

copy copies all sessions and the states of users and apps. FROM is only read. A session that TO
has already is skipped. A different one with its id is named and stays. So it is safe to run the
same command again, also after an interruption.

FROM, TO:
  ${FORMS.join('   ')}
  PATH          FROM: a session file of any ADK, or JSON Lines; TO: a new file of JSON Lines
  -             standard input, standard output

Options:
  --app NAME          only this app, which FROM must have; may be given several times
  --from-schema NAME, --from-table-prefix PREFIX
                      where FROM's tables are, as DatabaseSessionService takes it
  --to-schema NAME, --to-table-prefix PREFIX
                      the same of TO

schema prints the SQL that creates the tables of DatabaseSessionService, for its option
createTables: false. ENGINE: ${SCHEMAS}.

  --help, --version   print this text, or the version of the package

Exit code: 0 TO has all that FROM has, 1 it has not, 2 wrong usage.
`;

/** A database with the names of its tables. */
export interface DatabaseLocation {
  readonly kind: 'database';
  readonly engine: EngineKind;
  readonly url: string;
  readonly names: NameOptions;
}

/** A database, a file, or `-`. */
export type TransferLocation = DatabaseLocation | { readonly kind: 'file'; readonly path: string };

/** A parsed command. */
export type Command =
  | { readonly kind: 'help' | 'version' }
  | {
      readonly kind: 'copy';
      readonly from: TransferLocation;
      readonly to: TransferLocation;
      readonly apps: readonly string[];
    }
  | {
      readonly kind: 'schema';
      readonly engine: EngineKind;
      /** The scheme of its product's URLs, such as `mariadb`. */
      readonly scheme: string;
      readonly names: TableNames;
    };

/**
 * Parses the command line.
 *
 * @throws SessionError `invalid_argument`; the message shows no argument, since one may contain a password
 */
export function parseCommand(args: readonly string[]): Command {
  const { values, positionals } = parseOptions(args);
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };
  const [command, from, to] = positionals;
  const count = positionals.length - 1;
  if (command === 'schema') {
    if (count > 1) throw invalid('schema', `takes one ENGINE; there are ${count} arguments`);
    refuseOtherOptions(values, SCHEMA_OPTIONS);
    const { schema, 'table-prefix': tablePrefix } = values;
    const scheme = from ?? '';
    const engine = kindOfScheme(scheme);
    if (engine === undefined) throw invalid('ENGINE', `must be ${SCHEMAS}`);
    const names = requireTableNames(engine, { schema, tablePrefix });
    return { kind: 'schema', engine, scheme, names };
  }
  if (command !== 'copy') throw invalid('The command', 'must be copy or schema');
  if (from === undefined || to === undefined || count > 2) {
    throw invalid('copy', `takes FROM and TO; there are ${count} arguments`);
  }
  refuseOtherOptions(values, COPY_OPTIONS);
  return {
    kind: 'copy',
    from: parseLocation('from', from, values['from-schema'], values['from-table-prefix']),
    to: parseLocation('to', to, values['to-schema'], values['to-table-prefix']),
    apps: values.app ?? [],
  };
}

const COPY_OPTIONS = {
  app: { type: 'string', multiple: true },
  'from-schema': { type: 'string' },
  'from-table-prefix': { type: 'string' },
  'to-schema': { type: 'string' },
  'to-table-prefix': { type: 'string' },
} as const;

const SCHEMA_OPTIONS = {
  schema: { type: 'string' },
  'table-prefix': { type: 'string' },
} as const;

const COMMON_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

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
      options: { ...COPY_OPTIONS, ...SCHEMA_OPTIONS, ...COMMON_OPTIONS },
    });
  } catch {
    throw invalid('The options', 'must be those that --help shows, each with its value');
  }
}

function parseLocation(
  side: 'from' | 'to',
  text: string,
  schema: string | undefined,
  tablePrefix: string | undefined,
): TransferLocation {
  const argument = side.toUpperCase();
  if (text === '') throw invalid(argument, 'must not be empty');
  const { scheme } = splitUri(text);
  if (kindOfScheme(scheme) !== undefined) {
    const address = parseAddress(text);
    if (!isDurable(address)) throw invalid(argument, 'must not be a database in memory');
    const names = { schema, tablePrefix };
    requireTableNames(address.kind, names);
    return { kind: 'database', engine: address.kind, url: text, names };
  }
  // A single letter before the colon is a Windows drive.
  if (scheme.length > 1) {
    throw invalid(
      argument,
      `must be a file, - or a SQL database: ${alternatives(FORMS)}; ` +
        'copy from and to other storages by exportSessions and importSessions of adk-session-wasm/files',
    );
  }
  if (schema !== undefined || tablePrefix !== undefined) {
    const option = schema === undefined ? 'table-prefix' : 'schema';
    throw invalid(`--${side}-${option}`, `applies only to databases; ${argument} is a file`);
  }
  return { kind: 'file', path: text };
}
