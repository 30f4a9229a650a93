// api.md has the public API as users' compilers see it, so that a review sees each change of it. Callers can name its types.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

import { root } from '../toolchain/environment.mjs';
import { NAME } from './installed.js';

const REPORT = join(root, 'tests/packaging/api.md');
const HEAD = `# The public API

Each entry of \`exports\` in \`package.json\`, with what it exports, as declared in \`js/dist/\`. This file is generated: after a
change of the API, \`UPDATE=1 npm test -- tests/packaging/api_report.test.ts\` writes it again. RELEASING.md says which changes
are [breaking](../../RELEASING.md#what-is-breaking).
`;

type Target = string | { readonly types?: string };
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, Target>;
};
const typesOf = (target: Target): string | undefined =>
  typeof target === 'string' || target.types === undefined ? undefined : join(root, target.types);

const program = ts.createProgram(
  Object.values(exports).flatMap((target) => typesOf(target) ?? []),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ESNext, jsx: ts.JsxEmit.ReactJSX },
);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });

const isAlias = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Alias) !== 0;
/** The symbol that an import or a re-export stands for. */
const resolved = (symbol: ts.Symbol): ts.Symbol =>
  isAlias(symbol) ? checker.getAliasedSymbol(symbol) : symbol;

/** The declarations that a module of the package has of a symbol, without those of other packages. */
function declarationsOf(symbol: ts.Symbol): ts.Node[] {
  return (symbol.declarations ?? [])
    .map((each) => (ts.isVariableDeclaration(each) ? each.parent.parent : each))
    .filter((each) => ts.isSourceFile(each.parent) && isOwn(each.getSourceFile()));
}

function isOwn({ fileName }: ts.SourceFile): boolean {
  return fileName.startsWith(join(root, 'js/dist')) || fileName.startsWith(join(root, 'pkg'));
}

function textOf(symbol: ts.Symbol): string {
  const texts = declarationsOf(symbol).map((each) =>
    printer.printNode(ts.EmitHint.Unspecified, each, each.getSourceFile()),
  );
  return texts.join('\n').replaceAll(/^export (?!default)/gm, '');
}

/** What the declarations of a symbol name, of the package. No caller sees their protected members. */
function namedBy(symbol: ts.Symbol): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
    if (modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ProtectedKeyword)) return;
    const named = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    if (named !== undefined) found.push(resolved(named));
    ts.forEachChild(node, visit);
  };
  declarationsOf(symbol).forEach(visit);
  return found.filter((each) => declarationsOf(each).length > 0);
}

/** The first entry that exports a symbol: the others refer to it. */
const exported = new Map<ts.Symbol, string>();

function sectionOf(path: string, target: Target): string {
  const entry = path.replace('.', NAME);
  const types = typesOf(target);
  if (types === undefined) return `## ${entry}\n\nA file without types.\n`;
  const module = checker.getSymbolAtLocation(program.getSourceFile(types) as ts.Node);
  assert.ok(module, types);
  const names = sortedByName(checker.getExportsOfModule(module));
  const isHere = (each: ts.Symbol): boolean =>
    each.name === resolved(each).name && !exported.has(resolved(each));
  const here = names.filter(isHere);
  for (const each of here) exported.set(resolved(each), entry);
  const others = names.filter((each) => !here.includes(each)).map(reExport);
  return block(entry, [...here.map((each) => textOf(resolved(each))), others.join('\n')]);
}

function reExport(symbol: ts.Symbol): string {
  const { name } = resolved(symbol);
  const names = name === symbol.name ? name : `${name} as ${symbol.name}`;
  return `export { ${names} } from '${exported.get(resolved(symbol))}';`;
}

/** What the exports' declarations name and no entry exports. */
function unexported(): ts.Symbol[] {
  const reached = new Set(exported.keys());
  for (const symbol of reached) for (const each of namedBy(symbol)) reached.add(each);
  return sortedByName([...reached].filter((symbol) => !exported.has(symbol)));
}

/** Types from which the compiler computes other types. Nobody writes or holds one. */
const COMPUTING = new Set([
  'AnyMembers',
  'ChangeValues',
  'ChannelListener',
  'DatabaseOption',
  'FilledField',
  'MethodName',
  'MethodUse',
  'MethodsWith',
  'NamedKey',
  'OwnMembers',
  'ProviderContext',
  'SetField',
  'StateKey',
  'StateValue',
  'Widened',
]);

/** Why a caller needs no name for a type that no entry exports. */
const RULES: Readonly<Record<string, (symbol: ts.Symbol) => boolean>> = {
  'It is a value: only its type is read.': ({ flags }) => (flags & ts.SymbolFlags.Type) === 0,
  'It stands for a type of the DOM, which the caller has.': ({ name }) => name.startsWith('Host'),
  'It has the shape of a type of @assistant-ui/react, which the caller has.': (symbol) =>
    fileOf(symbol).includes('/ui/assistant_ui/'),
  'It has the shape of a type of @google/adk, which the caller has.': ({ name }) =>
    /^Adk(ReadonlyContext|LoadArtifactRequest)$/.test(name),
  'It is a class: callers hold instances of the exported classes that extend it.': ({ flags }) =>
    (flags & ts.SymbolFlags.Class) !== 0,
  'The compiler computes other types from it.': ({ name }) => COMPUTING.has(name),
};

const fileOf = (symbol: ts.Symbol): string => declarationsOf(symbol)[0]!.getSourceFile().fileName;

function sortedByName(symbols: readonly ts.Symbol[]): ts.Symbol[] {
  return [...symbols].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function block(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n\`\`\`ts\n${lines.join('\n\n')}\n\`\`\`\n`;
}

const sections = Object.entries(exports).map(([path, target]) => sectionOf(path, target));

describe('A type that a signature of an entry names', () => {
  const others = unexported();
  const rules = Object.values(RULES);

  it('is exported by an entry, unless a rule says why no caller needs its name', () => {
    const lacking = others.filter((symbol) => !rules.some((rule) => rule(symbol)));
    assert.deepEqual(
      lacking.map((symbol) => `${symbol.name} of ${fileOf(symbol)}`),
      [],
    );
  });

  it('has no rule that applies to none', () => {
    const unused = rules.filter((rule) => !others.some(rule));
    assert.deepEqual(unused.map(String), []);
    const names = new Set(others.map(({ name }) => name));
    assert.deepEqual(
      [...COMPUTING].filter((name) => !names.has(name)),
      [],
    );
  });
});

it('The first entry exports fewer than 75 values', () => {
  const entry = program.getSourceFile(typesOf(exports['.']!)!)!;
  const names = checker.getExportsOfModule(checker.getSymbolAtLocation(entry)!);
  const values = names.filter((each) => (resolved(each).flags & ts.SymbolFlags.Value) !== 0);
  assert.ok(values.length > 10 && values.length < 75, `${values.length}`);
});

it('api.md has what the entries export', async () => {
  const others = unexported().map(textOf);
  sections.push(block('Types that these name, which no entry exports', others));
  const text = [HEAD, ...sections].join('\n');
  const options = await resolveConfig(REPORT);
  const formatted = await format(text, { ...options, filepath: REPORT });
  if (process.env.UPDATE !== undefined) writeFileSync(REPORT, formatted);
  const stored = readFileSync(REPORT, 'utf8').split('\n');
  const line = formatted.split('\n').findIndex((each, index) => each !== stored[index]);
  // Not the whole texts: a failure would print thousands of lines.
  assert.equal(stored[line], formatted.split('\n')[line], `api.md, line ${line + 1}`);
  assert.equal(stored.length, formatted.split('\n').length);
});
