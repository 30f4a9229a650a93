// The names of all members in the package's sources: of objects, types, rows, requests and options.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../toolchain/environment.mjs';

/** Folders that a session service never runs. */
const UNUSED_FOLDERS = /^(?:build|dist|examples|command|files|testing|adk|instruction|template)\//;

/** Names of property descriptors: no descriptor works if it inherits one of them. */
const DESCRIPTOR = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable'];

/** The engine calls this method of an iterator, so destructuring an array fails if iterators inherit it. */
const ITERATOR = ['return'];

const UNUSABLE = [...DESCRIPTOR, ...ITERATOR];

/**
 * Returns the names of members in the TypeScript sources and in strings of the Rust sources.
 *
 * @param isSelected selects files by their paths in `js/` and `src/`
 */
export function memberNames(isSelected: (file: string) => boolean = () => true): string[] {
  const names = new Set<string>();
  for (const [folder, ending] of [['js', '.ts'], ['src', '.rs']] as const) {
    for (const file of readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })) {
      if (!file.endsWith(ending) || UNUSED_FOLDERS.test(file) || !isSelected(file)) continue;
      const text = readFileSync(join(root, folder, file), 'utf8');
      if (ending === '.ts') addMembers(names, ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
      else for (const [, name] of text.matchAll(/"([a-z]\w*)"/g)) names.add(name!);
    }
  }
  // A name that the prototype already has would replace a built-in method.
  return [...names].filter((name) => !UNUSABLE.includes(name) && !(name in [])).sort();
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
