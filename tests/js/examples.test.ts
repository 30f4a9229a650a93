// Every example compiles unchanged, and runs unless it needs what Node alone does not have: those of README.md, of docs/
// and of the comments in js/. Each imports what it uses, except names that only this package itself can import. A file of
// the reader's own, which an example imports, stands in a comment above the block, which no reader sees: `<!-- auth.ts … -->`.
// The programs of a page that a reader builds step by step have a test of their own, tests/packaging/docs/guides.rest.test.ts.

import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { once } from 'node:events';
import { basename, join, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { entries } from '../../js/build/entries.mjs';

interface Example {
  /** The file and line of the example. */
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** The reader's own file that it imports. */
  readonly own?: { readonly name: string; readonly text: string } | undefined;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'target', 'examples');
const NO_SOURCES = new Set(['dist', 'build']);

function sourceFiles(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory())
      return NO_SOURCES.has(entry.name) ? [] : sourceFiles(join(path, entry.name));
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts')
      ? [join(path, entry.name)]
      : [];
  });
}

/** The TypeScript blocks of a Markdown text that begins at `firstLine` of its file. */
function blocks(file: string, markdown: string, firstLine: number): Example[] {
  const pattern = /(?:^<!-- (\w+)\.ts\n((?:(?!-->).)*)-->\n\n)?^```ts\n(.*?)^```$/gms;
  return [...markdown.matchAll(pattern)].map((match) => ({
    file,
    line: firstLine + markdown.slice(0, match.index).split('\n').length - 1,
    text: match[3] ?? '',
    own: match[1] === undefined ? undefined : { name: match[1], text: match[2] ?? '' },
  }));
}

function inComments(file: string): Example[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/^[ \t]*\/\*\*(.*?)\*\//gms)].flatMap((match) => {
    const markdown = (match[1] ?? '').replace(/^[ \t]*\* ?/gm, '');
    return blocks(file, markdown, source.slice(0, match.index).split('\n').length);
  });
}

function allExamples(): Example[] {
  const files = sourceFiles(join(root, 'js')).map((path) => relative(root, path));
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', ...docs.sort().map((name) => `docs/${name}`)];
  return [
    ...pages.flatMap((page) => blocks(page, readFileSync(join(root, page), 'utf8'), 1)),
    ...files.sort().flatMap(inComments),
  ];
}

const offered = entries()
  .map(({ source }) => source.replace('js/index.ts', 'js/exports.ts'))
  .map((source) => readFileSync(join(root, source), 'utf8'))
  .join('\n');
const names = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);

/** The example as a module. Names that the package does not export come from the file of the example. */
function moduleOf({ file, text }: Example): string {
  const source = /\.tsx?$/.test(file) ? readFileSync(join(root, file), 'utf8') : '';
  const exported = [...source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)];
  const own = exported
    .map(([, name]) => name ?? '')
    .filter((name) => names(text, name) && !names(offered, name));
  if (own.length === 0) return `${text}\nexport {};\n`;
  const from = relative(folder, join(root, file))
    .replace(/\.tsx?$/, '.js')
    .replaceAll('\\', '/');
  return `import { ${own.join(', ')} } from '${from}';\n${text}\nexport {};\n`;
}

const examples = allExamples();
const nameOf = (number: number): string => `example_${number}.ts`;

/** Writes an example, and beside it the reader's own file, under a name that no other example has. */
function writeExample(example: Example, number: number): void {
  const { own } = example;
  let text = moduleOf(example);
  if (own !== undefined) {
    const name = `example_${number}_${own.name}`;
    writeFileSync(join(folder, `${name}.ts`), own.text);
    text = text.replace(`'./${own.name}.js'`, `'./${name}.js'`);
  }
  writeFileSync(join(folder, nameOf(number)), text);
}

/** What a reader of an example sets before it starts. */
const SETTINGS = { SESSIONS: 'sqlite::memory:', PORT: '0' };

/** The marks of an example that needs what this test does not have: it is compiled alone. */
const NEEDS: readonly RegExp[] = [
  /^ *declare /m, // the reader's own code
  /IndexedDbSessionService|'indexeddb'|\bdocument\./, // a browser
  /model: 'gemini/, // a model
  /\bfetch\(|loadWasm\(|'https:/, // a web server
  /first\.py/, // a database that Python made
  /\breadFile\(/, // a file
];

/** Examples of internal names document only the code: they are compiled. */
const runsHere = ({ text }: Pick<Example, 'text'>): boolean =>
  text.includes("from 'adk-session-wasm") && !NEEDS.some((pattern) => pattern.test(text));

/** What the program that runs examples says of one. */
interface Ran {
  readonly file: string;
  readonly error?: string;
  readonly printed: Readonly<Record<string, string>>;
}

/** What modules print that run, by the lines of their files. */
const printedBy = new Map<string, Ran['printed']>();

/** Returns what the comments of a module say that it prints, by the lines; after a semicolon a comment may say more. */
function saidToPrint(text: string): (readonly [line: number, said: string])[] {
  return text.split('\n').flatMap((line, index) => {
    const said = /\bconsole\.log\(.*\); \/\/ ([^;]+)/.exec(line)?.[1];
    return said === undefined ? [] : [[index + 1, said]];
  });
}

/** Returns what was printed as documents have it: without spaces in brackets. */
const tidy = (text = ''): string =>
  text.replaceAll('[Object: null prototype] ', '').replace(/(?<=\[) | (?=\])/g, '');

/** Runs modules, and returns the error of each that failed. */
async function failuresOf(files: readonly string[]): Promise<Map<string, string>> {
  const failures = new Map(files.map((file) => [file, 'it was not run']));
  const cwd = mkdtempSync(join(tmpdir(), 'adk-session-wasm-examples-'));
  const program = fileURLToPath(new URL('examples/run_examples.mjs', import.meta.url));
  const child = fork(program, [...files], {
    cwd,
    env: { ...process.env, ...SETTINGS },
    execArgv: ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', ({ file, error, printed }: Ran) => {
    if (error === undefined) failures.delete(file);
    else failures.set(file, error);
    printedBy.set(file, printed);
  });
  await once(child, 'exit');
  rmSync(cwd, { recursive: true, force: true });
  return failures;
}

describe('The example', () => {
  let output = '';
  let failures = new Map<string, string>();

  before(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const compilerOptions = { types: ['node'], rootDir: '../..' };
    const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    examples.forEach(writeExample);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = { cwd: folder, encoding: 'utf8' } as const;
    output = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], options).stdout;
    const runnable = examples.flatMap((example, number) =>
      runsHere(example) ? [join(folder, nameOf(number))] : [],
    );
    failures = await failuresOf(runnable);
  });

  for (const [number, { file, line, text }] of examples.entries()) {
    it(`at ${file}:${line} compiles`, () => {
      const wrong = output.split('\n').filter((text) => basename(text).startsWith(`${nameOf(number)}(`)); // prettier-ignore
      assert.deepEqual(wrong, []);
    });
    if (!runsHere({ text })) continue;
    it(`at ${file}:${line} runs`, () => {
      assert.equal(failures.get(join(folder, nameOf(number))), undefined);
    });
    const said = saidToPrint(moduleOf({ file, line, text }));
    if (said.length === 0) continue;
    it(`at ${file}:${line} prints what its comments say`, () => {
      const printed = printedBy.get(join(folder, nameOf(number))) ?? {};
      assert.deepEqual(
        said.map(([line]) => [line, tidy(printed[line])]),
        said,
      );
    });
  }

  it('is one of many that the compiler checked', () => {
    assert.ok(examples.length > 40);
    const unknown = output.split('\n').filter((text) => text !== '' && !/^example_|^ /.test(text));
    assert.deepEqual(unknown, []);
  });
});
