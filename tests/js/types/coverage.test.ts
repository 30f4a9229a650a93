// Every public function, method and verb is named in a test of types.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = join(folder, '../../..');

/** The declarations of the entries that users import, as the build made them: without internals. */
function publicDeclarations(): string[] {
  const manifest = readFileSync(join(root, 'package.json'), 'utf8');
  const { exports } = JSON.parse(manifest) as {
    exports: Record<string, { import?: { types?: string } } | string>;
  };
  return Object.entries(exports).flatMap(([name, entry]) => {
    const types = typeof entry === 'object' ? entry.import?.types : undefined;
    return types === undefined || name.startsWith('./internal/') ? [] : [join(root, types)];
  });
}

/** Returns the functions and classes of an entry, and the methods of its classes and interfaces. */
function functionsOf(entry: ts.SourceFile, checker: ts.TypeChecker): string[] {
  const module = checker.getSymbolAtLocation(entry);
  assert.ok(module, entry.fileName);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
    const value = checker.getTypeOfSymbol(symbol);
    const isClass = value.getConstructSignatures().length > 0;
    const isFunction = value.getCallSignatures().length > 0;
    const instance = checker.getDeclaredTypeOfSymbol(symbol);
    const members = [...instance.getProperties(), ...(isClass ? value.getProperties() : [])];
    const methods = members.filter(
      ({ declarations, flags, name }) =>
        (flags & ts.SymbolFlags.Method) !== 0 &&
        !name.startsWith('__@') &&
        declarations?.some((one) => one.getSourceFile().fileName.includes('/js/dist/')),
    );
    const names = methods.map(({ name }) => name);
    return isClass || isFunction ? [exported.name, ...names] : names;
  });
}

it('The tests of types use every public function and method', () => {
  const entries = publicDeclarations();
  assert.ok(entries.length >= 10);
  // Without the standard library, which would take most of the time.
  const program = ts.createProgram(entries, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
  });
  const names = new Set(
    entries.flatMap((entry) =>
      functionsOf(program.getSourceFile(entry)!, program.getTypeChecker()),
    ),
  );
  assert.ok(names.size > 80, String(names.size));
  const tests = readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const missing = [...names].filter((name) => !new RegExp(`\\b${name}\\b *[(<:=]`).test(tests));
  assert.deepEqual(missing, []);
});
