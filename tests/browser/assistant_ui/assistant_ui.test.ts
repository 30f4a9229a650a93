// The adapters for assistant-ui with its real package: the chats of examples/assistant_ui are compiled against its types,
// and run in real browsers.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';
import ts from 'typescript';

import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { serveModule, type Server } from '../server.js';
import type { Tab } from '../tab.js';

/** The scenarios of page/main.tsx. Only the types of the real package tell more of them. */
interface AssistantScenarios extends Record<string, (...values: never[]) => unknown> {
  converse(...messages: string[]): Promise<string[]>;
  openThread(title: string): Promise<{ titles: string[]; texts: string[] }>;
  end(how: 'Archive' | 'Delete'): Promise<string[]>;
  stored(): Promise<unknown[]>;
  switchAnswers(): Promise<string[][]>;
  attach(): Promise<unknown[]>;
  editAttached(): Promise<unknown[]>;
  exchange(): Promise<{
    shown: unknown[][];
    loaded: unknown[][];
    branches: number[];
    stored: unknown;
    errors: string[];
  }>;
}

/** A project with assistant-ui and this package, and the page in the folder `page`. */
function project(): string {
  const folder = installPackages('assistant_ui');
  const own = join(folder, 'node_modules/adk-session-wasm');
  if (!existsSync(own)) symlinkSync(root, own);
  const examples = join(root, 'examples/assistant_ui');
  const here = join(root, 'tests/browser/assistant_ui/page');
  const page = join(folder, 'browser/assistant_ui/page');
  mkdirSync(page, { recursive: true });
  for (const file of ['chat.tsx', 'agent_chat.tsx'])
    copyFileSync(join(examples, file), join(page, file));
  copyFileSync(join(here, 'main.tsx'), join(page, 'main.tsx'));
  copyFileSync(
    join(root, 'tests/browser/expose_scenarios.ts'),
    join(folder, 'browser/expose_scenarios.ts'),
  );
  return page;
}

/** Writes the examples of docs/assistant_ui.md beside the page. Returns their files. */
function writeGuide(page: string): string[] {
  const guide = readFileSync(join(root, 'docs/assistant_ui.md'), 'utf8');
  const model = `import type { ChatModelAdapter } from '@assistant-ui/react';
export declare const model: ChatModelAdapter;`;
  writeFileSync(join(page, 'model.ts'), model);
  const examples = [...guide.matchAll(/```tsx\n(.+?)```/gs)].map(([, text]) => text!);
  const own = examples.filter((text) => text.includes('@assistant-ui/react'));
  return own.map((text, at) => {
    const file = join(page, `guide_${at}.tsx`);
    writeFileSync(file, text);
    return file;
  });
}

async function bundle(page: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(page, 'main.tsx')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    // The package of this repository has a React of its own beside it.
    alias: { react: join(page, '../../../node_modules/react') },
    // StrictMode calls everything twice in the development build.
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

describe('assistant-ui over sessions', () => {
  let page: string;
  let site: Server;
  before(async () => {
    page = project();
    site = await serveModule(await bundle(page));
  });
  after(() => site.close());

  it('has types that fit those of the real package, in the examples of its guide too', () => {
    const guide = writeGuide(page);
    assert.equal(guide.length, 2);
    const program = ts.createProgram([join(page, 'main.tsx'), ...guide], {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      jsx: ts.JsxEmit.ReactJSX,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      noEmit: true,
      types: [],
    });
    const problems = ts.getPreEmitDiagnostics(program).map(({ messageText, file }) => {
      return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    assert.deepEqual(problems, []);
  });

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      let tab: Tab<AssistantScenarios>;
      before(async () => {
        browser = await openBrowser(name);
        tab = await browser.openTab(`${site.origin}/`);
      });
      after(() => browser.close());

      it('keeps the threads and messages of the documented chat over a reload', async () => {
        const first = ['Which tea?', 'This is message 2.', 'And now?', 'This is message 4.'];
        assert.deepEqual(await tab.call('converse', 'Which tea?', 'And now?'), first);
        const second = ['Hello', 'This is message 2.'];
        assert.deepEqual(await tab.call('converse', 'Hello'), second);
        await tab.open(`${site.origin}/`);
        const titles = ['Hello', 'Which tea?'];
        assert.deepEqual(await tab.call('openThread', 'Which tea?'), { titles, texts: first });
        assert.deepEqual(await tab.call('openThread', 'Hello'), { titles, texts: second });
        assert.deepEqual(await tab.call('stored'), [
          ['Hello', 'no', 2],
          ['Which tea?', 'no', 4],
        ]);
        assert.deepEqual(await tab.call('end', 'Archive'), ['Which tea?']);
        await tab.open(`${site.origin}/`);
        const { titles: remaining } = await tab.call('openThread', 'Which tea?');
        assert.deepEqual(remaining, ['Which tea?']);
        assert.deepEqual(await tab.call('end', 'Delete'), []);
        assert.deepEqual(await tab.call('stored'), [['Hello', 'yes', 2]]);
      });

      it('has the arrows of the documented chat with agents', async () => {
        await tab.open(`${site.origin}/`);
        const turn = ['Which tea?', 'You said: Which tea?'];
        assert.deepEqual(await tab.call('switchAnswers'), [
          turn,
          [...turn, '2/2'],
          [...turn, '3/3'],
          [...turn, '2/3'],
          [...turn, '1/3'],
        ]);
      });

      it('puts the file of the composer, which has it again if that fails', async () => {
        await tab.open(`${site.origin}/`);
        const text = 'What is on it?';
        const turn = [[text, `You said: ${text}`], [], ''];
        const picture = ['tea.png', 1, 'blob:'];
        const stored = [[text, '[Uploaded Artifact: "tea.png"]'], { 'tea.png': 0 }];
        assert.deepEqual(await tab.call('attach'), [
          ...[[[], ['tea.png'], text], null],
          ...[turn, picture, turn, picture],
          ...[stored, stored, []],
        ]);
      });

      it('edits a message with those files that are still attached, and a new one', async () => {
        await tab.open(`${site.origin}/`);
        const attachments = [
          ['file', 'b.txt'],
          ['file', 'c.txt'],
        ];
        const texts = ['Edited', ...['b.txt', 'c.txt'].map((n) => `[Uploaded Artifact: "${n}"]`)];
        assert.deepEqual(await tab.call('editAttached'), [attachments, texts, []]);
      });

      it('keeps images, attachments, calls of tools, and branches', async () => {
        await tab.open(`${site.origin}/`);
        const { shown, loaded, branches, stored, errors } = await tab.call('exchange');
        assert.deepEqual(loaded, shown);
        assert.deepEqual([shown[0]?.length, shown[1]?.length], [2, 2]);
        assert.deepEqual(branches, [2, 2]);
        assert.deepEqual(errors, []);
        const turn = ['user', 'guide', 'guide', 'guide'];
        // Between them stands the marker of the rewind.
        const authors = [...turn, 'user', ...turn];
        assert.deepEqual(stored, { title: 'Counting', labels: { archived: 'yes' }, authors });
      });
    });
  }
});
