// Frameworks: a page of each, and what each runs on a server.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { wasmCopies } from '../bundles.js';
import { assertOutcome, type Outcome, page, program } from '../consumer.js';
import { type Host, type Pages, type Project, projectWith } from './host.js';
import { assertServes, HANDLER } from './servers/handler.js';
import { withServer } from './servers/host_server.js';

const ONE_WASM = { files: 0, inlined: 1, rules: 0 };

async function assertAnswer(url: string): Promise<void> {
  const response = await fetch(url);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assertOutcome(JSON.parse(text) as Outcome);
}

export const NEXT_ENV = { NEXT_TELEMETRY_DISABLED: '1' };

const ROUTE = `${program()}
export const dynamic = 'force-dynamic';
export const GET = async () => Response.json(await run());
`;

/** Components with the hooks for React. The server renders what is there before anything has been read. */
const LIVE = `'use client';
import { InMemorySessionService } from 'adk-session-wasm';
import { SessionProvider, useSession } from 'adk-session-wasm/react';
import { Suspense, useEffect } from 'react';
const service = new InMemorySessionService();
function Chat() {
  const { session: { status, events }, store } = useSession();
  useEffect(() => {
    if (status === 'missing') void store.send({ author: 'user' });
  }, [status, store]);
  return <p>{status} {events.length}</p>;
}
function Waiting() {
  const { status, events } = useSession({ suspense: true }).session;
  useEffect(() => {
    const shown = () => [...document.querySelectorAll('p, i')].map((one) => one.innerText);
    if (status === 'ready' && events.length === 1) globalThis.report = Promise.resolve(shown());
  });
  return <i>{status} {events.length}</i>;
}
export function Live() {
  return (
    <SessionProvider service={service} appName="shop" userId="ada" sessionId="s1">
      <Chat />
      <Suspense fallback={<b>wait</b>}><Waiting /></Suspense>
    </SessionProvider>
  );
}`;

async function next(pages: Pages): Promise<string> {
  const project = projectWith('next');
  const folder = project.write('app', {
    'package.json': JSON.stringify({ private: true }),
    'app/layout.js': `export default function Layout({ children }) {
  return <html><body>{children}</body></html>;
}`,
    'app/page.js': `'use client';
import { useEffect } from 'react';
${program()}
export default function Page() {
  useEffect(() => { globalThis.report = run(); }, []);
  return <p>tea</p>;
}`,
    'app/live/live.js': LIVE,
    'app/live/page.js': `import { Live } from './live';
export const dynamic = 'force-dynamic';
export default function Page() { return <Live />; }`,
    'app/node/route.js': ROUTE,
    'app/edge/route.js': `${ROUTE}\nexport const runtime = 'edge';\n`,
    'app/api/[...path]/route.js': `${HANDLER}
export { handler as GET, handler as POST };`,
  });
  const bin = project.require.resolve('next/dist/bin/next');
  await project.run(folder, [bin, 'build'], { ...NEXT_ENV, NODE_ENV: 'production' });
  assert.deepEqual(wasmCopies(join(folder, '.next/static')), ONE_WASM);
  const args = [bin, 'start', '--port', '0', '--hostname', '127.0.0.1'];
  await withServer(folder, args, { ...NEXT_ENV, NODE_ENV: 'production' }, async (origin) => {
    assertOutcome(await pages.visit<Outcome>(`${origin}/`));
    await assertAnswer(`${origin}/node`);
    await assertAnswer(`${origin}/edge`);
    await assertServes(origin);
    const rendered = await (await fetch(`${origin}/live`)).text();
    assert.match(rendered, /<p>loading<!-- --> <!-- -->0<\/p>/);
    assert.match(rendered, /<b>wait<\/b>/);
    assert.deepEqual(await pages.visit(`${origin}/live`), ['ready 1', 'ready 1']);
  });
  return 'page with one wasm, server, edge, session handler, hooks';
}

const viteBin = ({ folder }: Project): string => join(folder, 'node_modules/vite/bin/vite.js');

async function svelteKit(pages: Pages): Promise<string> {
  const project = projectWith('sveltekit');
  const folder = project.write('app', {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'vite.config.js': `import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter() })] };`,
    'src/app.html':
      '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>',
    'src/routes/+page.svelte': `<script>
import { onMount } from 'svelte';
${program()}
onMount(() => { globalThis.report = run(); });
</script>
<p>tea</p>`,
    'src/routes/api/+server.js': `${program()}
export const GET = async () => Response.json(await run());`,
  });
  await project.run(folder, [viteBin(project), 'build']);
  assert.deepEqual(wasmCopies(join(folder, 'build/client')), ONE_WASM);
  await withServer(folder, ['build/index.js'], { PORT: '0' }, async (origin) => {
    assertOutcome(await pages.visit<Outcome>(`${origin}/`));
    await assertAnswer(`${origin}/api`);
  });
  return 'page with one wasm, server';
}

async function vue(pages: Pages): Promise<string> {
  const project = projectWith('vue');
  const folder = project.write('app', {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'vite.config.js': `import vue from '@vitejs/plugin-vue';
export default { plugins: [vue()], build: { outDir: 'out', chunkSizeWarningLimit: 700 } };`,
    'index.html': page('/main.js', '<body><div id="app"></div></body>'),
    'main.js': `import { createApp } from 'vue';
import App from './App.vue';
createApp(App).mount('#app');`,
    'App.vue': `<script setup>
import { onMounted } from 'vue';
${program()}
onMounted(() => { globalThis.report = run(); });
</script>
<template><p>tea</p></template>`,
  });
  await project.run(folder, [viteBin(project), 'build']);
  assert.deepEqual(wasmCopies(join(folder, 'out')), ONE_WASM);
  assertOutcome(await pages.serve<Outcome>({ '/': join(folder, 'out') }));
  return 'page with one wasm';
}

export const FRAMEWORKS: readonly Host[] = [
  { name: 'Next', check: next },
  { name: 'SvelteKit', check: svelteKit },
  { name: 'Vue', check: vue },
];
