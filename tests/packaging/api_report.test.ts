// api.md has the public API as users' compilers see it, so that a review sees each change of it.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

import { root } from '../toolchain/environment.mjs';
import { NAME } from './installed.js';

const REPORT = join(root, 'api.md');
const HEAD = `# The public API

Each entry of \`exports\` in \`package.json\`, with what it exports, as declared in \`js/dist/\`. This file is generated: after a
change of the API, \`UPDATE=1 npm test -- tests/packaging/api_report.test.ts\` writes it again. RELEASING.md says which changes
are [breaking](RELEASING.md#what-is-breaking).
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

/** What the declarations of a symbol name, of the package. */
function namedBy(symbol: ts.Symbol): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
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

/** The types that the exports' declarations name and no entry exports. */
function sectionOfOthers(): string {
  const reached = new Set(exported.keys());
  for (const symbol of reached) for (const each of namedBy(symbol)) reached.add(each);
  const others = sortedByName([...reached].filter((symbol) => !exported.has(symbol)));
  return block('Types that these name, which no entry exports', others.map(textOf));
}

function sortedByName(symbols: readonly ts.Symbol[]): ts.Symbol[] {
  return [...symbols].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function block(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n\`\`\`ts\n${lines.join('\n\n')}\n\`\`\`\n`;
}

it('api.md has what the entries export', async () => {
  const sections = Object.entries(exports).map(([path, target]) => sectionOf(path, target));
  const text = [HEAD, ...sections, sectionOfOthers()].join('\n');
  const options = await resolveConfig(REPORT);
  const formatted = await format(text, { ...options, filepath: REPORT });
  if (process.env.UPDATE !== undefined) writeFileSync(REPORT, formatted);
  const stored = readFileSync(REPORT, 'utf8').split('\n');
  const line = formatted.split('\n').findIndex((each, index) => each !== stored[index]);
  // Not the whole texts: a failure would print thousands of lines.
  assert.equal(stored[line], formatted.split('\n')[line], `api.md, line ${line + 1}`);
  assert.equal(stored.length, formatted.split('\n').length);
});
