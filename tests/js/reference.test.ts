// Every public name has a doc comment with an example. `examples.test.ts` compiles and runs the examples.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const js = fileURLToPath(new URL('../../js', import.meta.url));
const ENTRIES = [
  'index',
  'slim',
  'adk',
  'assistant_ui',
  'cache',
  'database',
  'files',
  'inspector',
  'live',
  'react',
  'remote',
  'server',
  'testing',
  'uri',
  'vertex',
  'vue',
];

interface PublicName {
  readonly name: string;
  /** The source file that declares it. */
  readonly file: string;
}

function publicNames(file: string): PublicName[] {
  const source = readFileSync(file, 'utf8');
  const pathOf = (specifier: string) => join(dirname(file), specifier.replace(/\.js$/, '.ts'));
  const all = [...source.matchAll(/^export \* from '(.*)';$/gm)].flatMap(([, from = '']) =>
    publicNames(pathOf(from)),
  );
  const named = [...source.matchAll(/^export (?:type )?\{(.*?)\} from '(.*?)';$/gms)].flatMap(
    ([, list = '', from = '']) =>
      list
        .split(',')
        .map((item) =>
          item
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*/, ''),
        )
        .filter((name) => name !== '')
        .map((name) => ({ name, file: pathOf(from) })),
  );
  const own = [
    ...source.matchAll(/^export (?:async )?(?:const|function|interface|type|class) (\w+)/gm),
  ];
  return [...all, ...named, ...own.map(([, name = '']) => ({ name, file }))];
}

/** The doc comments right before the declarations of a name: a function may have several. */
function commentsOf({ name, file }: PublicName): string[] {
  const declaration = new RegExp(
    String.raw`(/\*\*(?:(?!\*/).)*\*/)\nexport (?:abstract )?(?:async )?(?:const|function\*?|interface|type|class) ${name}\b`,
    'gs',
  );
  return [...readFileSync(file, 'utf8').matchAll(declaration)].map(([, comment = '']) => comment);
}

it('Every public name has an example in its doc comment', () => {
  const names = ENTRIES.flatMap((entry) => {
    const isFolder = entry !== 'index' && entry !== 'slim';
    return publicNames(join(js, isFolder ? join(entry, 'index.ts') : `${entry}.ts`));
  });
  assert.ok(names.length > 100, String(names.length));
  const without = names.filter((one) => !commentsOf(one).some((text) => text.includes('@example')));
  assert.deepEqual(
    without.map(({ name }) => name),
    [],
  );
});
