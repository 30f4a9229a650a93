// The site: the pages of docs/ by VitePress. docs/.vitepress/build.mjs puts the references and the playground below it.

import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** The order in which readers need the pages. */
const PAGES = {
  Begin: ['start', 'concepts', 'entries'],
  Sessions: [
    'state',
    'instructions',
    'events',
    'search',
    'history',
    'artifacts',
    'concurrent_writes',
  ],
  Storages: ['storages', 'databases', 'writing_a_storage', 'storage_in_rust', 'channels'],
  'Server and screen': ['server', 'live', 'runs', 'cache', 'chat', 'assistant_ui', 'inspector'],
  Reference: [
    'errors',
    'http_protocol',
    'api_server',
    'compatibility',
    'performance',
    'performance_of_features',
    'migration',
    'from_adk_rust',
  ],
};

// Other sites that show a link want whole addresses.
const address = 'https://adk-session-wasm.github.io/adk-session-wasm/';
const repository = 'https://github.com/adk-session-wasm/adk-session-wasm';
// A folder of a server, such as a project's page of GitHub.
const base = process.env.DOCS_BASE ?? '/';

/** The title of a page is its first heading. @param {string} page */
function titleOf(page) {
  const text = readFileSync(new URL(`../${page}.md`, import.meta.url), 'utf8');
  return (/^# (.*)$/m.exec(text)?.[1] ?? page).replaceAll('`', '');
}

export default {
  title: 'adk-session-wasm',
  description: 'Durable sessions for agents of the Agent Development Kit, in browsers and Node',
  base,
  head: [
    ['link', { rel: 'icon', href: `${base}icon.svg` }],
    ['meta', { property: 'og:image', content: `${address}playground.png` }],
  ],
  sitemap: { hostname: address },
  outDir: '../target/site',
  cacheDir: '../target/vitepress-cache',
  lastUpdated: true,
  // Files of the repository are no pages: their links lead to GitHub.
  markdown: {
    anchor: { slugify },
    config: (/** @type {any} */ renderer) => {
      renderer.core.ruler.push('repository_links', linkToRepository);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/start' },
      { text: 'Playground', link: `${base}playground/`, target: '_self' },
      { text: 'TypeScript', link: `${base}reference/typescript/`, target: '_self' },
      { text: 'Rust', link: `${base}reference/rust/adk_session/`, target: '_self' },
    ],
    sidebar: Object.entries(PAGES).map(([text, pages]) => ({
      text,
      items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
    })),
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
    socialLinks: [{ icon: 'github', link: repository }],
  },
};

/** Names a heading as GitHub does, so that a link leads to it on both. @param {string} heading */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Lets relative links out of docs/ lead to the file in the repository. @param {any} state */
function linkToRepository(state) {
  const folder = posix.dirname(posix.join('docs', state.env.relativePath));
  for (const block of state.tokens) {
    for (const token of block.children ?? []) {
      const link = token.type === 'link_open' ? token.attrGet('href') : undefined;
      if (!link?.startsWith('..')) continue;
      const file = posix.join(folder, link);
      if (!file.startsWith('docs/')) token.attrSet('href', `${repository}/blob/main/${file}`);
    }
  }
}
