// Database servers for tests: each has its own folder and a free port, and ends with the test file.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { EngineKind } from '../../../../js/service/database/index.js';
import { hostEnv } from '../../../toolchain/environment.mjs';
import { clearing } from './kysely/clearing.mjs';

/** A server that can be killed and restarted. */
export interface Server {
  readonly port: number;
  /** Ends the server like a power failure, without closing its connections. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops its processes until `resume`. The system still accepts connections and requests for them. */
  suspend(): Promise<void>;
  resume(): void;
  /** The server's self-signed certificate for the host db.example, if it was started with TLS. */
  certificate(): string;
  /** Ends the server and deletes its folder. */
  remove(): Promise<void>;
}

/** The path of a program. */
export function program(name: string): string {
  const path = hostEnv()[name];
  if (path === undefined) throw new Error(`no ${name}: run tests/toolchain/setup/setup.sh`);
  return path;
}

/** The account that runs a server: neither server accepts root. */
function owner(user: string): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {};
  const id = (flag: string) => Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export interface Recipe {
  readonly name: string;
  readonly user: string;
  /** Creates the data files, and returns what makes the command that serves them. */
  prepare(folder: string, run: (command: string[]) => void): (port: number) => string[];
  /** Returns whether the server responds. */
  isUp(port: number): Promise<boolean>;
}

export async function startServer(recipe: Recipe): Promise<Server> {
  const { name, user } = recipe;
  const folder = mkdtempSync(join(tmpdir(), `adk-session-wasm-${name}-`));
  const ids = owner(user);
  if (ids.uid !== undefined && ids.gid !== undefined) chownSync(folder, ids.uid, ids.gid);
  const run = ([command = '', ...args]: string[]) => {
    const { status, stderr, error } = spawnSync(command, args, {
      ...ids,
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  };
  const commandAt = recipe.prepare(folder, run);
  // Only now: another test could get the port while the data files are created.
  const port = await freePort();
  const [command = '', ...args] = commandAt(port);
  let child: ChildProcess | undefined;
  const hasEnded = () => child?.exitCode !== null || child.signalCode !== null;
  const server: Server = {
    port,
    certificate: () => readFileSync(join(folder, CERTIFICATE), 'utf8'),
    async start() {
      for (let tries = 0; hasEnded() || !(await recipe.isUp(port)); tries += 1) {
        if (tries > 300) throw new Error(`${name} does not start`);
        // It ends at once while a process of a killed server still has the shared memory.
        if (hasEnded()) child = spawn(command, args, { ...ids, cwd: folder, stdio: 'ignore' });
        await pause(100);
      }
    },
    async suspend() {
      if (child?.pid === undefined) return;
      // The parent first. While it is stopped it starts no child, and a child that ends stays a zombie, which still takes
      // signals.
      await stop([child.pid]);
      await stop(childrenOf(child.pid));
    },
    resume() {
      if (child?.pid === undefined) return;
      // The parent last: it removes the zombies, and a signal to a removed process throws.
      for (const pid of [...childrenOf(child.pid), child.pid]) process.kill(pid, 'SIGCONT');
    },
    async kill() {
      if (child?.pid === undefined || hasEnded()) return;
      const ended = once(child, 'exit');
      // A child process of PostgreSQL outlives its parent, and could answer meanwhile. So all processes are killed.
      // They are stopped first: a process that sees another die would end by itself, and `kill` would not find it.
      await server.suspend();
      for (const pid of [...childrenOf(child.pid), child.pid]) process.kill(pid, 'SIGKILL');
      await ended;
    },
    async remove() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
  await server.start();
  return server;
}

/** Returns the child processes. PostgreSQL has one for each connection. */
function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

async function stop(processes: readonly number[]): Promise<void> {
  for (const pid of processes) process.kill(pid, 'SIGSTOP');
  // A thread stops after `kill` returns, and could answer one more request until then.
  while (!processes.every(isStopped)) await pause(1);
}

/** Returns whether all threads of a process are stopped, or have ended. */
function isStopped(pid: number): boolean {
  const stateOf = (thread: string): string | undefined => {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      // The name in parentheses may itself have spaces and parentheses.
      return /^.*\) (\S)/s.exec(text)?.[1];
    } catch {
      return undefined; // the thread has ended since it was listed
    }
  };
  // A process that has ended stays a zombie while its parent is stopped.
  const isAtRest = (state: string | undefined) => state === 'T' || state === 'Z';
  return readdirSync(`/proc/${pid}/task`).every((thread) => isAtRest(stateOf(thread)));
}

/** The options of a server. */
export interface ServerOptions {
  /** With a self-signed certificate. */
  readonly tls?: boolean;
}

const [CERTIFICATE, CERTIFICATE_KEY] = ['certificate.pem', 'certificate.key'];

function makeCertificate(run: (command: string[]) => void): void {
  run([
    ...[
      'openssl',
      'req',
      '-x509',
      '-nodes',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
    ],
    ...['-subj', '/CN=db.example', '-addext', 'subjectAltName=DNS:db.example', '-days', '2'],
    ...['-out', CERTIFICATE, '-keyout', CERTIFICATE_KEY],
  ]);
}

/** Starts PostgreSQL with a user `adk` and a database of that name. */
export function startPostgres({ tls = false }: ServerOptions = {}): Promise<Server> {
  const folder = program('POSTGRES_PROGRAMS');
  return startServer({
    name: 'postgres',
    user: 'postgres',
    prepare(home, run) {
      const data = join(home, 'data');
      run([
        join(folder, 'initdb'),
        ...['-D', data, '-U', 'adk', '-A', 'trust', '-E', 'UTF8'],
        ...['--locale=C.UTF-8', '--no-sync'],
      ]);
      const settings = [
        'listen_addresses=127.0.0.1',
        `unix_socket_directories=${home}`,
        ...['fsync=off', 'full_page_writes=off', 'max_connections=300'],
      ];
      if (tls) {
        makeCertificate(run);
        const [certificate, key] = [CERTIFICATE, CERTIFICATE_KEY].map((name) => join(home, name));
        settings.push('ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`);
      }
      const options = settings.flatMap((setting) => ['-c', setting]);
      return (port) => [join(folder, 'postgres'), '-D', data, '-p', String(port), ...options];
    },
    isUp: takesPostgresClients,
  });
}

/**
 * PgBouncer in transaction mode: each transaction gets the connection that was unused for the longest time.
 *
 * @param connections how many it has to the server
 */
export function startPgBouncer(serverPort: number, connections: number): Promise<Server> {
  return startServer({
    name: 'pgbouncer',
    user: 'postgres',
    prepare: (home) => (port) => {
      const settings = `[databases]
* = host=127.0.0.1 port=${serverPort} user=adk
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
server_round_robin = 1
`;
      writeFileSync(join(home, 'pgbouncer.ini'), settings);
      return [program('PGBOUNCER'), '-q', join(home, 'pgbouncer.ini')];
    },
    isUp: takesPostgresClients,
  });
}

/** Whether a server takes clients. It has the database `adk` then. */
async function takesPostgresClients(port: number): Promise<boolean> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'adk', database: 'postgres' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'adk'");
    if (rowCount === 0) await client.query('create database adk');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Starts MariaDB with a user `adk` without password and a database of that name. */
export function startMariadb({ tls = false }: ServerOptions = {}): Promise<Server> {
  const [serve, install] = [program('MARIADBD'), program('MARIADB_INSTALL_DB')];
  return startServer({
    name: 'mariadb',
    user: 'mysql',
    prepare(home, run) {
      const data = `--datadir=${join(home, 'data')}`;
      // A starting server deletes the temporary tables of all servers that share its folder for them.
      const temporary = `--tmpdir=${home}`;
      run([install, '--no-defaults', data, temporary, '--auth-root-authentication-method=normal']);
      if (tls) makeCertificate(run);
      const [certificate, key] = [CERTIFICATE, CERTIFICATE_KEY].map((name) => join(home, name));
      return (port) => [
        serve,
        ...['--no-defaults', data, temporary, `--port=${port}`, '--bind-address=127.0.0.1'],
        ...[`--socket=${join(home, 'socket')}`, '--skip-grant-tables', '--skip-networking=0'],
        '--max-connections=300',
        ...['--innodb-flush-method=nosync', '--innodb-flush-log-at-trx-commit=2'],
        ...(tls ? [`--ssl-cert=${certificate}`, `--ssl-key=${key}`] : []),
      ];
    },
    async isUp(port) {
      const { createConnection } = await import('mysql2/promise');
      try {
        const connection = await createConnection({ host: '127.0.0.1', port, user: 'adk' });
        await connection.query('create database if not exists adk');
        await connection.end();
        return true;
      } catch {
        return false;
      }
    },
  });
}

/** What differs between the servers. */
interface ServerKind {
  readonly engine: EngineKind;
  readonly start: (options?: ServerOptions) => Promise<Server>;
  /** The driver's option for the most connections of a pool. */
  readonly poolSize: string;
  /** The schema of the tables that no option names. */
  readonly schema: string;
  /** Drops all tables. */
  readonly empty: (url: string) => Promise<void>;
  /** Deletes all rows of a schema. */
  readonly clear: (url: string, schema: string) => Promise<void>;
}

/** The servers, by the schemes of their URLs. */
export const SERVERS = {
  postgresql: {
    engine: 'postgresql',
    start: startPostgres,
    poolSize: 'max',
    schema: 'public',
    empty: (url) => onPostgres(url, 'drop schema public cascade; create schema public'),
    clear: (url, schema) => onPostgres(url, clearing(schema)),
  },
  mariadb: {
    engine: 'mysql',
    start: startMariadb,
    poolSize: 'connectionLimit',
    schema: 'adk',
    async empty(url) {
      const connection = await mariadbConnection(url, '');
      await connection.query('drop database adk');
      await connection.query('create database adk');
      await connection.end();
    },
    async clear(url, schema) {
      const connection = await mariadbConnection(url, schema);
      // The rows with the version of the tables stay.
      const [rows] = await connection.query(
        `select table_name as name from information_schema.tables
         where table_schema = '${schema}' and table_name not like '%adk_internal_metadata'`,
      );
      await connection.query('set foreign_key_checks = 0');
      for (const { name } of rows as { name: string }[]) {
        await connection.query(`delete from \`${name}\``);
      }
      await connection.end();
    },
  },
} as const satisfies Readonly<Record<string, ServerKind>>;

export type ServerName = keyof typeof SERVERS;

async function onPostgres(connectionString: string, statements: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(statements);
  await client.end();
}

async function mariadbConnection(url: string, database: string) {
  const { createConnection } = await import('mysql2/promise');
  return createConnection({ host: '127.0.0.1', port: Number(new URL(url).port), user: 'adk', database }); // prettier-ignore
}

/** Drops all tables, and returns the URL of the server's database. */
export async function emptied(name: ServerName, { port }: Server): Promise<string> {
  const url = `${name}://adk@127.0.0.1:${port}/adk`;
  await SERVERS[name].empty(url);
  return url;
}

/**
 * Deletes all rows, keeps the tables, and returns the URL of the server's database. Creating the tables would take
 * longer than most cases of the conformance suite.
 */
export async function cleared(
  name: ServerName,
  { port }: Server,
  schema: string = SERVERS[name].schema,
): Promise<string> {
  const url = `${name}://adk@127.0.0.1:${port}/adk`;
  await SERVERS[name].clear(url, schema);
  return url;
}

/** Runs a statement on PostgreSQL by a connection of its own. */
export async function postgresRows<Row extends object>(
  url: string,
  statement: string,
): Promise<Row[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Row>(statement);
  await client.end();
  return rows;
}
