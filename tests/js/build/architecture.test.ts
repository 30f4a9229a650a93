// The tables of ARCHITECTURE.md that follow a call name functions: each of them is declared where its row says. Paths exist,
// and the files that it begins with are short.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';

import { root } from '../../toolchain/environment.mjs';

const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

const SOURCES = readdirSync(join(root, 'js'), { encoding: 'utf8', recursive: true })
  .filter((file) => /\.tsx?$/.test(file) && !/^(dist|build)\//.test(file))
  .map((file) => join('js', file));

/** A row: the names of its first column, and the files that it names. */
interface Row {
  readonly names: readonly string[];
  readonly files: readonly string[];
}

function rowsOf(section: string): Row[] {
  const [, text = ''] = RegExp(`^## ${section}\n([^]*?)^## `, 'm').exec(architecture) ?? [];
  return [...text.matchAll(/^\| ([^|]*`[^|]*)\|(.*)$/gm)].map(([, first = '', rest = '']) => ({
    names: [...first.matchAll(/`([\w.:#]+)`/g)].map(([, name = '']) => name),
    files: [...rest.matchAll(/`((?:js|src)\/[\w/]+\.\w+)`/g)].map(([, file = '']) => file),
  }));
}

/** What a file of TypeScript declares: `name`, and `Class.member` with `#` for a private one. */
const declared = new Map<string, ReadonlySet<string>>();
function declarationsOf(file: string, text: string): ReadonlySet<string> {
  const known = declared.get(file);
  if (known !== undefined) return known;
  const found = new Set<string>();
  const visit = (node: ts.Node, owner: string): void => {
    const { name } = node as ts.Node & { readonly name?: ts.Node };
    const isOwner = ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node);
    if (name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) {
      found.add(name.text);
      if (owner !== '') found.add(`${owner}.${name.text}`);
    }
    ts.forEachChild(node, (child) => visit(child, isOwner ? (node.name?.text ?? '') : owner));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest), '');
  declared.set(file, found);
  return found;
}

function isDeclared(name: string, files: readonly string[]): boolean {
  return files.some((file) => {
    const [last = ''] = name.split(/[.:]+/).slice(-1);
    const text = readFileSync(join(root, file), 'utf8');
    if (file.endsWith('.rs')) return RegExp(`\\b(fn|struct) ${last}\\b`).test(text);
    return text.includes(last) && declarationsOf(file, text).has(name);
  });
}

describe('The tables of ARCHITECTURE.md', () => {
  for (const section of [
    'The way of an append',
    'The way of a read',
    'The way of a read through a cache',
    'The way of a view',
    'The way of a rewind',
    'The way of a write through a cache',
    'The way of a run in a page',
    'The way of a run on a server',
  ]) {
    it(`"${section}" name functions that stand where they say`, () => {
      const rows = rowsOf(section);
      assert.ok(rows.length > 4, `${rows.length} rows`);
      for (const { names, files } of rows) {
        for (const name of names) {
          const where = files.length > 0 ? files : SOURCES;
          assert.ok(isDeclared(name, where), `${name} is not declared in ${files.join(', ') || 'js/'}`); // prettier-ignore
        }
      }
    });
  }
});

for (const [document, least] of [
  ['ARCHITECTURE.md', 100],
  ['CONTRIBUTING.md', 20],
] as const) {
  it(`${document} names files and folders that exist`, () => {
    const text = readFileSync(join(root, document), 'utf8');
    const paths = [
      ...text.matchAll(/(?<![\w/-])((?:js|src|tests|conformance)\/(?:[\w/]|\.(?=\w))*)/g),
    ];
    assert.ok(paths.length > least, `${paths.length} paths`);
    const missing = paths
      .map(([, path = '']) => path)
      .filter((path) => !path.includes('ENGINE') && !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
  });
}

it('ARCHITECTURE.md begins with ten files that have at most 2,000 lines together', () => {
  const [, list = ''] = /^Read these ten files.*?:\n\n(.*?)\n\n/ms.exec(architecture) ?? [];
  const files = [...list.matchAll(/^\d+\. `([\w/.]+)`: /gm)].map(([, file = '']) => file);
  assert.equal(files.length, 10);
  const lines = files.map((file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1);
  const sum = lines.reduce((one, other) => one + other, 0);
  assert.ok(sum <= 2000, `${sum} lines: name a shorter file that shows the same`);
});
