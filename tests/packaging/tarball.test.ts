// The files that npm would publish.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import ts from 'typescript';
import { filesBelow } from './docs/links.js';
import { EXAMPLE_NAMES, filesOfExample } from './examples/example.js';
import { typeProblems } from './host_tools.js';
import { install, root } from './installed.js';

/** Beside what is compiled from TypeScript. */
const OTHERS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'js/dist/core/wasm/loader/rules_text.js',
  'js/dist/core/wasm/loader/wasm_module.d.ts',
  'js/dist/core/wasm/loader/wasm_text.js',
  'js/dist/testing/cases.d.ts',
  'js/dist/testing/cases.js',
  'js/dist/wasm.d.ts',
  'package.json',
  'pkg/adk_session_numbers.js',
  'pkg/adk_session_rules.js',
  'pkg/adk_session_wasm.d.ts',
  'pkg/adk_session_wasm.js',
  'pkg/adk_session_wasm_bg.wasm',
  'pkg/adk_session_wasm_bg.wasm.d.ts',
  'pkg/build.json',
];

/** The wasm. */
const NOT_FOR_NODE = ['./wasm'];

const NOT_SHIPPED = /^(build|dist)\//;

/** The compiled files: JavaScript, its source map and the types of each source. */
function compiled(): string[] {
  return readdirSync(join(root, 'js'), { encoding: 'utf8', recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !NOT_SHIPPED.test(file))
    .flatMap((file) => ['js', 'js.map', 'd.ts'].map((ending) => file.replace(/tsx?$/, ending)))
    .map((file) => `js/dist/${file}`);
}

/** README.md links to them, and the examples that are whole programs. */
function linked(): string[] {
  const isShipped = (file: string) => /\.(md|ts)$/.test(file);
  const examples = EXAMPLE_NAMES.flatMap((name) =>
    filesOfExample(name).map((file) => `examples/${name}/${file}`),
  );
  const pages = ['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter(isShipped)
      .map((file) => `${folder}/${file}`),
  );
  const parts = ['examples/assistant_ui', 'examples/playground/framework'].flatMap((folder) =>
    filesBelow(join(root, folder), /\.tsx?$/).map((file) => relative(root, file)),
  );
  return [...pages, ...examples, ...parts];
}

describe('the tarball', () => {
  it('contains exactly the files that users need', () => {
    const { files } = install();
    const expected = [...OTHERS, ...compiled(), ...linked()];
    const missing = expected.filter((file) => !files.includes(file));
    const unexpected = files.filter((file) => !expected.includes(file));
    assert.deepEqual({ missing, unexpected }, { missing: [], unexpected: [] });
  });

  it('has a README whose links lead to files; npm completes them by the repository', () => {
    const { bugs, homepage, repository } = JSON.parse(
      readFileSync(join(install().folder, 'package.json'), 'utf8'),
    ) as { bugs: string; homepage: string; repository: { url: string } };
    const address = homepage.replace('#readme', '');
    assert.deepEqual([repository.url, bugs], [`git+${address}.git`, `${address}/issues`]);
    const readme = readFileSync(join(install().folder, 'README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const isOutside = (link: string): boolean => /^(#|https:\/\/)/.test(link);
    const wrong = links.filter(
      (link) => !isOutside(link) && !existsSync(join(root, link.replace(/#.*/, ''))),
    );
    assert.ok(links.length > 20);
    assert.deepEqual(wrong, []);
    const count = readme.trimEnd().split('\n').length;
    assert.ok(count <= 150, `README.md has ${count} lines, more than 150`);
  });

  it('has no script that an installation runs or warns about', () => {
    const manifest = readFileSync(join(install().folder, 'package.json'), 'utf8');
    const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
    const run = ['preinstall', 'install', 'postinstall', 'prepare'];
    assert.deepEqual(
      run.filter((name) => name in scripts),
      [],
    );
  });

  it('imports no package but its dependencies and peers', () => {
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as Record<string, object>;
    const known = Object.keys({ ...dependencies, ...peerDependencies });
    const imported = compiled()
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) => ts.preProcessFile(readFileSync(join(root, file), 'utf8')).importedFiles)
      .map(({ fileName }) => fileName)
      .filter((name) => !/^(\.|#|node:)/.test(name));
    assert.ok(imported.includes('idb'), 'imports are found');
    const isKnown = (name: string): boolean =>
      known.some((each) => name === each || name.startsWith(`${each}/`));
    assert.deepEqual(
      imported.filter((name) => !isKnown(name)),
      [],
    );
  });

  it('has a source map with its sources for each compiled file, since bundlers warn about one without', () => {
    const { files, folder } = install();
    const maps = files.filter((file) => file.endsWith('.js.map'));
    assert.ok(maps.length > 400);
    for (const file of maps) {
      const map = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        readonly sources: readonly string[];
        readonly sourcesContent?: readonly (string | null)[];
      };
      const texts = map.sourcesContent?.filter((text) => typeof text === 'string');
      assert.equal(texts?.length, map.sources.length, file);
      const compiledFile = file.replace(/\.map$/, '');
      const [name] = compiledFile.split('/').slice(-1);
      const code = readFileSync(join(folder, compiledFile), 'utf8');
      assert.ok(code.trimEnd().endsWith(`//# sourceMappingURL=${name}.map`), file);
    }
  });

  it('contains no path of the machine that built it', () => {
    const { files, folder } = install();
    const telling = files.filter((file) => {
      const text = readFileSync(join(folder, file), 'latin1');
      return text.includes(root) || /\/(home|root|Users)\/|file:\/\/\//.test(text);
    });
    assert.deepEqual(telling, []);
  });

  it('has about 1,430 KB beside its docs and its source maps', (t) => {
    const { archive, files, folder } = install();
    const others = files.filter((file) => /\.(md|map)$/.test(file));
    const bytes = others.map((file) => gzipSync(readFileSync(join(folder, file))).length);
    const kilobytes = (statSync(archive).size - bytes.reduce((sum, each) => sum + each, 0)) / 1024;
    t.diagnostic(`${kilobytes.toFixed(1)} KB`);
    assert.ok(kilobytes <= 1430 * 1.05);
  });

  it('satisfies publint', async () => {
    const { folder } = install();
    const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: false });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  it('satisfies arethetypeswrong', async () => {
    const data = readFileSync(install().archive);
    assert.deepEqual(await typeProblems(data, NOT_FOR_NODE), []);
  });
});
