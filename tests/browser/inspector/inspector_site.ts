// The site of the inspector's page, under a content security policy with Trusted Types.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { html, serve, type Server } from '../server.js';

const POLICY =
  "default-src 'self'; img-src 'self' blob:; connect-src *; script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'";

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sessions</title>
<meta name="viewport" content="width=device-width">
<body><main><h1>Sessions</h1></main>`;

/** What a page without a bundler runs. It loads the inspector twice, as a page of several bundles may. */
const PLAIN = `import { InMemorySessionService } from 'adk-session-wasm';
import 'adk-session-wasm/inspector';
import '/package/js/dist/ui/inspector/element.js?second';

async function run() {
  const service = new InMemorySessionService();
  await service.createSession({ appName: 'shop', userId: 'ada', sessionId: 's1' });
  const inspector = document.createElement('adk-session-inspector');
  Object.assign(inspector, { service, appName: 'shop' });
  document.body.append(inspector);
  for (;;) {
    const titles = [...inspector.shadowRoot.querySelectorAll('.session-title')];
    if (titles.length > 0) return titles.map((title) => title.textContent);
    await new Promise((done) => setTimeout(done, 20));
  }
}
globalThis.report = run();
`;

/** `/axe` is `/` with axe-core, which is large. */
export async function serveInspector(): Promise<Server> {
  const axe = join(installPackages('axe_core'), 'node_modules/axe-core/axe.min.js');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['tests/browser/inspector/page/main.ts'],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  const script = '<script type="module" src="/main.js"></script>';
  const policy = { 'content-security-policy': POLICY };
  return serve({
    '/': html(`${PAGE}${script}`, policy),
    '/axe': html(`${PAGE}<script src="/axe.js"></script>${script}`, policy),
    '/plain': html(
      packagePage('/plain.js', {
        'adk-session-wasm': '/package/js/dist/index.js',
        'adk-session-wasm/inspector': '/package/js/dist/ui/inspector/index.js',
      }),
    ),
    '/plain.js': { body: PLAIN },
    ...PACKAGE_ROUTES,
    '/main.js': { body: outputFiles[0]!.text },
    '/axe.js': { body: readFileSync(axe) },
  });
}
