// The forms of the first pages that a newcomer copies: what was typed stays if it cannot be stored.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { transformSync } from 'esbuild';

import {
  injectSessionState,
  InMemorySessionService,
  Invocation,
  SessionError,
} from '../../../js/index.js';
import { errorText, liveSession, shownOf } from '../../../js/ui/live/index.js';
import { stepsOf } from '../../packaging/docs/guide.js';
import { root } from '../../packaging/installed.js';
import { until } from '../stores/cache/fixture.js';

/** As much of a document as the pages use: elements with texts, and a form with one field. */
class Page {
  readonly field = { value: '' };
  readonly lines: string[] = [];
  /** What it says of an error, to a person or to a developer. */
  alert = '';
  #submit: ((event: object) => void) | undefined;

  readonly #form = {
    hidden: true,
    elements: { text: this.field, namedItem: () => this.field },
    reset: () => void (this.field.value = ''),
    addEventListener: (_: string, listener: (event: object) => void) => {
      this.#submit = listener;
    },
  };

  readonly #list = {
    replaceChildren: (...items: { readonly textContent: string }[]) => {
      this.lines.splice(0, Infinity, ...items.map(({ textContent }) => textContent));
    },
  };

  querySelector(selector: string): unknown {
    if (selector === 'form') return this.#form;
    if (selector === 'ol') return this.#list;
    return { replaceChildren: (text: string) => void (this.alert = text) };
  }

  createElement(): object {
    return {};
  }

  /** Types a text and sends it. */
  say(text: string): void {
    this.field.value = text;
    this.#submit!({ preventDefault: () => undefined, currentTarget: this.#form });
  }
}

const textOfMain = (): string => {
  const step = stepsOf({ page: 'start.md', section: 'In a page' }).find(
    (step) => step.kind === 'file' && step.name === 'main.ts',
  );
  assert.ok(step?.kind === 'file');
  return step.text;
};

const PAGES: Readonly<Record<string, () => string>> = {
  'docs/start.md': textOfMain,
  'examples/plain_page': () => readFileSync(join(root, 'examples/plain_page/chat.js'), 'utf8'),
};

/** Runs a page's program over a service, in place of those that it imports and opens. */
async function run(program: string, service: InMemorySessionService): Promise<Page> {
  const page = new Page();
  const given = {
    document: page,
    openSessionService: () => Promise.resolve(service),
    loadWasm: () => Promise.resolve(),
    console: { error: (error: Error) => void (page.alert = error.message) },
    errorText,
    injectSessionState,
    Invocation,
    liveSession,
    shownOf,
  };
  const script = transformSync(program, { loader: 'ts' }).code.replace(/^import[^;]*;$/gm, '');
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the program is this repository's own
  const work = new Function(...Object.keys(given), `return (async () => {${script}})();`) as (
    ...values: unknown[]
  ) => Promise<void>;
  await work(...Object.values(given));
  return page;
}

for (const [name, program] of Object.entries(PAGES)) {
  describe(`The form of ${name}`, () => {
    /** A page whose next append is refused when `refuse` is called. */
    async function open() {
      const service = new InMemorySessionService();
      const page = await run(program(), service);
      const append = service.appendEvent.bind(service);
      let waiting: (() => void) | undefined;
      let isRefusing = true;
      service.appendEvent = async (request) => {
        if (!isRefusing) return append(request);
        await new Promise<void>((resolve) => (waiting = resolve));
        isRefusing = false;
        throw new SessionError('quota_exceeded', 'There is no room.');
      };
      const refuse = async () => {
        await until(() => waiting !== undefined);
        waiting!();
        await until(() => page.alert !== '');
      };
      return { page, refuse };
    }

    it('has again what was typed if it cannot be stored, and sends it then', async () => {
      const { page, refuse } = await open();
      page.say('buy tea');
      assert.equal(page.field.value, '');
      await refuse();
      // The list is drawn in a task of its own.
      await until(() => page.field.value === 'buy tea' && page.lines.length === 0);
      page.say(page.field.value);
      await until(() => page.lines.length === 2 && page.lines[0]!.endsWith('buy tea'));
      assert.equal(page.field.value, '');
    });

    it('keeps another message that was begun meanwhile', async () => {
      const { page, refuse } = await open();
      page.say('buy tea');
      page.field.value = 'buy milk';
      await refuse();
      assert.equal(page.field.value, 'buy milk');
      page.say(page.field.value);
      await until(() => page.lines.length === 2 && page.lines[0]!.endsWith('buy milk'));
    });
  });
}

it('The form of docs/start.md says why a message could not be stored', async () => {
  const service = new InMemorySessionService();
  const page = await run(textOfMain(), service);
  service.appendEvent = () =>
    Promise.reject(new SessionError('quota_exceeded', 'There is no room.'));
  page.say('Hello!');
  await until(() => page.alert !== '');
  assert.equal(page.alert, 'There is no room left.');
});
