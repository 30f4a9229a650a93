// Servers that run the session handler. Next runs it beside its pages, see frameworks.ts.

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bunBinary, requireHostTools } from '../../host_tools.js';
import { install, write } from '../../installed.js';
import { assertServes, HANDLER } from './handler.js';
import { type Host, projectWith } from '../host.js';
import { withServer } from './host_server.js';
import { inWorkerd } from '../workerd.js';

/** @param main makes a server out of `handler` and prints its address */
function inNode(name: string, main: string): Host {
  return {
    name: `session handler in ${name}`,
    async check() {
      const project = projectWith('session_handler');
      const folder = project.write(name.toLowerCase().replaceAll(/\W/g, '-'), {
        'package.json': JSON.stringify({ private: true, type: 'module' }),
        'main.js': HANDLER + main,
      });
      await withServer(folder, ['main.js'], {}, assertServes);
      return undefined;
    },
  };
}

const NODE = inNode(
  'node:http',
  `
import { createServer } from 'node:http';
import { nodeListener } from 'adk-session-wasm/server';
const server = createServer(nodeListener(handler));
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`,
);

const EXPRESS = inNode(
  'Express',
  `
import express from 'express';
import { nodeListener } from 'adk-session-wasm/server';
const app = express();
app.use('/api', nodeListener(handler));
app.use(express.json());
const server = app.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`,
);

const HONO = inNode(
  'Hono',
  `
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
const app = new Hono();
app.all('/api/*', (context) => handler(context.req.raw));
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log('http://127.0.0.1:' + port));`,
);

const DENO: Host = {
  name: 'session handler in Deno',
  async check() {
    const main = `${HANDLER}
Deno.serve({ port: 0, hostname: '127.0.0.1' }, handler);`;
    const folder = write('deno-handler', { 'main.mjs': main });
    // Deno requires node_modules to match the manifest, and may not download packages.
    const dependencies = { 'adk-session-wasm': '*' };
    const manifest = { name: 'consumer', type: 'module', dependencies };
    writeFileSync(join(install().project, 'package.json'), JSON.stringify(manifest));
    const deno = join(dirname(requireHostTools().resolve('deno/package.json')), 'bin.cjs');
    const options = ['--no-remote', '--node-modules-dir=manual', '--allow-net', '--allow-read'];
    await withServer(folder, [deno, 'run', ...options, 'main.mjs'], {}, assertServes);
    return undefined;
  },
};

const BUN: Host = {
  name: 'session handler in Bun',
  async check() {
    const main = `${HANDLER}
const { url } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handler });
console.log(url.href);`;
    const folder = write('bun-handler', { 'main.mjs': main });
    await withServer(folder, ['run', '--no-install', 'main.mjs'], {}, assertServes, bunBinary());
    return undefined;
  },
};

const WORKERD: Host = {
  name: 'session handler in workerd',
  async check() {
    await inWorkerd(
      'workerd-handler',
      `${HANDLER}\nexport default { fetch: handler };`,
      assertServes,
    );
    return undefined;
  },
};

export const SESSION_HANDLERS: readonly Host[] = [NODE, EXPRESS, HONO, DENO, BUN, WORKERD];
