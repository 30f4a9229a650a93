// What README.md, the pages of docs/ and the comments of the sources say of other places, and how a page begins.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
    .map((file) => join(folder, file).replaceAll('\\', '/'))
    .filter((file) => ending.test(file) && !/\/(dist|node_modules|target)\//.test(file));

/** The home of the site, whose first screen is a component, is no page. */
const PAGES = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md') && name !== 'index.md')
  .map((name) => `docs/${name}`);

const FENCE = /^```.*?^```$/gms;
const ROW = /^\|.*\|$/gm;

/** The sentences of a text of Markdown, without its code and its links' addresses. */
function sentencesOf(markdown: string): string[] {
  const text = markdown
    .replace(/<!--.*?-->/gs, '')
    .replace(/^(#.*|`[\w./]+`:)$/gm, '')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']');
  return text.split(/[.!?:](?:\s|$)/).filter((sentence) => sentence.trim() !== '');
}

describe('The first screen', () => {
  for (const page of PAGES) {
    it(`of ${page} has a program after at most five sentences`, () => {
      const [before = '', program] = read(page).split(/^```\w+$/m);
      assert.notEqual(program, undefined);
      assert.ok(before.split('\n').length < 20, before);
      const sentences = sentencesOf(before);
      assert.ok(sentences.length <= 5, sentences.join(' | '));
    });
  }
});

/** The cells of each table of a text, by columns. */
function tablesOf(markdown: string): string[][][] {
  const blocks = markdown.replace(FENCE, '').split('\n\n');
  const tables = blocks.map((block) => block.match(ROW) ?? []).filter((rows) => rows.length > 2);
  return tables.map((rows) => {
    const cells = rows.map((row) => row.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim())); // prettier-ignore
    return (cells[0] ?? []).map((_, column) => cells.slice(2).map((row) => row[column] ?? ''));
  });
}

/** A column is prose if one of its cells is longer than a name, a number or a default. */
const isProse = (cells: readonly string[]): boolean =>
  cells.some((cell) => cell.replace(/`[^`]*`/g, 'code').split(/\s+/).length > 8);

it('No table has more than two columns of prose: a phone would cut the third', () => {
  const wide = ['README.md', ...PAGES].flatMap((page) =>
    tablesOf(read(page))
      .filter((columns) => columns.filter(isProse).length > 2)
      .map((columns) => `${page}: ${columns.map(([cell]) => cell).join(' | ')}`),
  );
  assert.deepEqual(wide, []);
});

it('No paragraph stands twice', () => {
  const seen = new Map<string, string>();
  for (const page of ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', ...PAGES]) {
    for (const paragraph of read(page)
      .replace(FENCE, '')
      .split(/\n\n|\n(?=- )/)) {
      const text = paragraph.replace(/\s+/g, ' ').trim();
      if (text.split(' ').length < 12 || text.startsWith('|')) continue;
      assert.equal(seen.get(text), undefined, `${page}: ${text}`);
      seen.set(text, page);
    }
  }
});

it('Each block of code has a language that the site colours', () => {
  const languages = new Set(['css', 'html', 'js', 'json', 'python', 'rust', 'sh', 'sql', 'text', 'toml', 'ts', 'tsx', 'typescript']); // prettier-ignore
  for (const page of ['README.md', ...PAGES]) {
    const used = [...read(page).matchAll(/^```(.+)$/gm)].map(([, language = '']) => language);
    assert.deepEqual(
      used.filter((language) => !languages.has(language)),
      [],
      page,
    );
  }
});

describe('The figures', () => {
  it('of README.md are those of the page about performance', () => {
    const table = read('README.md').match(ROW)?.join('\n') ?? '';
    const figures = table.match(/\b\d[\d.]* (?:µs|ms)/g) ?? [];
    const measured = read('docs/performance.md');
    assert.ok(figures.length > 6);
    const others = figures.filter((figure) => !measured.includes(` ${figure} `));
    assert.deepEqual(others, []);
  });

  it('of tables come from a quiet machine', () => {
    for (const page of ['docs/performance.md', 'docs/performance_of_features.md']) {
      const lines = read(page).match(/^(?:\|.*|.*\b20\d\d-\d\d-\d\d\b.*)$/gm) ?? [];
      assert.ok(lines.length > 40);
      const busy = lines.filter((line) => Number(/\bload (?:of )?(\d[\d.]*)/.exec(line)?.[1]) >= 1);
      assert.deepEqual(busy, [], page);
    }
  });
});

it('docs/migration.md lists the tables that the package adds to a database', () => {
  const folder = 'js/stores/database/tables';
  const sources = read(`${folder}/table_names.ts`) + read(`${folder}/layout.ts`);
  const made = new Set([...sources.matchAll(/'(adk_session_wasm_\w+)'/g)].map(([, name]) => name));
  const [, section = ''] = /^### Tables of this package\n([^]*?)^## /m.exec(read('docs/migration.md')) ?? []; // prettier-ignore
  const listed = [...section.matchAll(/^\| `(adk_session_wasm_\w+)`/gm)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), [...made].sort());
});

it('The hints of the suite name rules and sections of docs/writing_a_storage.md', () => {
  const page = read('docs/writing_a_storage.md');
  const hints = filesBelow('js/testing', /\.ts$/).flatMap((file) => [...read(file).matchAll(/\bsee\('([^']+)'\)/g)]); // prettier-ignore
  assert.ok(hints.length > 5);
  for (const [, hint = ''] of hints) {
    const [, rule] = /^rule (\d)$/.exec(hint) ?? [];
    assert.ok(page.includes(rule === undefined ? `\n## ${hint}\n` : `\n${rule}. `), hint);
  }
});

it('Comments name files and folders that exist', () => {
  const folders = ['js', 'src', 'tests', 'bench', 'conformance', 'examples'];
  const all = folders.flatMap((folder) => filesBelow(folder, /(?:)/));
  const names = new Set([...all, ...all.flatMap((file) => folderNames(file))]);
  const missing = ['js', 'src'].flatMap((folder) =>
    filesBelow(folder, /\.(?:ts|tsx|rs)$/).flatMap((file) => {
      const comments = read(file).match(/\/\*\*[^]*?\*\/|\/\/.*$/gm) ?? [];
      const named = comments.flatMap((comment) => [...comment.matchAll(/`(\w[\w/]*(?:\/|\.(?:ts|tsx|rs|md)))`/g)]); // prettier-ignore
      return named
        .map(([, name = '']) => name)
        .filter((name) => !isThere(file, name, names))
        .map((name) => `${file}: ${name}`);
    }),
  );
  assert.deepEqual(missing, []);
});

/** The folders of a path, each by its own name, by the path that ends in it, and the file by its name. */
function folderNames(file: string): string[] {
  const parts = file.split('/');
  return [
    ...parts.map((_, at) => parts.slice(at).join('/')),
    ...parts.slice(0, -1).flatMap((_, end) => parts.slice(0, end + 1).map((__, at) => `${parts.slice(at, end + 1).join('/')}/`)), // prettier-ignore
    basename(file),
  ];
}

function isThere(file: string, name: string, names: ReadonlySet<string>): boolean {
  return names.has(name) || existsSync(join(root, name)) || existsSync(join(root, dirname(file), name)); // prettier-ignore
}
