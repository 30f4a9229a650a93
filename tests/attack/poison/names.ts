// The names of all members that the package's sources mention: of objects, types, rows, requests and options.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../toolchain/environment.mjs';

/** Parts that a session service never runs. */
const APART = /^(?:build|dist|examples|command|files|testing|adk|instruction|template)\//;

/** No property descriptor works where one of these is inherited. */
const DESCRIPTOR = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable'];

/**
 * Names of members in TypeScript's sources and in the strings of Rust's.
 *
 * @param isMeant takes those files that it is true of, by their paths in `js/` and `src/`
 */
export function memberNames(isMeant: (file: string) => boolean = () => true): string[] {
  const names = new Set<string>();
  for (const [folder, ending] of [['js', '.ts'], ['src', '.rs']] as const) {
    for (const file of readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })) {
      if (!file.endsWith(ending) || APART.test(file) || !isMeant(file)) continue;
      const text = readFileSync(join(root, folder, file), 'utf8');
      if (ending === '.ts') addMembers(names, ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
      else for (const [, name] of text.matchAll(/"([a-z]\w*)"/g)) names.add(name!);
    }
  }
  // An inherited member of a name that the prototype has already is another prototype altogether.
  return [...names].filter((name) => !DESCRIPTOR.includes(name) && !(name in [])).sort();
} // prettier-ignore

function addMembers(names: Set<string>, node: ts.Node): void {
  const name = nameOf(node);
  if (name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name))) names.add(name.text);
  ts.forEachChild(node, (child) => addMembers(names, child));
} // prettier-ignore

function nameOf(node: ts.Node): ts.Node | undefined {
  if (ts.isPropertyAccessExpression(node) || ts.isPropertySignature(node)) return node.name;
  if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) return node.name;
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent ?? node)) {
    return node.propertyName ?? node.name;
  }
  return ts.isElementAccessExpression(node) ? node.argumentExpression : undefined;
}
