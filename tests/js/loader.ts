// How a test runs another file in a process of its own: compiled, as the test is, or through tsx where the test is.

/** Node's options. */
export const LOADER = import.meta.resolve('./loader.js').endsWith('.ts') ? ['--import', 'tsx'] : [];
