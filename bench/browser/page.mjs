// Runs the case of the page's address. Each case is loaded separately, so that a first call is really the first.

/** @type {Record<string, () => Promise<unknown>>} */
const cases = {
  'first-bare': async () => (await import('./first.mjs')).bare(),
  'first-ours': async () => (await import('./first.mjs')).ours(),
  'first-later': async () => (await import('./first.mjs')).later(),
  'read-inline': async () => (await import('./first.mjs')).readInline(),
  'read-streaming': async () => (await import('./first.mjs')).readStreaming(),
  'one-by-one': async () => (await import('./appends.mjs')).oneByOne(),
  'to-one-session': async () => (await import('./appends.mjs')).toOneSession(),
  'to-many-sessions': async () => (await import('./appends.mjs')).toManySessions(),
  'to-long-session': async () => (await import('./appends.mjs')).toLongSession(),
  'long-session': async () => (await import('./reads.mjs')).longSession(),
  'event-pages': async () => (await import('./event_pages.mjs')).pagesOfEvents(),
  'model-view': async () => (await import('./model_view.mjs')).viewOfModel(),
  'rewound-view': async () => (await import('./model_view.mjs')).viewAfterRewind(),
  imports: async () => (await import('./imports.mjs')).longImports(),
  'appends-with-title': async () => (await import('./imports.mjs')).appendsWithTitle(),
  'late-page': async () => (await import('./reads.mjs')).latePage(),
  'newest-sessions': async () => (await import('./reads.mjs')).newestSessions(),
  'cached-reads': async () => (await import('./cached.mjs')).cachedReads(),
  'cached-appends': async () => (await import('./cached.mjs')).cachedAppends(),
  screen: async () => (await import('./screen.mjs')).screen(),
  'other-tab': async () => (await import('./screen.mjs')).otherTab(),
  scrolling: async () => (await import('./scrolling.mjs')).scrolling(),
  drain: async () => (await import('./cached.mjs')).drain(),
};

globalThis.report = cases[globalThis.location.search.slice(1)]();
