// `node:sqlite`, which Deno has built in. Each realm is a separate program.

import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before } from 'node:test';
import { runInDeno } from '../../packaging/host_tools.js';
import { install, NAME, root, write } from '../../packaging/installed.js';
import { memberNames } from './names.js';
import { type Poison, POISONS, withstands } from './withstands.js';

const NAMES = memberNames((file) => /^(?:database|python)\//.test(file));
const conversation = readFileSync(join(root, 'tests/attack/poison/conversation.mjs'), 'utf8');

before(() => {
  const { project } = install();
  // A link, so that Kysely finds its own dependencies. Deno requires node_modules to match the manifest.
  symlinkSync(join(root, 'node_modules/kysely'), join(project, 'node_modules/kysely'));
  const dependencies = { [NAME]: '*', kysely: '*' };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
});

for (const poison of Object.keys(POISONS) as Poison[]) {
  withstands('node:sqlite', poison, NAMES, (names) => {
    const main = `
      import { createEvent } from 'adk-session-wasm';
      import { DatabaseSessionService } from 'adk-session-wasm/database';
      import { freeze, withstand } from './conversation.mjs';

      if ('${poison}' === 'frozenBefore') freeze();
      const open = () => new DatabaseSessionService('sqlite::memory:');
      const subject = { open, createEvent };
      console.log(JSON.stringify(await withstand('${poison}', ${JSON.stringify(names)}, subject, false)));`;
    const folder = write(poison, { 'main.mjs': main, 'conversation.mjs': conversation });
    const permissions = ['read', 'write', 'env', 'net', 'sys'];
    return Promise.resolve(JSON.parse(runInDeno(folder, 'main.mjs', permissions)) as string[]);
  });
}
